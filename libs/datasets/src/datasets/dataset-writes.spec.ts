import { v4 as newId } from 'uuid';
import { HOSTILE, type Reading, startReading } from '@fairlead/experiments/testing';

let reading: Reading;
beforeAll(async () => {
  reading = await startReading();
});
afterAll(() => reading.stop());

const create = (body: object = {}, tenant?: 'a' | 'b') =>
  reading.post('/datasets', { name: `dataset ${newId()}`, ...body }, tenant);
const one = async (id: string) => (await reading.get(`/datasets/${id}`)).json;

describe('The baseline of a dataset', () => {
  const session = async (dataset: string | null) =>
    (await reading.post('/sessions', { reference_dataset_id: dataset })).json.id as string;
  const choose = (dataset: string, body: unknown, tenant?: 'a' | 'b') =>
    reading.send('PUT', `/datasets/${dataset}/baseline`, body, tenant);
  let dataset: string;
  let first: string;
  beforeAll(async () => {
    dataset = (await create()).json.id as string;
    first = await session(dataset);
  });

  it('is an experiment on it, chosen by two routes and shown with it', async () => {
    const other = await session(dataset);
    expect((await one(dataset)).baseline_experiment_id).toBeNull();
    expect(await choose(dataset, { experiment_id: first })).toMatchObject({
      status: 200,
      json: { experiment_id: first },
    });
    expect((await one(dataset)).baseline_experiment_id).toBe(first);
    const patched = await reading.send('PATCH', `/datasets/${dataset}`, { baseline_experiment_id: other });
    expect(patched).toMatchObject({ status: 200, json: { baseline_experiment_id: other } });
    expect(patched.headers.warning).toBeUndefined();
    const [listed] = (await reading.get(`/datasets?id=${dataset}`)).json;
    expect(listed.baseline_experiment_id).toBe(other);
    expect((await choose(dataset, { experiment_id: null })).json).toEqual({ experiment_id: null });
    expect((await one(dataset)).baseline_experiment_id).toBeNull();
  });

  it('is no more when its experiment is deleted', async () => {
    const gone = await session(dataset);
    await choose(dataset, { experiment_id: gone });
    expect((await one(dataset)).baseline_experiment_id).toBe(gone);
    expect((await reading.send('DELETE', `/sessions/${gone}`)).status).toBe(200);
    expect((await one(dataset)).baseline_experiment_id).toBeNull();
  });

  it('is nothing else, and nobody else chooses it', async () => {
    const elsewhere = await session((await create()).json.id as string);
    for (const [body, status] of [
      [{ experiment_id: elsewhere }, 400],
      [{ experiment_id: await session(null) }, 400],
      [{ experiment_id: newId() }, 404],
      [{ experiment: first }, 422],
      [{ experiment_id: 'first' }, 422],
    ] as const) {
      expect([body, (await choose(dataset, body)).status]).toEqual([body, status]);
    }
    expect((await choose(dataset, { experiment_id: first }, 'b')).status).toBe(404);
    expect((await choose(newId(), { experiment_id: first })).status).toBe(404);
    const named = { name: `named ${newId()}`, baseline_experiment_id: elsewhere };
    expect((await reading.send('PATCH', `/datasets/${dataset}`, named)).status).toBe(400);
    expect((await one(dataset)).name).not.toBe(named.name);
  });

  it('stays as it is when the rest of a change is refused', async () => {
    const taken = `taken ${newId()}`;
    await create({ name: taken });
    await choose(dataset, { experiment_id: null });
    const change = { name: taken, baseline_experiment_id: first };
    expect((await reading.send('PATCH', `/datasets/${dataset}`, change)).status).toBe(409);
    expect((await one(dataset)).baseline_experiment_id).toBeNull();
  });

  it('changes together with the other members, also under an Idempotency-Key', async () => {
    await choose(dataset, { experiment_id: null });
    const both = { name: `free ${newId()}`, description: 'new', baseline_experiment_id: first };
    const headers = { 'idempotency-key': newId() };
    const { status, json } = await reading.send('PATCH', `/datasets/${dataset}`, both, 'a', headers);
    expect({ status, ...json }).toMatchObject({ status: 200, ...both });
    expect(await one(dataset)).toMatchObject(both);
  });
});

describe('A dataset that a client creates', () => {
  it('is answered as it is read, its opaque members byte for byte', async () => {
    const name = `made ${newId()}`;
    const body = `{"name":"${name}","description":"about","data_type":"chat","extra":{"source":"sdk","metadata":${HOSTILE}},"inputs_schema_definition":${HOSTILE},"transformations":null}`;
    const answer = await reading.post('/datasets', body);
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.json).toMatchObject({ name, description: 'about', data_type: 'chat', externally_managed: false });
    expect(answer.json).toMatchObject({ example_count: 0, session_count: 0, outputs_schema_definition: null });
    const read = await reading.get(`/api/v1/datasets/${answer.json.id}`);
    for (const { text } of [answer, read]) {
      expect(text).toContain(`"metadata":${HOSTILE}`);
      expect(text).toContain(`"inputs_schema_definition":${HOSTILE}`);
    }
    const times = ({ created_at, modified_at }: Record<string, string>) =>
      [created_at, modified_at].map(Date.parse as (t?: string) => number);
    expect(times(answer.json)).toEqual(times(read.json));
    expect({ ...read.json, created_at: 0, modified_at: 0 }).toEqual({ ...answer.json, created_at: 0, modified_at: 0 });
    expect((await reading.get(`/datasets/${answer.json.id}`, 'b')).status).toBe(404);
  });

  it('has a name of its own, and an id that nobody else has', async () => {
    const { json } = await create();
    const again = await create({ name: json.name });
    expect(again).toMatchObject({ status: 409, headers: { 'x-should-retry': 'false' } });
    expect(again.json.detail).toBe(`Dataset with the name '${json.name}' already exists. Its id is ${json.id}.`);
    expect((await create({ id: json.id })).json.detail).toContain('already exists');
    const foreign = await create({ id: json.id }, 'b');
    expect(foreign).toMatchObject({ status: 409, json: { detail: 'This dataset_id cannot be used.' } });
    expect((await create({ name: json.name }, 'b')).status).toBe(200);
    const many = await Promise.all(Array.from({ length: 8 }, () => create({ name: 'at once' })));
    expect(many.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(409)]);
    expect((await reading.get('/datasets?name=at%20once')).json).toHaveLength(1);
  });

  it('refuses what would be left out in silence', async () => {
    const transformations = [{ path: ['inputs'], transformation_type: 'remove_extra_fields' }];
    const answer = await create({ transformations });
    expect(answer).toMatchObject({ status: 501, headers: { 'x-should-retry': 'false' } });
    expect(answer.json.detail).toBe('Transformations of datasets are not part of Fairlead.');
    expect((await create({ tag_value_ids: [newId()] })).status).toBe(501);
    expect((await create({ transformations: [], tag_value_ids: [] })).status).toBe(200);
    expect(await reading.post('/datasets', {})).toMatchObject({
      status: 422,
      json: { detail: [{ type: 'missing', loc: ['body', 'name'] }] },
    });
  });

  it('is changed member by member; its old name is free then', async () => {
    const { json } = await create({ description: 'before', metadata: { a: 1 } });
    const name = `renamed ${newId()}`;
    const change = (body: object, tenant?: 'a' | 'b') => reading.send('PATCH', `/datasets/${json.id}`, body, tenant);
    const changed = await change({ name, metadata: { b: 2 }, description: null });
    expect(changed).toMatchObject({ status: 200, json: { name, description: 'before', metadata: { b: 2 } } });
    expect(await one(json.id)).toEqual(changed.json);
    const { version } = (await reading.pool.query('select version from datasets where id = $1', [json.id])).rows[0];
    expect((await change({ name, metadata: { b: 2 } })).json).toEqual(changed.json);
    expect((await reading.pool.query('select version from datasets where id = $1', [json.id])).rows[0].version).toBe(
      version,
    );
    const other = await create({ name: json.name });
    expect(other.status).toBe(200);
    expect((await change({ name: json.name })).status).toBe(409);
    expect((await change({ description: 'mine' }, 'b')).status).toBe(404);
    expect((await one(json.id)).name).toBe(name);
  });

  it('is deleted, and its name and id can be used again', async () => {
    const { json } = await create();
    expect(await reading.send('DELETE', `/datasets/${json.id}`)).toMatchObject({ status: 200 });
    expect((await reading.get(`/datasets/${json.id}`)).status).toBe(404);
    expect((await create({ id: json.id, name: json.name })).status).toBe(200);
    expect(await one(json.id)).toMatchObject({ example_count: 0 });
  });
});

describe('A dataset from a CSV file', () => {
  const form = (text: string, fields: readonly (readonly [string, string])[], fileName = 'capitals.csv') => {
    const sent = new FormData();
    sent.append('file', new Blob([text], { type: 'text/csv' }), fileName);
    for (const [name, value] of fields) sent.append(name, value);
    return reading.post('/datasets/upload', sent);
  };
  const COLUMNS = [
    ['input_keys', 'country'],
    ['input_keys', '__proto__'],
    ['output_keys', 'capital'],
    ['metadata_keys', 'continent'],
  ] as const;
  const TEXT =
    '\ufeffcountry,capital,continent,__proto__\r\n"Fiji, the ""islands""",Suva,Oceania,x\r\nPeru,Lima,"South\nAmerica",\r\n';

  it('has an example for each row, whose values are texts', async () => {
    const id = newId();
    const answer = await form(TEXT, [...COLUMNS, ['id', id], ['name', `csv ${id}`], ['data_type', 'kv']]);
    expect(answer).toMatchObject({ status: 200, json: { id, name: `csv ${id}`, example_count: 2 } });
    expect(await one(id)).toMatchObject({ example_count: 2, externally_managed: false });
    const examples = (await reading.get(`/examples?dataset=${id}&order=id`)).json as Record<string, object>[];
    const texts = examples.map(({ inputs, outputs, metadata }) => JSON.stringify({ inputs, outputs, metadata })).sort();
    expect(texts).toEqual([
      '{"inputs":{"country":"Fiji, the \\"islands\\"","__proto__":"x"},"outputs":{"capital":"Suva"},"metadata":{"continent":"Oceania","dataset_split":["base"]}}',
      '{"inputs":{"country":"Peru","__proto__":""},"outputs":{"capital":"Lima"},"metadata":{"continent":"South\\nAmerica","dataset_split":["base"]}}',
    ]);
  });

  it('has the name of the file; a file that does not fit leaves nothing', async () => {
    const fileName = `file-${newId()}.csv`;
    expect((await form(TEXT, COLUMNS, fileName)).json).toMatchObject({ name: fileName.slice(0, -4) });
    expect(await form(TEXT, COLUMNS, fileName)).toMatchObject({ status: 409 });
    for (const [text, why] of [
      ['country\nFiji\n', "no column '__proto__'"],
      ['', "no column 'country'"],
      ['country;capital\n', "Its columns, between commas, are: 'country;capital'."],
      ['country,capital,continent,__proto__,capital\na,b,c,d,e\n', "the column 'capital' twice"],
      ['country,capital,continent,__proto__\na,b\n', 'cannot be read'],
      ['country,capital,continent,__proto__\n"a', 'cannot be read'],
    ] as const) {
      const name = `refused ${newId()}`;
      const refused = await form(text, [...COLUMNS, ['name', name]]);
      expect(refused).toMatchObject({ status: 400 });
      expect(refused.json.detail).toContain(why);
      expect((await reading.get(`/datasets?name=${encodeURIComponent(name)}`)).json).toEqual([]);
    }
    expect((await form(TEXT, [['name', 'x']])).json.detail).toMatchObject([{ loc: ['body', 'input_keys'] }]);
  });

  it('is in UTF-8, as its columns and its name are; other text is refused and leaves nothing', async () => {
    const name = `encoded ${newId()}`;
    const bytes = (text: string) => Buffer.from(text, 'latin1');
    const part = (head: string, data: Buffer) =>
      Buffer.concat([bytes(`--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n`), data, bytes('\r\n')]);
    const send = (...parts: Buffer[]) =>
      reading.send('POST', '/datasets/upload', Buffer.concat([...parts, bytes('--x--\r\n')]), 'a', {
        'content-type': 'multipart/form-data; boundary=x',
      });
    const file = (text: Buffer) => part('name="file"; filename="f.csv"', text);
    const columns = part('name="input_keys"', bytes('a'));
    const named = part('name="name"', bytes(name));
    for (const [parts, why] of [
      [[file(bytes('a\n1\nGruy\xe8re\n')), columns, named], 'The CSV file is not UTF-8 text (line 3)'],
      [[file(bytes('a\n1\n')), part('name="input_keys"', bytes('\xe8')), named], 'The field input_keys is not UTF-8'],
      [
        [part('name="file"; filename="\xe8.csv"', bytes('a\n1\n')), columns],
        'The head of a part of the form is not UTF-8',
      ],
    ] as const) {
      const refused = await send(...parts);
      expect(refused).toMatchObject({ status: 400, json: { detail: expect.stringContaining(why) } });
    }
    expect((await reading.get(`/datasets?name=${encodeURIComponent(name)}`)).json).toEqual([]);
    expect((await send(file(Buffer.from('a\nGruyère\n')), columns, named)).status).toBe(200);
  });

  it('takes a column that is named again once, and refuses names that rows would repeat too often', async () => {
    const again = await form(
      'a\n1\n',
      [...Array.from({ length: 900 }, () => ['input_keys', 'a'] as const)],
      'again.csv',
    );
    const [example] = (await reading.get(`/examples?dataset=${again.json.id}`)).json as { inputs: object }[];
    expect(example!.inputs).toEqual({ a: '1' });
    const name = 'n'.repeat(10_000);
    const long = await form(`${name}\n${'1\n'.repeat(10_000)}`, [['input_keys', name]], 'long.csv');
    expect(long).toMatchObject({
      status: 413,
      json: { detail: 'The examples of the CSV file have more than 64 Mi characters together.' },
    });
  });
});
