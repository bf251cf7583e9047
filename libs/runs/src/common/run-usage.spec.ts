import { v4 as newId } from 'uuid';
import { usageOf } from './run-usage';
import { startReading } from '@fairlead/evaluation/testing';
import type { Reading } from '@fairlead/experiments/testing';

let reading: Reading;
beforeAll(async () => {
  reading = await startReading();
});
afterAll(() => reading.stop());

const NONE = { prompt_tokens: null, completion_tokens: null, total_tokens: null };
const FREE = { prompt_cost: null, completion_cost: null, total_cost: null };
const of = (usage: object) => usageOf({ outputs: JSON.stringify({ usage_metadata: usage }) });

it('reads what a run says of its usage in its outputs, else in its metadata, and nothing else', () => {
  const usage = { input_tokens: 10, output_tokens: 5, input_cost: 0.1, output_cost: 0.2 };
  const read = {
    ...{ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    ...{ prompt_cost: '0.1', completion_cost: '0.2', total_cost: '0.3' },
  };
  expect(of(usage)).toEqual(read);
  expect(usageOf({ extra: JSON.stringify({ metadata: { usage_metadata: usage } }) })).toEqual(read);
  expect(of({ ...usage, total_tokens: 20, total_cost: '0.5' })).toMatchObject({ total_tokens: 20, total_cost: '0.5' });
  for (const json of ['[]', '"usage_metadata"', '{}', '{"usage_metadata":null}', '{"usage_metadata":[1]}', undefined]) {
    expect(usageOf({ outputs: json, extra: json })).toEqual({ ...NONE, ...FREE });
  }
  expect(usageOf({ outputs: '{"usage_metadata":{"input_tokens":1e999,"input_cost":1e999}}' })).toEqual({
    ...NONE,
    ...FREE,
  });
  expect(of({ input_tokens: -1, output_tokens: 1.5, total_tokens: '7', input_cost: -1, total_cost: 'much' })).toEqual({
    ...NONE,
    ...FREE,
  });
  expect(of({ input_cost: 1e-300 }).prompt_cost).toBe('0');
});

const usage = (tokens: number, cost: number) => ({
  outputs: { usage_metadata: { input_tokens: tokens, output_tokens: 1, total_cost: cost } },
});
const run = (members: object = {}) => ({ id: newId(), end_time: '2026-01-01T00:00:01Z', ...members });
const used = (tokens: number, cost: string) => ({ total_tokens: tokens, completion_tokens: 1, total_cost: cost });

it('keeps tokens and costs per run and sums them, each once: null until a run says something', async () => {
  const session_name = `used ${newId()}`;
  const session = async () => (await reading.get(`/sessions?name=${encodeURIComponent(session_name)}`)).json[0];
  const read = async (id: string) => (await reading.get(`/runs/${id}`)).json;
  const root = run({ session_name });
  await reading.post('/runs', root);
  expect(await read(root.id)).toMatchObject({ ...NONE, ...FREE });
  expect(await session()).toMatchObject({ ...NONE, ...FREE });
  const { id } = await session();
  const statistics = async (body: object = {}) => (await reading.post('/runs/stats', { session: [id], ...body })).json;
  expect(await statistics()).toMatchObject({ ...NONE, ...FREE });

  const below = (members: object) => run({ session_name, trace_id: root.id, parent_run_id: root.id, ...members });
  const first = below({ run_type: 'llm', ...usage(10, 0.1) });
  const second = below({ run_type: 'llm', ...usage(20, 0.25) });
  // A wrapper repeats what the run within it says already.
  const within = below({ parent_run_id: second.id, ...usage(20, 0.25) });
  await reading.post('/runs/batch', { post: [first, second, within] });
  expect(await read(first.id)).toMatchObject(used(11, '0.1'));
  const both = { prompt_tokens: 30, completion_tokens: 2, total_tokens: 32 };
  expect(await read(root.id)).toMatchObject({ ...both, total_cost: '0.35', prompt_cost: null });
  expect(await session()).toMatchObject({ ...both, total_cost: '0.35', prompt_cost: null });
  expect(await statistics()).toMatchObject({ ...both, total_cost: 0.35 });
  expect(await statistics({ is_root: true })).toMatchObject({ ...both, total_cost: 0.35 });
  expect(await statistics({ id: [first.id] })).toMatchObject({ total_tokens: 11, total_cost: 0.1 });
  expect(await statistics({ id: [within.id] })).toMatchObject({ total_tokens: 21 });
  const query = async (filter: string) =>
    (await reading.post('/runs/query', { session: [id], filter })).json.runs.map((found: { id: string }) => found.id);
  expect(await query('and(gt(total_tokens, 15), eq(parent_run_id, "' + root.id + '"))')).toEqual([second.id]);
  expect(await query('lt(total_tokens, 5)')).toEqual([root.id]);
  const selects = ['ID', 'TOTAL_TOKENS', 'TOTAL_COST'];
  const { items } = (await reading.post('/v2/runs/query', { project_ids: [id], selects, is_root: true })).json;
  expect(items).toEqual([{ id: root.id, total_tokens: 32, total_cost: 0.35 }]);

  // A later change says more, and one that says nothing leaves it.
  await reading.send('PATCH', `/runs/${first.id}`, { extra: { metadata: { usage_metadata: { total_tokens: 100 } } } });
  await reading.send('PATCH', `/runs/${first.id}`, { name: 'other' });
  expect(await read(first.id)).toMatchObject({ total_tokens: 100, total_cost: '0.1' });
  expect(await session()).toMatchObject({ total_tokens: 121 });
});
