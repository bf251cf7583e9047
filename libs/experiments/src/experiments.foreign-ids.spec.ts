import { until } from '@fairlead/postgres/testing';
import { v4 as newId } from 'uuid';
import { type Reading, startReading } from './testing';

/* Two workspaces that choose the same ids, and rows that have an id which another workspace's event names. */
let reading: Reading;
beforeAll(async () => {
  reading = await startReading();
});
afterAll(() => reading.stop());

const WORKSPACES = ['a', 'b'] as const;
const named = async (path: string, workspace: 'a' | 'b') => (await reading.get(path, workspace)).json.name as unknown;

it.each(['datasets', 'sessions'])('an id of %s belongs to the workspace that was first', async (path) => {
  const id = newId();
  expect((await reading.post(`/${path}`, { id, name: `of a ${id}` }, 'a')).status).toBe(200);
  const refused = await reading.post(`/${path}`, { id, name: `of b ${id}` }, 'b');
  expect(refused.status).toBe(409);
  expect(await named(`/${path}/${id}`, 'a')).toBe(`of a ${id}`);
  expect((await reading.get(`/${path}/${id}`, 'b')).status).toBe(404);
});

it('examples, runs and feedback of two workspaces may have the same ids', async () => {
  const [example, run, feedback] = [newId(), newId(), newId()];
  for (const workspace of WORKSPACES) {
    const send = async (path: string, body: object) => {
      const answer = await reading.post(path, body, workspace);
      expect([path, answer.status]).toEqual([path, expect.any(Number)]);
      expect(answer.status).toBeLessThan(300);
      return answer.json;
    };
    const { id: dataset } = await send('/datasets', { name: `the same ids` });
    await send('/examples', { id: example, dataset_id: dataset, inputs: { of: workspace } });
    await send('/runs', { id: run, name: `of ${workspace}`, session_name: 'the same ids' });
    await until(async () => (await reading.get(`/runs/${run}`, workspace)).status === 200);
    await send('/feedback', { id: feedback, run_id: run, key: `of ${workspace}` });
  }
  for (const workspace of WORKSPACES) {
    expect((await reading.get(`/examples/${example}`, workspace)).json.inputs).toEqual({ of: workspace });
    expect(await named(`/runs/${run}`, workspace)).toBe(`of ${workspace}`);
    const given = await until(
      () => reading.get(`/feedback/${feedback}`, workspace),
      ({ status }) => status === 200,
    );
    expect(given.json.key).toBe(`of ${workspace}`);
  }
});

it.each([
  ['datasets', 'DatasetCreated', 'dataset'],
  ['sessions', 'SessionCreated', 'experiment'],
])(
  'an event never changes the row of another workspace in %s, nor holds up the events after it',
  async (table, type, category) => {
    const id = newId();
    const { a: tenant, b } = reading.tenants;
    const time = new Date().toISOString();
    const shared = { id, tenant_id: b, name: `of b ${id}`, created_at: time, version: 1 };
    if (table === 'datasets') await reading.insert(table, { ...shared, modified_at: time, externally_managed: false });
    else await reading.insert(table, { ...shared, start_time: time });
    const data = { name: `of a ${id}`, start_time: time, data_type: 'kv', externally_managed: false };
    await reading.store.append(`${category}-${id}`, 0, [{ type, data }], { tenant });
    const { status, json } = await reading.post('/datasets', { name: `after ${id}` }, 'a');
    expect([status, await named(`/datasets/${json.id}`, 'a')]).toEqual([200, `after ${id}`]);
    expect(await named(`/${table}/${id}`, 'b')).toBe(`of b ${id}`);
    expect(await named(`/${table}/${id}`, 'a')).toBe(`of a ${id}`);
  },
);
