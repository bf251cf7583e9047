import type { Recorded } from '@fairlead/eventing';
import { HOSTILE, type Reading, rows, startReading } from '@fairlead/experiments/testing';
import { transaction } from '@fairlead/postgres';
import { v4 as newId } from 'uuid';
import type { ExamplesEvent } from '../datasets/dataset';
import { applyExamples } from './examples.projection';

let reading: Reading;
let dataset: string;
beforeAll(async () => {
  reading = await startReading();
});
beforeEach(async () => {
  dataset = (await reading.post('/datasets', { name: `dataset ${newId()}` })).json.id;
});
afterAll(() => reading.stop());

type Parts = Readonly<Record<string, string | Blob>>;
const send = (method: 'POST' | 'PATCH', parts: Parts, tenant?: 'a' | 'b') => {
  const form = new FormData();
  for (const [name, value] of Object.entries(parts)) {
    form.append(name, typeof value === 'string' ? new Blob([value], { type: 'application/json' }) : value);
  }
  return reading.send(method, `/v1/platform/datasets/${dataset}/examples`, form, tenant);
};
const create = (parts: Parts, tenant?: 'a' | 'b') => send('POST', parts, tenant);
const made = async (inputs = '{"q":1}', more: Parts = {}, head = '{}') => {
  const id = newId();
  const answer = await create({ [id]: head, [`${id}.inputs`]: inputs, ...renamed(id, more) });
  expect(answer).toMatchObject({ status: 201, json: { count: 1, example_ids: [id] } });
  return { id, asOf: answer.json.as_of as string };
};
const renamed = (id: string, parts: Parts) =>
  Object.fromEntries(Object.entries(parts).map(([name, value]) => [`${id}.${name}`, value]));
const get = async (id: string, asOf = 'latest') =>
  (await reading.get(`/examples/${id}?as_of=${encodeURIComponent(asOf)}`)).json;
const list = async (search = '') =>
  (await reading.get(`/examples?dataset=${dataset}&${search}`)).json as { id: string }[];
const ids = async (search = '') => (await list(search)).map(({ id }) => id).sort();
const count = async () => (await reading.get(`/datasets/${dataset}`)).json.example_count;
const versions = async () => (await reading.get(`/datasets/${dataset}/versions`)).json as { as_of: string }[];

describe('Examples that are created', () => {
  it('are given back byte for byte, with the version that holds them', async () => {
    const { id, asOf } = await made(
      HOSTILE,
      { outputs: HOSTILE },
      `{"metadata":${HOSTILE},"created_at":"2026-01-01T00:00:00Z"}`,
    );
    const answer = await reading.get(`/examples/${id}`);
    for (const member of ['inputs', 'outputs']) expect(answer.text).toContain(`"${member}":${HOSTILE},"`);
    expect(answer.text).toContain(`"metadata":${HOSTILE.replace(/\}$/, ',"dataset_split":["base"]}')},"`);
    expect(answer.json).toMatchObject({ id, dataset_id: dataset, created_at: '2026-01-01T00:00:00.000000+00:00' });
    expect(answer.json).toMatchObject({ modified_at: asOf, source_run_id: null, attachment_urls: null });
    expect(await versions()).toEqual([{ as_of: asOf, tags: ['latest'] }]);
    expect(await count()).toBe(1);
    expect((await reading.get(`/examples/${id}`, 'b')).status).toBe(404);
  });

  it('are counted once, however often their event is applied', async () => {
    await made();
    await made();
    for (const event of (await reading.store.read(`dataset-${dataset}`)).slice(1)) {
      expect(event.type).toBe('ExamplesAdded');
      await transaction(reading.pool, (tx) => applyExamples(event as Recorded<ExamplesEvent>, tx));
    }
    expect([await count(), (await ids()).length, (await versions()).length]).toEqual([2, 2, 2]);
  });

  it('may be sent as JSON, one or many', async () => {
    const one = await reading.post('/examples', {
      dataset_id: dataset,
      inputs: { q: 1 },
      outputs: { a: 2 },
      split: 'train',
    });
    expect(one).toMatchObject({ status: 200, json: { inputs: { q: 1 }, outputs: { a: 2 } } });
    expect(one.json.metadata).toEqual({ dataset_split: ['train'] });
    expect(await get(one.json.id)).toEqual(one.json);
    const body = [
      { dataset_id: dataset, inputs: { q: 2 } },
      { dataset_id: dataset, inputs: { q: 3 }, id: newId() },
    ];
    const many = await reading.post('/examples/bulk', body);
    expect(many).toMatchObject({ status: 200 });
    expect(many.json[1]).toEqual({ id: body[1]!.id, dataset_id: dataset });
    expect(await ids()).toEqual([one.json, ...many.json].map(({ id }: { id: string }) => id).sort());
    expect(await reading.post('/examples/bulk', [body[0], { ...body[0], dataset_id: newId() }])).toMatchObject({
      status: 400,
    });
    expect(await reading.post('/examples/bulk', [])).toMatchObject({ status: 200, json: [] });
    expect(await count()).toBe(3);
  });

  it('are created once, however often a request is repeated, and another content is refused', async () => {
    const id = newId();
    const parts = {
      [id]: '{"metadata":{"a":1},"split":["x","y"]}',
      [`${id}.inputs`]: '{"q":1}',
      [`${id}.attachment.n`]: new Blob(['b']),
    };
    const answers = await Promise.all([create(parts), create(parts), create(parts)]);
    for (const answer of answers) expect(answer).toMatchObject({ status: 201, json: { example_ids: [id] } });
    expect(await versions()).toHaveLength(1);
    const other = await create({ ...parts, [`${id}.inputs`]: '{"q":2}' });
    expect(other).toMatchObject({ status: 409, headers: { 'x-should-retry': 'false' } });
    const elsewhere = (await reading.post('/datasets', { name: `dataset ${newId()}` })).json.id;
    const moved = await reading.post('/examples', { dataset_id: elsewhere, id, inputs: { q: 1 } });
    expect(moved).toMatchObject({ status: 409, json: { detail: `Example ${id} already exists in another dataset.` } });
  });

  it('come all or not at all', async () => {
    const [taken, fresh] = [await made(), newId()];
    const answers: [Parts, number][] = [
      [{ [fresh]: '{}', [`${fresh}.inputs`]: '{}', [taken.id]: '{}', [`${taken.id}.inputs`]: '{"other":1}' }, 409],
      [{ [fresh]: '{}' }, 422],
      [{ [fresh]: '{}', [`${fresh}.inputs`]: '[1]' }, 422],
      [{ [fresh]: '[]', [`${fresh}.inputs`]: '{}' }, 422],
      [{ [fresh]: '{', [`${fresh}.inputs`]: '{}' }, 422],
      [{ [`${fresh}.inputs`]: '{}', [`${fresh}.other`]: '{}' }, 422],
      [{ [fresh]: '{"split":[""]}', [`${fresh}.inputs`]: '{}' }, 422],
      [{ [fresh]: `{"source_run_id":"${newId()}"}`, [`${fresh}.inputs`]: '{}' }, 404],
      [{ [fresh]: '{"use_source_run_io":true}' }, 422],
    ];
    for (const [parts, status] of answers) expect([parts, (await create(parts)).status]).toEqual([parts, status]);
    expect((await create({ [fresh]: '{}', [`${fresh}.inputs`]: '{}' }, 'b')).status).toBe(404);
    expect(await ids()).toEqual([taken.id]);
    expect(await versions()).toHaveLength(1);
  });

  it('at the same time are all there, in versions of their own', async () => {
    const all = await Promise.all(Array.from({ length: 12 }, (_, n) => made(`{"n":${n}}`)));
    expect(await ids()).toEqual(all.map(({ id }) => id).sort());
    expect(new Set(all.map(({ asOf }) => asOf)).size).toBe(12);
    expect(await count()).toBe(12);
    const sorted = all.toSorted((left, right) => (left.asOf < right.asOf ? -1 : 1));
    for (const [n, { asOf }] of sorted.entries()) {
      expect(await ids(`as_of=${encodeURIComponent(asOf)}`)).toHaveLength(n + 1);
    }
  });

  it('from runs have what these have', async () => {
    const [run, foreign] = [newId(), newId()];
    const sent = { name: 'r', run_type: 'chain', inputs: { q: 1 }, outputs: { a: 1 }, session_name: 'source' };
    const form = new FormData();
    form.append(
      `post.${run}`,
      new Blob([JSON.stringify({ ...sent, id: run, start_time: '2026-01-01T00:00:00Z' })], {
        type: 'application/json',
      }),
    );
    for (const name of ['one', 'two'])
      form.append(`attachment.${run}.${name}`, new Blob([name], { type: 'text/plain' }));
    expect(await reading.post('/runs/multipart', form)).toMatchObject({ status: 202 });
    expect(await reading.post('/runs', { ...sent, id: foreign }, 'b')).toMatchObject({ status: 202 });
    const body = { dataset_id: dataset, source_run_id: run };
    const whole = (await reading.post('/examples', { ...body, use_source_run_io: true })).json;
    expect(whole).toMatchObject({ inputs: { q: 1 }, outputs: { a: 1 }, source_run_id: run });
    expect(Object.keys(whole.attachment_urls)).toEqual(['attachment.one', 'attachment.two']);
    const part = { ...body, inputs: { own: 1 }, use_source_run_attachments: ['two'] };
    const own = (await reading.post('/examples', part)).json;
    expect(own).toMatchObject({ inputs: { own: 1 }, outputs: null, source_run_id: run });
    expect(Object.keys(own.attachment_urls)).toEqual(['attachment.two']);
    // They outlive the runs.
    const { id } = (await reading.get('/sessions?name=source')).json[0];
    expect((await reading.send('DELETE', `/sessions/${id}`)).status).toBe(200);
    expect(await content(own.attachment_urls['attachment.two'].presigned_url)).toBe('two');
    expect((await reading.post('/examples', { ...body, source_run_id: foreign, use_source_run_io: true })).status).toBe(
      404,
    );
  });
});

const content = async (url: string): Promise<string> => {
  const { pathname, search } = new URL(url, 'http://here');
  const answer = await reading.get(pathname + search);
  expect(answer.status).toBe(200);
  return answer.text;
};

describe('Attachments of examples', () => {
  const urls = async (id: string): Promise<Record<string, { presigned_url: string; mime_type: string }>> =>
    (await get(id)).attachment_urls ?? {};

  it('are read at signed addresses, and in lists when these are selected', async () => {
    const { id } = await made('{}', { 'attachment.a b.txt': new Blob(['first'], { type: 'text/plain; length=5' }) });
    const { 'attachment.a b.txt': found } = await urls(id);
    expect(found!.mime_type).toBe('text/plain');
    expect(await content(found!.presigned_url)).toBe('first');
    const { pathname, searchParams } = new URL(found!.presigned_url, 'http://here');
    for (const [name, value] of [
      ['name', 'other'],
      ['expires', '1'],
      ['signature', 'x'],
      ['dataset', newId()],
    ] as const) {
      const changed = new URLSearchParams(searchParams);
      changed.set(name, value);
      expect((await reading.get(`${pathname}?${changed.toString()}`)).status).toBe(403);
    }
    expect(await list('select=attachment_urls')).toMatchObject([{ attachment_urls: { 'attachment.a b.txt': {} } }]);
    expect(await list()).toMatchObject([{ attachment_urls: null }]);
    await reading.send('DELETE', `/datasets/${dataset}`);
    expect(await list()).toEqual([]);
    expect((await reading.get(pathname + `?${searchParams.toString()}`)).status).toBe(404);
  });

  it('are added, renamed, retained and taken away; earlier versions keep theirs', async () => {
    const { id, asOf } = await made('{}', {
      'attachment.a': new Blob(['A']),
      'attachment.b': new Blob(['B']),
      'attachment.c': new Blob(['C']),
    });
    expect((await send('PATCH', { [id]: '{}', [`${id}.attachment.d`]: new Blob(['D']) })).status).toBe(200);
    expect(Object.keys(await urls(id))).toEqual(['a', 'b', 'c', 'd'].map((name) => `attachment.${name}`));
    const operations = '{"rename":{"a":"b"},"retain":["d"]}';
    expect((await send('PATCH', { [id]: '{}', [`${id}.attachments_operations`]: operations })).status).toBe(200);
    const after = await urls(id);
    expect(Object.keys(after)).toEqual(['attachment.b', 'attachment.d']);
    expect(await content(after['attachment.b']!.presigned_url)).toBe('A');
    expect(Object.keys((await get(id, asOf)).attachment_urls)).toHaveLength(3);
    for (const wrong of ['{"retain":["a"]}', '{"rename":{"b":"x","d":"x"}}']) {
      expect((await send('PATCH', { [id]: '{}', [`${id}.attachments_operations`]: wrong })).status).toBe(400);
    }
    expect((await reading.send('PATCH', `/examples/${id}`, { attachments_operations: {} })).status).toBe(200);
    expect(await urls(id)).toEqual({});
  });
});

describe('Examples that are changed', () => {
  it('keep what is not named, and earlier versions stay', async () => {
    const { id, asOf } = await made('{"q":1}', { outputs: '{"a":1}' }, '{"metadata":{"m":1},"split":"train"}');
    const changed = await send('PATCH', { [id]: '{"metadata":{"n":2}}', [`${id}.outputs`]: HOSTILE });
    expect(changed).toMatchObject({ status: 200, json: { count: 1, example_ids: [id] } });
    const now = await reading.get(`/examples/${id}`);
    expect(now.json).toMatchObject({ inputs: { q: 1 }, metadata: { n: 2, dataset_split: ['train'] } });
    expect(now.text).toContain(`"outputs":${HOSTILE}`);
    expect(now.json.modified_at).toBe(changed.json.as_of);
    expect(await get(id, asOf)).toMatchObject({ outputs: { a: 1 }, metadata: { m: 1, dataset_split: ['train'] } });
    expect(now.json.created_at).toBe((await get(id, asOf)).created_at);
    expect(await reading.send('PATCH', `/examples/${id}`, { split: ['test'] })).toMatchObject({ status: 200 });
    expect((await get(id)).metadata).toEqual({ n: 2, dataset_split: ['test'] });
    const before = await versions();
    expect(await reading.send('PATCH', `/examples/${id}`, { inputs: null })).toMatchObject({ status: 200 });
    expect(await versions()).toEqual(before);
  });

  it('are all of the dataset and of the workspace, or nothing happens', async () => {
    const { id } = await made();
    const other = newId();
    expect((await send('PATCH', { [id]: '{}', [`${id}.inputs`]: '{"x":1}', [other]: '{}' })).json.detail).toBe(
      `Example ID ${other} not found.`,
    );
    const bulk = [
      { id, inputs: { x: 1 } },
      { id: other, inputs: {} },
    ];
    expect((await reading.send('PATCH', '/examples/bulk', bulk)).status).toBe(404);
    expect((await reading.send('PATCH', `/examples/${id}`, { inputs: { x: 1 } }, 'b')).status).toBe(404);
    expect((await send('PATCH', { [id]: '{}', [`${id}.inputs`]: '{"x":1}' }, 'b')).status).toBe(404);
    expect((await reading.send('PATCH', `/examples/${id}`, { dataset_id: newId(), inputs: {} })).status).toBe(404);
    const elsewhere = { [id]: JSON.stringify({ dataset_id: other }), [`${id}.inputs`]: '{"x":1}' };
    expect(await send('PATCH', elsewhere)).toMatchObject({
      status: 400,
      json: { detail: expect.stringMatching(/^dataset_id of example .* cannot be changed/) },
    });
    const created = { [other]: JSON.stringify({ dataset_id: newId() }), [`${other}.inputs`]: '{}' };
    expect(await create(created)).toMatchObject({
      status: 400,
      json: { detail: expect.stringMatching(/^dataset_id is .* but the path names/) },
    });
    expect((await reading.get(`/examples/${other}`)).status).toBe(404);
    expect((await get(id)).inputs).toEqual({ q: 1 });
    expect((await reading.send('PATCH', '/examples/bulk', bulk.slice(0, 1))).json).toEqual({
      message: '1 examples updated',
    });
    expect((await get(id)).inputs).toEqual({ x: 1 });
  });

  it('end when they are deleted, and can still be read as of before', async () => {
    const [first, second, third] = [await made(), await made(), await made()];
    expect((await reading.send('DELETE', `/examples/${first.id}`, undefined, 'b')).status).toBe(404);
    const missing = await reading.send('DELETE', `/examples?example_ids=${first.id}&example_ids=${newId()}`);
    expect(missing.status).toBe(404);
    expect(await count()).toBe(3);
    expect(await reading.send('DELETE', `/examples/${first.id}`)).toMatchObject({ status: 200 });
    expect(await reading.send('DELETE', `/examples?example_ids=${second.id}&example_ids=${third.id}`)).toMatchObject({
      status: 200,
    });
    expect(await ids()).toEqual([]);
    expect(await count()).toBe(0);
    expect((await get(first.id, third.asOf)).id).toBe(first.id);
    expect((await reading.get(`/examples/${first.id}`)).status).toBe(404);
    expect(await versions()).toHaveLength(5);
    expect((await reading.get(`/datasets/${dataset}/versions?example=${first.id}`)).json).toHaveLength(2);
    expect((await reading.send('DELETE', `/examples/${first.id}`)).status).toBe(404);
    // The same id may begin again.
    expect((await reading.post('/examples', { dataset_id: dataset, id: first.id, inputs: { q: 1 } })).status).toBe(200);
  });
});

describe('Splits, tags and versions', () => {
  const split = (split_name: string, examples: readonly string[], remove = false) =>
    reading.send('PUT', `/datasets/${dataset}/splits`, { split_name, examples, remove });
  const splits = async (search = '') => (await reading.get(`/datasets/${dataset}/splits?${search}`)).json;

  it('put examples into splits and take them out', async () => {
    const [one, two] = [await made('{}', {}, '{"metadata":{"m":1}}'), await made()];
    expect(await split('train', [one.id, two.id])).toMatchObject({ status: 200 });
    expect(await splits()).toEqual(['train']);
    expect((await get(one.id)).metadata).toEqual({ m: 1, dataset_split: ['train'] });
    const before = await versions();
    await split('train', [one.id]);
    expect(await versions()).toEqual(before);
    await split('train', [two.id], true);
    expect(await ids('splits=train')).toEqual([one.id]);
    expect(await ids('splits=base')).toEqual([two.id]);
    expect((await split('x', [one.id, newId()])).status).toBe(404);
    expect(await splits(`as_of=${encodeURIComponent(two.asOf)}`)).toEqual(['base']);
    const operations = (values: string[]) => ({
      example_ids: [one.id, two.id],
      operations: [{ key: 'dataset_split', operation: 'array_add', values }],
    });
    const at = (id: string) => `/v1/platform/datasets/${id}/examples/metadata`;
    expect(await reading.send('PATCH', at(dataset), operations(['a', 'b']))).toMatchObject({
      status: 200,
      json: { count: 2 },
    });
    expect(await splits()).toEqual(['a', 'b', 'train']);
    expect((await reading.send('PATCH', at(newId()), operations(['a']))).status).toBe(404);
    expect((await reading.send('PATCH', at(dataset), operations(['a']), 'b')).status).toBe(404);
  });

  it('name versions, and every read takes the name for the time', async () => {
    const [first, second] = [await made('{"v":1}'), await made('{"v":2}')];
    const tag = (name: string, as_of: string, tenant?: 'a' | 'b') =>
      reading.send('PUT', `/datasets/${dataset}/tags`, { tag: name, as_of }, tenant);
    expect(await tag('prod', first.asOf)).toMatchObject({ status: 200 });
    expect(await versions()).toEqual([
      { as_of: second.asOf, tags: ['latest'] },
      { as_of: first.asOf, tags: ['prod'] },
    ]);
    expect(await ids('as_of=prod')).toEqual([first.id]);
    expect((await reading.get(`/examples/count?dataset=${dataset}&as_of=prod`)).json).toBe(1);
    expect((await reading.get(`/examples/${second.id}?as_of=prod`)).status).toBe(404);
    expect((await reading.get(`/examples/${first.id}?as_of=prod`)).status).toBe(200);
    expect((await reading.get(`/datasets/${dataset}/version?tag=prod`)).json).toEqual({
      as_of: first.asOf,
      tags: ['prod'],
    });
    expect((await reading.get(`/datasets/${dataset}/versions?search=PRO`)).json).toHaveLength(1);
    await tag('prod', second.asOf);
    expect(await ids('as_of=prod')).toEqual([first.id, second.id].sort());
    expect((await tag('prod', '2020-01-01T00:00:00Z')).status).toBe(404);
    // A client names the time at which it was done, which is later than the version.
    const later = new Date(Date.parse(second.asOf) + 60_000).toISOString();
    expect(await tag('done', later)).toMatchObject({ status: 200 });
    expect((await reading.get(`/datasets/${dataset}/version?tag=done`)).json.as_of).toBe(second.asOf);
    expect((await tag('latest', first.asOf)).status).toBe(400);
    expect((await tag('prod', first.asOf, 'b')).status).toBe(404);
    expect((await reading.get(`/examples?dataset=${dataset}&as_of=other`)).json.detail).toBe(
      "Dataset version 'other' not found.",
    );
    expect((await reading.get(`/examples?dataset=${dataset}&as_of=prod`, 'b')).status).toBe(404);
  });

  it('tell what two versions have different', async () => {
    const [kept, changed, gone] = [await made(), await made(), await made()];
    await reading.send('PATCH', `/examples/${changed.id}`, { inputs: { x: 1 } });
    await reading.send('DELETE', `/examples/${gone.id}`);
    const added = await made();
    const diff = async (from: string, to: string) =>
      (
        await reading.get(
          `/datasets/${dataset}/versions/diff?from_version=${encodeURIComponent(from)}&to_version=${encodeURIComponent(to)}`,
        )
      ).json;
    const expected = { examples_added: [added.id], examples_modified: [changed.id], examples_removed: [gone.id] };
    expect(await diff(gone.asOf, 'latest')).toEqual(expected);
    await reading.send('PUT', `/datasets/${dataset}/tags`, { tag: 'before', as_of: gone.asOf });
    expect(await diff('before', added.asOf)).toEqual(expected);
    expect(await diff('latest', 'before')).toMatchObject({ examples_added: [gone.id], examples_removed: [added.id] });
    expect(await diff('before', 'before')).toEqual({ examples_added: [], examples_modified: [], examples_removed: [] });
    expect(kept.id).not.toBe(changed.id);
  });
});

it('Examples of a dataset that uploads fill are left alone, while the dataset itself can be changed', async () => {
  dataset = newId();
  const data = { name: `uploaded ${dataset}`, description: null, data_type: 'kv', externally_managed: true };
  const created = { type: 'DatasetCreated', data, id: newId() };
  const metadata = { tenant: reading.tenants.a };
  const { position } = await reading.store.append(`dataset-${dataset}`, 0, [created], metadata);
  await reading.followers.passed(position, undefined, 60_000);
  const id = await reading.insert('examples', rows.example(reading.tenants.a, dataset));
  const detail = `Dataset ${dataset} is filled by uploads of experiments: its examples cannot be changed in another way.`;
  for (const refused of [
    await reading.post('/examples', { dataset_id: dataset, inputs: {} }),
    await reading.send('PATCH', `/examples/${id}`, { inputs: {} }),
    await reading.send('DELETE', `/examples/${id}`),
    await reading.send('PUT', `/datasets/${dataset}/splits`, { split_name: 'a', examples: [id] }),
  ]) {
    expect(refused).toMatchObject({ status: 400, json: { detail } });
  }
  expect((await reading.send('PATCH', `/datasets/${dataset}`, { description: 'mine' })).status).toBe(200);
  const asOf = (await versions())[0]!.as_of;
  expect((await reading.send('PUT', `/datasets/${dataset}/tags`, { tag: 'prod', as_of: asOf })).status).toBe(200);
  expect(await ids('as_of=prod')).toEqual([id]);
});
