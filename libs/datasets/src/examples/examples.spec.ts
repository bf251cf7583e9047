import { v4 as newId } from 'uuid';
import { type Answer, HOSTILE, type Reading, rows, startReading } from '@fairlead/experiments/testing';

let reading: Reading;
let a: string;
let dataset: string;
beforeAll(async () => {
  reading = await startReading();
  a = reading.tenants.a;
});
beforeEach(async () => {
  dataset = await reading.insert('datasets', rows.dataset(a));
});
afterAll(() => reading.stop());

const insert = (row = {}) => reading.insert('examples', rows.example(a, dataset, row));
const list = (search = '') => reading.get(`/examples?dataset=${dataset}&${search}`);
const ids = (answer: Answer): string[] => {
  expect(answer).toMatchObject({ status: 200 });
  return (answer.json as { id: string }[]).map(({ id }) => id);
};

const MEMBERS = [
  ...['outputs', 'dataset_id', 'source_run_id', 'metadata', 'inputs', 'created_at', 'id', 'name', 'modified_at'],
  'attachment_urls',
];

it('gives one example with every member, opaque ones byte for byte', async () => {
  const id = await insert({ inputs: HOSTILE, outputs: HOSTILE, metadata: HOSTILE });
  const answer = await reading.get(`/api/v1/examples/${id}`);
  expect(Object.keys(answer.json)).toEqual(MEMBERS);
  for (const member of ['inputs', 'outputs']) expect(answer.text).toContain(`"${member}":${HOSTILE},"`);
  expect(answer.text).toContain(`"metadata":${HOSTILE.replace(/\}$/, ',"dataset_split":["base"]}')},"`);
  expect((await list()).json).toEqual([answer.json]);
  expect((await reading.get(`/examples/${id}`, 'b')).json).toEqual({ detail: `Example ID ${id} not found.` });
  expect((await reading.get(`/examples/${id}?dataset=${newId()}`)).status).toBe(404);
  expect(ids(await reading.get(`/examples?dataset=${dataset}`, 'b'))).toEqual([]);
  expect(ids(await reading.get(`/examples?id=${id}`, 'b'))).toEqual([]);
});

it('reads back any version with as_of', async () => {
  const id = newId();
  const [first, second] = ['2026-01-01T00:00:00.000500Z', '2026-02-01T00:00:00Z'];
  await insert({ id, valid_from: first, valid_to: second, inputs: '{"v":1}' });
  await insert({ id, valid_from: second, inputs: '{"v":2}' });
  const at = (asOf: string) => reading.get(`/examples/${id}?as_of=${encodeURIComponent(asOf)}`);
  expect((await reading.get(`/examples/${id}`)).json).toMatchObject({
    inputs: { v: 2 },
    modified_at: '2026-02-01T00:00:00.000000+00:00',
  });
  expect((await at('latest')).json.inputs).toEqual({ v: 2 });
  expect((await at('2026-01-15')).json.inputs).toEqual({ v: 1 });
  expect((await at('2026-02-01T00:00:00')).json.inputs).toEqual({ v: 2 });
  expect((await at('2026-02-01T01:59:59+02:00')).json.inputs).toEqual({ v: 1 });
  expect((await at('2026-01-01T00:00:00.000499Z')).status).toBe(404);
  expect((await at('2026-01-01T00:00:00.000500Z')).status).toBe(200);
  expect((await at('prod')).json.detail).toContain('not found');
  expect((await list('as_of=2026-01-15')).json).toMatchObject([{ inputs: { v: 1 } }]);
  expect((await list('as_of=2025-01-15')).json).toEqual([]);
  expect((await reading.get(`/examples/count?dataset=${dataset}&as_of=2025-01-15`)).json).toBe(0);
});

it('pages without a gap or a double in every order, and past the end', async () => {
  const all: string[] = [];
  for (let i = 0; i < 25; i++) {
    all.push(
      await insert({
        valid_from: `2026-01-0${1 + (i % 3)}T00:00:00Z`,
        created_at: `2025-01-0${1 + (i % 2)}T00:00:00Z`,
      }),
    );
  }
  for (const order of [
    'recent',
    'recently_created',
    'id',
    'random&random_seed=7',
    'id&descending=true',
    'recent&descending=false',
  ]) {
    const paged: string[] = [];
    for (const offset of [0, 10, 20]) paged.push(...ids(await list(`order=${order}&limit=10&offset=${offset}`)));
    expect(paged).toHaveLength(25);
    expect(new Set(paged)).toEqual(new Set(all));
    if (order === 'id') expect(paged).toEqual(all.toSorted());
    expect(await list(`order=${order}&limit=101`)).toMatchObject({
      status: 422,
      json: { detail: [{ type: 'less_than_equal', loc: ['query', 'limit'], input: '101', ctx: { le: 100 } }] },
    });
    expect((await list(`order=${order}&limit=100`)).json).toHaveLength(25);
  }
  expect(ids(await list('offset=25'))).toEqual([]);
  expect((await reading.get(`/examples/count?dataset=${dataset}`)).text).toBe('25');
  const modified = (await list()).json.map((one: { modified_at: string }) => one.modified_at);
  expect(modified).toEqual(modified.toSorted().toReversed());
});

it('filters by every member', async () => {
  const one = await insert({ inputs: '{"q":"What, is 100%?"}', metadata: '{"topic":"x","dataset_split":["train"]}' });
  const two = await insert({ outputs: '{"a":"Forty"}', metadata: '{"topic":"y","odd":"\\u0000"}' });
  const both = [one, two].toSorted();
  const found = async (search: string) => ids(await list(`order=id&${search}`));
  expect(await found(`id=${one}`)).toEqual([one]);
  expect(await found(`id=${one}&id=${two}&id=${newId()}`)).toEqual(both);
  expect(await found(`metadata=${encodeURIComponent('{"topic":"x"}')}`)).toEqual([one]);
  expect(await found('full_text_contains=what,%20is%20100%25')).toEqual([one]);
  expect(await found('full_text_contains=forty&full_text_contains=a')).toEqual([two]);
  expect(await found('full_text_contains=100_')).toEqual([]);
  expect(await found('splits=train')).toEqual([one]);
  expect(await found('splits=base')).toEqual([two]);
  expect(await found('splits=train&splits=base')).toEqual(both);
  expect(await found(`filter=${encodeURIComponent('exists(metadata, "odd")')}`)).toEqual([two]);
  expect(
    await found(`filter=${encodeURIComponent('and(eq(metadata_key, "topic"), neq(metadata_value, "x"))')}`),
  ).toEqual([two]);
  expect(await found(`filter=${encodeURIComponent('neq(metadata.topic, "x")')}`)).toContain(two);
  expect(ids(await reading.get(`/examples?id=${one}`))).toEqual([one]);
  expect((await reading.get(`/examples/count?dataset=${dataset}&splits=train`)).json).toBe(1);
  expect((await list('filter=nothing()')).status).toBe(400);
  expect((await list('metadata=1')).status).toBe(400);
  expect((await list('order=x')).status).toBe(422);
});

it('answers every member, whatever is selected: with its value, or null', async () => {
  const id = await insert({ outputs: '{"o":1}' });
  const { json } = await list('select=outputs&select=metadata');
  expect(json[0]).toMatchObject({ outputs: { o: 1 }, metadata: { dataset_split: ['base'] }, source_run_id: null });
  expect((await list('select=id')).json).toEqual([
    {
      id,
      dataset_id: dataset,
      inputs: { question: 1 },
      name: 'example',
      created_at: '2026-01-01T00:00:00.000000+00:00',
      modified_at: expect.any(String),
      outputs: null,
      metadata: null,
      source_run_id: null,
      attachment_urls: null,
    },
  ]);
  expect((await list('select=secrets')).status).toBe(422);
});
