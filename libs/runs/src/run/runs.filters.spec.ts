import { v4 as newId } from 'uuid';
import { startReading } from '@fairlead/evaluation/testing';
import { type Reading, rows } from '@fairlead/experiments/testing';

let reading: Reading;
let session: string;
beforeAll(async () => {
  reading = await startReading();
  session = (await reading.post('/sessions', { name: `filtered ${newId()}` })).json.id;
});
afterAll(() => reading.stop());

const add = (name: string, row: object) =>
  reading.insert('runs', rows.run(reading.tenants.a, session, { name, ...row }));
async function found(filter: string, more: object = {}) {
  const answer = await reading.post('/api/v2/runs/query', {
    project_ids: [session],
    filter,
    selects: ['NAME'],
    ...more,
  });
  if (answer.status !== 200) return answer.json;
  return (answer.json.items as { name: string }[]).map(({ name }) => name).sort();
}

it('finds runs by patterns, by what is in inputs and outputs, and by thread', async () => {
  await add('search 100%', { inputs: '{"question":"why","n":5}', extra: '{"metadata":{"thread_id":"t1"}}' });
  await add('search\\', {
    outputs: '{"answer":"because"}',
    extra: '{"metadata":{"session_id":"t2","thread_id":"t1"}}',
  });
  await add('else', { inputs: '[1]', outputs: 'null' });
  expect(await found('like(name, "search%")')).toEqual(['search 100%', 'search\\']);
  expect(await found('like(name, "%\\\\")')).toEqual(['search\\']);
  expect(await found('not(like(name, "search%"))')).toEqual(['else']);
  expect(await found('eq(input_key, "question")')).toEqual(['search 100%']);
  expect(await found('and(eq(input_key, "n"), eq(input_value, "5"))')).toEqual(['search 100%']);
  expect(await found('and(eq(input_key, "n"), eq(input_value, "why"))')).toEqual([]);
  expect(await found('like(output_value, "bec%")')).toEqual(['search\\']);
  expect(await found('eq(thread_id, "t1")')).toEqual(['search 100%']);
  expect(await found('eq(thread_id, "t2")')).toEqual(['search\\']);
  const select = ['name', 'thread_id'];
  const { runs } = (await reading.post('/runs/query', { session: [session], select })).json;
  expect(Object.fromEntries(runs.map((run: Record<string, unknown>) => [run.name, run.thread_id]))).toEqual({
    'search 100%': 't1',
    'search\\': 't2',
    else: null,
  });
  const second = { project_ids: [session], selects: ['THREAD_ID'], filter: 'eq(name, "search 100%")' };
  expect((await reading.post('/api/v2/runs/query', second)).json.items).toEqual([{ thread_id: 't1' }]);
  expect(await found('like(start_time, "2026%")')).toMatchObject({
    detail: expect.stringContaining('like() compares texts'),
  });
});

it('finds runs by members of their metadata, as the path in an answer says', async () => {
  await add('path one', { extra: '{"metadata":{"thread_id":"p1","n":10,"a.b":"dotted","o":{"deep":{"k":"in"}}}}' });
  await add('path two', { extra: '{"metadata":{"thread_id":"p2","n":9,"o":"text"}}' });
  await add('path none', { extra: '{"metadata":["thread_id"]}' });
  const ours = (filter: string) => found(`and(like(name, "path%"), ${filter})`);
  // As langsmith-fetch asks.
  expect(await found('and(eq(is_root, true), eq(extra.metadata.thread_id, "p1"))')).toEqual(['path one']);
  expect(await ours('neq(extra.metadata.thread_id, "p1")')).toEqual(['path none', 'path two']);
  expect(await ours('in(extra.metadata.n, [9, 11])')).toEqual(['path two']);
  expect(await ours('eq(extra.metadata.a.b, "dotted")')).toEqual(['path one']);
  expect(await ours('like(extra.metadata.o.deep.k, "i%")')).toEqual(['path one']);
  expect(await ours('eq(extra.metadata.toString, "x")')).toEqual([]);
  expect(await ours(`eq(extra.metadata.thread_id, "' or true --")`)).toEqual([]);
  for (const path of ['extra.metadata', 'extra.metadata.', 'extra.runtime.sdk', 'inputs.question', 'metadata.n']) {
    const { detail } = (await found(`eq(${path}, "x")`)) as unknown as { detail: string };
    expect(detail).toContain(`there is no field '${path}'`);
  }
});

it('bounds the times of feedback that a filter speaks of', async () => {
  const run = await add('scored', {});
  const given = (modified_at: string, score: number) =>
    reading.insert(
      'feedback',
      rows.feedback(reading.tenants.a, session, { run_id: run, key: 'k', score, modified_at }),
    );
  await given('2026-05-01T00:00:00Z', 1);
  await given('2026-05-02T00:00:00Z', 0);
  const [first, second] = ['2026-05-01T00:00:00Z', '2026-05-02T00:00:00Z'];
  const one = 'and(eq(feedback_key, "k"), eq(feedback_score, 1))';
  expect(await found(one, { min_feedback_modified_at: first, max_feedback_modified_at: second })).toEqual(['scored']);
  expect(await found(one, { min_feedback_modified_at: second })).toEqual([]);
  expect(await found(one, { max_feedback_modified_at: first })).toEqual([]);
  expect(await found('eq(name, "scored")', { min_feedback_modified_at: first })).toMatchObject({
    detail: expect.stringContaining('need a condition on feedback'),
  });
});
