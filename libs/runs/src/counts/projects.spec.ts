import { v4 as newId } from 'uuid';
import { startReading } from '@fairlead/evaluation/testing';
import { type Reading, rows } from '@fairlead/experiments/testing';

let reading: Reading;
beforeAll(async () => {
  reading = await startReading();
});
afterAll(() => reading.stop());

const at = (hour: number, second = 0) => new Date(Date.UTC(2026, 0, 5, hour, 0, second)).toISOString();

async function project(name: string, runs: readonly { hour: number; seconds?: number; [member: string]: unknown }[]) {
  const post = runs.map(({ hour, seconds, ...members }) => ({
    ...{ id: newId(), session_name: name, start_time: at(hour), ...members },
    ...(seconds !== undefined && { end_time: at(hour, seconds) }),
  }));
  expect((await reading.post('/runs/batch', { post })).status).toBe(202);
  const [found] = (await reading.get(`/sessions?name=${encodeURIComponent(name)}`)).json as [{ id: string }];
  return found.id;
}
async function read(path: string) {
  const { status, json } = await reading.get(path);
  expect([status, json]).toEqual([200, expect.anything()]);
  return json;
}
const usage = (total_tokens: number, total_cost: number) => ({
  outputs: { usage_metadata: { total_tokens, total_cost } },
});

it('Tracing projects are listed with what ran in a time, the one with the newest run first', async () => {
  const one = await project('project one', [
    { hour: -40, seconds: 1, ...usage(1000, 1000) },
    { hour: 1, seconds: 2, ...usage(5, 0.25) },
    { hour: 30, seconds: 2, error: 'it broke' },
    { hour: 60, seconds: 50, ...usage(7, 0.5) },
    { hour: 61 },
    { hour: 100 },
  ]);
  const two = await project('project two', [{ hour: 200 }]);
  await reading.insert(
    'sessions',
    rows.session(reading.tenants.a, { name: 'an experiment', reference_dataset_id: newId() }),
  );
  const empty = (await reading.post('/sessions', { name: 'project three', start_time: at(-1000) })).json.id;
  const { projects, ...rest } = await read(`/v1/projects?from=${at(0, 5)}&to=${at(61, 1)}`);
  expect(projects).toMatchObject([
    { id: two, name: 'project two', runs: 0, errors: 0, total_tokens: 0, total_cost: '0', latency_p50: null },
    {
      ...{ id: one, runs: 4, errors: 1, total_tokens: 12, total_cost: '0.75' },
      last_run_start_time: at(100).replace('000Z', '000000+00:00'),
    },
    { id: empty, last_run_start_time: null },
  ]);
  expect(projects[1].latency_p50 / 2).toBeCloseTo(1, 1);
  expect(projects[1].latency_p99 / 50).toBeCloseTo(1, 1);
  expect(rest).toEqual({
    from: '2026-01-05T00:00:00.000000+00:00',
    to: '2026-01-07T14:00:00.000000+00:00',
    next_cursor: null,
  });
  const first = await read('/v1/projects?limit=2');
  const second = await read(`/v1/projects?limit=2&cursor=${first.next_cursor}`);
  expect([...first.projects, ...second.projects].map(({ id }: { id: string }) => id)).toEqual([two, one, empty]);
  expect(second.next_cursor).toBeNull();
  expect((await read('/v1/projects?q=T%20TW')).projects).toMatchObject([{ id: two }]);
  expect((await reading.get('/v1/projects', 'b')).json).toMatchObject({ projects: [] });
  expect((await reading.get(`/v1/projects?from=${at(0)}&to=${at(24 * 93)}`)).status).toBe(400);
  expect((await reading.get(`/v1/projects?from=${at(1)}&to=${at(0)}`)).status).toBe(400);
});

it('The runs of a project are counted by hour and by day', async () => {
  const id = await project('counted', [
    { hour: 1, seconds: 2 },
    { hour: 1, seconds: 2, error: 'it broke', ...usage(5, 0.25) },
    { hour: 3, seconds: 0 },
    { hour: 25 },
  ]);
  const path = `/v1/projects/${id}/counts`;
  const hours = await read(`${path}?from=${at(0)}&to=${at(26)}`);
  expect(hours).toMatchObject({
    interval: 'hour',
    from: '2026-01-05T00:00:00.000000+00:00',
    to: '2026-01-06T02:00:00.000000+00:00',
    counts: [
      { time: '2026-01-05T01:00:00.000000+00:00', runs: 2, errors: 1, total_tokens: 5, total_cost: '0.25' },
      { time: '2026-01-05T03:00:00.000000+00:00', runs: 1, latency_p50: 0.0005, latency_p99: 0.0005 },
      { time: '2026-01-06T01:00:00.000000+00:00', runs: 1, latency_p50: null },
    ],
  });
  const days = await read(`${path}?from=${at(5)}&to=${at(26)}&interval=day`);
  expect(days).toMatchObject({
    ...{ interval: 'day', from: '2026-01-05T00:00:00.000000+00:00', to: '2026-01-07T00:00:00.000000+00:00' },
    counts: [{ runs: 3 }, { runs: 1 }],
  });
  expect(await read(`${path}?from=${at(0)}&to=${at(24 * 9)}`)).toMatchObject({ interval: 'day' });
  expect((await reading.get(`${path}?from=${at(0)}&to=${at(24 * 17)}&interval=hour`)).status).toBe(400);
  expect((await reading.get(path, 'b')).status).toBe(404);
  expect((await reading.get(`/v1/projects/${newId()}/counts`)).status).toBe(404);
  expect((await reading.get('/v1/projects/x/counts')).status).toBe(422);
});
