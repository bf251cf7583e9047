import { v4 as newId } from 'uuid';
import { HOSTILE, type Reading, rows, startReading } from '@fairlead/experiments/testing';

let reading: Reading;
let a: string;
beforeAll(async () => {
  reading = await startReading();
  a = reading.tenants.a;
});
afterAll(() => reading.stop());

const insert = (row = {}, tenant = a) => reading.insert('datasets', rows.dataset(tenant, row));

const MEMBERS = [
  ...[
    'name',
    'description',
    'created_at',
    'inputs_schema_definition',
    'outputs_schema_definition',
    'externally_managed',
  ],
  ...['transformations', 'data_type', 'id', 'tenant_id', 'example_count', 'session_count', 'modified_at'],
  ...['last_session_start_time', 'metadata', 'baseline_experiment_id'],
];

it('tells the number of a list when asked to, and answers 304 to who has it', async () => {
  for (const name of ['counted one', 'counted two', 'counted three']) await insert({ name });
  const { headers, json } = await reading.get('/datasets?name_contains=counted&count=true&limit=2');
  expect([headers['x-pagination-total'], json.length]).toEqual(['3', 2]);
  const path = '/datasets?name_contains=counted';
  const first = await reading.get(path);
  expect(first.headers['x-pagination-total']).toBeUndefined();
  const known = { 'if-none-match': String(first.headers.etag) };
  expect(await reading.get(path, 'a', known)).toMatchObject({ status: 304, text: '' });
  await insert({ name: 'counted four' });
  expect((await reading.get(path, 'a', known)).status).toBe(200);
  expect((await reading.get('/datasets?count=true', 'b')).headers['x-pagination-total']).toBe('0');
});

it('gives one dataset with every member of the schema', async () => {
  const id = await insert({
    name: 'one',
    metadata: HOSTILE,
    example_count: 5,
    last_session_start_time: '2026-01-01T02:00:00.25+02:00',
  });
  const answer = await reading.get(`/api/v1/datasets/${id}`);
  expect(Object.keys(answer.json)).toEqual(MEMBERS);
  expect(answer.text).toContain(`"metadata":${HOSTILE},"`);
  expect(answer.json).toMatchObject({
    id,
    tenant_id: a,
    name: 'one',
    externally_managed: true,
    data_type: 'kv',
    example_count: 5,
    session_count: 0,
    last_session_start_time: '2026-01-01T00:00:00.250000+00:00',
  });
  expect((await reading.get(`/datasets/${id}`, 'b')).json).toEqual({ detail: `Dataset ID ${id} not found.` });
});

it('lists datasets by every member of the query', async () => {
  const b = (name: string, row = {}) => insert({ name, ...row }, reading.tenants.b);
  const one = await b('Alpha', {
    last_session_start_time: '2026-01-01T00:00:00Z',
    metadata: '{"team":{"x":1}}',
    example_count: 7,
  });
  await b('beta', {
    last_session_start_time: '2026-01-02T00:00:00Z',
    data_type: 'llm',
    created_at: '2025-01-01T00:00:00Z',
  });
  await b('gamma', { data_type: 'chat', session_count: 9 });
  const found = async (search: string) => {
    const answer = await reading.get(`/datasets?${search}`, 'b');
    expect(answer).toMatchObject({ status: 200 });
    return (answer.json as { name: string }[]).map(({ name }) => name);
  };
  expect(await found('')).toEqual(['beta', 'Alpha', 'gamma']);
  expect(await found(`id=${one}`)).toEqual(['Alpha']);
  expect(await found('name=beta')).toEqual(['beta']);
  expect(await found('name_contains=ALPH')).toEqual(['Alpha']);
  expect(await found('data_type=llm&data_type=chat')).toEqual(['beta', 'gamma']);
  expect(await found('data_type=kv')).toEqual(['Alpha']);
  expect(await found(`metadata=${encodeURIComponent('{"team":{"x":1}}')}`)).toEqual(['Alpha']);
  expect(await found('sort_by=name')).toEqual(['gamma', 'beta', 'Alpha']);
  expect(await found('sort_by=created_at&sort_by_desc=false&limit=1')).toEqual(['beta']);
  expect(await found('sort_by=session_count&limit=1')).toEqual(['gamma']);
  expect(await found('sort_by=example_count&limit=1')).toEqual(['Alpha']);
  expect(await found('offset=3')).toEqual([]);
  expect(await found(`tag_value_id=${newId()}`)).toEqual([]);
  expect((await reading.get(`/datasets?id=${one}&exclude=example_count`, 'b')).json[0].example_count).toBeNull();
  expect((await reading.get(`/datasets?id=${one}`, 'a')).json).toEqual([]);
  expect((await reading.get('/datasets?metadata=x')).status).toBe(400);
  expect((await reading.get('/datasets?data_type=zip')).status).toBe(422);
});

it('tells versions by the times at which examples changed', async () => {
  const dataset = await insert();
  const example = newId();
  const version = (from: string, to: string | null, id = newId()) =>
    reading.insert('examples', rows.example(a, dataset, { id, valid_from: from, valid_to: to }));
  const [first, second, third] = ['2026-01-01T00:00:00.000001Z', '2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z'];
  await version(first, second, example);
  await version(second, null, example);
  await version(first, null);
  await version(third, null);
  const versions = (search = '') => reading.get(`/datasets/${dataset}/versions?${search}`);
  expect((await versions()).json).toEqual([
    { tags: ['latest'], as_of: '2026-01-03T00:00:00.000000+00:00' },
    { tags: null, as_of: '2026-01-02T00:00:00.000000+00:00' },
    { tags: null, as_of: '2026-01-01T00:00:00.000001+00:00' },
  ]);
  expect((await versions('limit=1&offset=1')).json).toHaveLength(1);
  expect((await versions('offset=5')).json).toEqual([]);
  expect((await versions(`example=${example}`)).json.map((one: { as_of: string }) => one.as_of.slice(0, 10))).toEqual([
    '2026-01-02',
    '2026-01-01',
  ]);
  const at = (search: string) => reading.get(`/datasets/${dataset}/version?${search}`);
  expect((await at('tag=latest')).json.as_of).toMatch('2026-01-03');
  expect((await at('as_of=2026-01-02T12:00:00')).json).toEqual({
    tags: null,
    as_of: '2026-01-02T00:00:00.000000+00:00',
  });
  expect((await at('as_of=2025-01-01')).status).toBe(404);
  expect((await at('tag=prod')).json.detail).toContain('not found');
  expect((await reading.get(`/datasets/${dataset}/versions`, 'b')).status).toBe(404);
});

it('lists the splits that examples are in as a bare array', async () => {
  const dataset = await insert();
  expect((await reading.get(`/datasets/${dataset}/splits`)).json).toEqual([]);
  for (const metadata of [
    '{"dataset_split":["test","train"]}',
    '{"dataset_split":"train"}',
    '{"dataset_split":3}',
    HOSTILE,
    null,
  ]) {
    await reading.insert('examples', rows.example(a, dataset, { metadata }));
  }
  expect((await reading.get(`/datasets/${dataset}/splits`)).json).toEqual(['base', 'test', 'train']);
  expect((await reading.get(`/datasets/${dataset}/splits?as_of=2025-01-01`)).json).toEqual([]);
});

it('deletes a dataset with its examples and sessions and frees the names', async () => {
  const [dataset, metadata] = [newId(), { tenant: a }];
  const created = { name: 'doomed', description: null, data_type: 'kv', externally_managed: true };
  const { position } = await reading.store.append(
    `dataset-${dataset}`,
    0,
    [{ type: 'DatasetCreated', data: created }],
    metadata,
  );
  expect(await reading.followers.passed(position, undefined, 60_000)).toBe(true);
  const session = (await reading.post('/sessions', { name: 'on doomed', reference_dataset_id: dataset })).json.id;
  const example = await reading.insert('examples', rows.example(a, dataset));
  expect((await reading.get(`/datasets/${dataset}`)).json.session_count).toBe(1);
  expect((await reading.send('DELETE', `/datasets/${dataset}`, undefined, 'b')).status).toBe(404);
  expect(await reading.send('DELETE', `/datasets/${dataset}`)).toMatchObject({ status: 200 });
  for (const url of [`/datasets/${dataset}`, `/sessions/${session}`, `/examples/${example}`]) {
    expect((await reading.get(url)).status).toBe(404);
  }
  expect((await reading.post('/sessions', { name: 'on doomed' })).status).toBe(200);
  expect((await reading.send('DELETE', `/datasets/${dataset}`)).status).toBe(404);
});
