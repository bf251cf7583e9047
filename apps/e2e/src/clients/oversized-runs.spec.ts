import { Client } from 'langsmith';
import { until } from '@fairlead/postgres/testing';
import { Installation, OPERATOR } from '@fairlead/service/testing';
import { pythonWithSdk, runProgram } from '../testing/langsmith-python';

/** Runs that are too large among good ones, as the SDKs send them. */

const HUGE = 30 * 1024 * 1024;
const python = pythonWithSdk();
const itHere = python === undefined ? it.skip : it;

let installation: Installation;
beforeAll(async () => {
  installation = await Installation.start();
});
afterAll(() => installation?.stop());

interface Run {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly outputs: unknown;
  readonly s3_urls: Readonly<Record<string, object>> | null;
}

/** The runs of a project by name, once so many are there. */
async function runsOf(project: string, count: number): Promise<Readonly<Record<string, Run>>> {
  const runs = await until(
    async () => {
      const [session] = (await installation.ask('GET', `/api/v1/sessions?name=${project}`)) as { id: string }[];
      if (!session) return [];
      const body = { session: [session.id], limit: 100 };
      return ((await installation.ask('POST', '/api/v1/runs/query', body)) as { runs: Run[] }).runs;
    },
    ({ length }) => length === count,
  );
  return Object.fromEntries(runs.map((run) => [run.name, run]));
}

async function refusedOf(project: string) {
  const { resources } = (await installation.ask('GET', '/v1/refused')) as {
    resources: { session_name: string; kind: string; reason: string; item_ids: string[] }[];
  };
  const own = resources.filter(({ session_name }) => session_name === project);
  return Object.fromEntries(own.map(({ kind, reason, item_ids }) => [kind, { reason, item_ids }]));
}

itHere('The SDK for Python loses no run of a batch with large ones, and learns what was left out', async () => {
  const made = await runProgram(python!, 'oversized.py', ['python'], {
    LANGSMITH_ENDPOINT: `${installation.url}/api/v1`,
    LANGSMITH_API_KEY: OPERATOR,
  });
  const runs = await runsOf('python', 5);
  for (const name of ['first', 'second', 'third', 'attachment'])
    expect(runs[name]).toMatchObject({ id: made[name], status: 'success', outputs: { answer: name } });
  expect(runs.outputs).toMatchObject({ id: made.outputs, status: 'success', outputs: null });
  expect(Object.keys(runs.attachment!.s3_urls!)).toEqual(['attachment.small']);
  expect(await refusedOf('python')).toEqual({
    part: { reason: expect.stringContaining('`outputs` was left out of the run'), item_ids: [made.outputs] },
    attachment: { reason: expect.stringContaining('at most 25165824 are stored'), item_ids: [made.attachment] },
  });
});

it('The SDK for JavaScript loses no run of a batch with large ones, and learns what was left out', async () => {
  const client = new Client({ apiUrl: `${installation.url}/api/v1`, apiKey: OPERATOR });
  const ids: Record<string, string> = {};
  const start_time = new Date().toISOString();
  for (const name of ['first', 'large', 'second']) {
    const id = (ids[name] = crypto.randomUUID());
    const outputs = name === 'large' ? { text: 'x'.repeat(HUGE) } : { answer: name };
    const place = { trace_id: id, dotted_order: `${start_time.replaceAll(/[-:.]/g, '').slice(0, -1)}000Z${id}` };
    await client.createRun({
      ...{ id, name, run_type: 'chain', project_name: 'javascript', inputs: { question: name } },
      ...{ outputs, start_time, end_time: start_time, ...place },
    });
  }
  await client.awaitPendingTraceBatches();
  const runs = await runsOf('javascript', 3);
  for (const name of ['first', 'second'])
    expect(runs[name]).toMatchObject({ id: ids[name], outputs: { answer: name } });
  expect(runs.large).toMatchObject({ id: ids.large, outputs: null });
  expect(await refusedOf('javascript')).toEqual({
    part: { reason: expect.stringContaining('`outputs` was left out of the run'), item_ids: [ids.large] },
  });
});
