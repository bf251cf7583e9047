import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Installation, OPERATOR } from '@fairlead/service/testing';

/**
 * This file sends the recorded requests of the SDK for Python 0.15.0 for `testing/langsmith-python/evaluate.py` again.
 */

const BOUNDARY = 'boundary-of-the-recorded-parts-0';
const recorded = (name: string) =>
  readFileSync(join(__dirname, `../testing/langsmith-python/recorded/${name}.multipart`));

let installation: Installation;
beforeAll(async () => (installation = await Installation.start()));
afterAll(() => installation?.stop());

async function replay(name: string): Promise<void> {
  const response = await fetch(`${installation.url}/api/v1/runs/multipart`, {
    method: 'POST',
    headers: { 'x-api-key': OPERATOR, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    body: new Uint8Array(recorded(name)),
  });
  expect(response.status).toBe(202);
  // That an evaluator failed is kept in its comment.
  expect([null, '299 - "Not kept: error"']).toContain(response.headers.get('warning'));
}

const session = (id: string) => installation.ask('GET', `/api/v1/sessions/${id}?include_stats=true`);

it('keeps every part of what an evaluation sends, sent once or twice', async () => {
  const id = 'e7c6c0cc-9094-4c10-926a-9baf1a83e306';
  await installation.ask('POST', '/api/v1/sessions', { id, name: 'evaluated-292f4851' });
  for (let time = 0; time < 2; time++) {
    await replay('evaluate');
    expect(await session(id)).toMatchObject({
      run_count: 4,
      feedback_stats: { correct: { n: 4, avg: 1 }, broken: { n: 4, avg: null } },
      total_tokens: 60,
      total_cost: '1',
    });
  }
});

it('keeps what an asynchronous evaluation sends', async () => {
  const id = '20baca1e-53e2-41da-b511-ad309dd78b65';
  await installation.ask('POST', '/api/v1/sessions', { id, name: 'async-bd9de488' });
  await replay('aevaluate');
  expect(await session(id)).toMatchObject({
    run_count: 2,
    feedback_stats: { correct: { n: 2, avg: 0 } },
    total_tokens: null,
  });
});

it('gives a run the feedback that was sent before it', async () => {
  await replay('feedback');
  await replay('run');
  const run = await installation.ask('GET', '/api/v1/runs/dbc88a43-1b98-45fc-9655-f58b986bf772');
  expect(run).toMatchObject({ total_tokens: 15, feedback_stats: { early: { n: 1, avg: 1 } } });
});
