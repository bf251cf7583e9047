import { v4 as newId } from 'uuid';
import { startReading } from '@fairlead/evaluation/testing';
import { type Reading, rows } from '@fairlead/experiments/testing';

/** An example in no split is in `base`: answers say so, nothing that is kept does. */

let reading: Reading;
let dataset: string;
beforeAll(async () => (reading = await startReading()));
beforeEach(async () => {
  dataset = (await reading.post('/datasets', { name: `of splits ${newId()}` })).json.id;
});
afterAll(() => reading.stop());

const IN_BASE = { dataset_split: ['base'] };
/** Stored forms of examples that are in no split; earlier versions stored the last four as they were sent. */
const KEPT = [null, '{}', '{"n":1}', '{"dataset_split":[]}', '{"dataset_split":null}', '{"dataset_split":["base"]}'];

const made = async (more: object = {}) =>
  (await reading.post('/examples', { dataset_id: dataset, inputs: { q: 1 }, ...more })).json;
const one = async (id: string) => (await reading.get(`/examples/${id}`)).json;
const versions = async () => (await reading.get(`/datasets/${dataset}/versions`)).json as { as_of: string }[];
const splits = async () => (await reading.get(`/datasets/${dataset}/splits`)).json;
const found = async (search: string) =>
  (await reading.get(`/examples?dataset=${dataset}&${search}`)).json.map(({ id }: { id: string }) => id);
const kept = async (id: string) => {
  const { rows: found } = await reading.pool.query<{ metadata: string | null }>(
    'select metadata from examples where id = $1 and valid_to is null',
    [id],
  );
  return found[0]!.metadata;
};

const sendParts = (method: 'POST' | 'PATCH', parts: Readonly<Record<string, string>>) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(parts)) form.set(name, new Blob([value], { type: 'application/json' }));
  return reading.send(method, `/v1/platform/datasets/${dataset}/examples`, form);
};

describe('An example in no split', () => {
  it.each(KEPT)('is answered as one of `base` by every route, with %s as its metadata', async (metadata) => {
    const a = reading.tenants.a;
    const id = await reading.insert('examples', rows.example(a, dataset, { metadata }));
    const session = await reading.insert('sessions', rows.session(a, { reference_dataset_id: dataset }));
    const run = { dataset_id: dataset, example_id: id, example_from: '2026-01-01T00:00:00Z' };
    await reading.insert('runs', rows.run(a, session, run));
    const token = (await reading.send('PUT', `/datasets/${dataset}/share`)).json.share_token as string;
    const filters = ['', 'splits=base', 'select=metadata', 'as_of=2026-01-01T00:00:00Z', `id=${id}`];
    for (const json of ['{"dataset_split":["base"]}', '{}']) filters.push(`metadata=${encodeURIComponent(json)}`);
    for (const filter of ['has(metadata, "dataset_split")', 'eq(metadata_key, "dataset_split")']) {
      filters.push(`filter=${encodeURIComponent(filter)}`);
    }
    const lists = [
      ...filters.map((filter) => reading.get(`/examples?dataset=${dataset}&${filter}`)),
      reading.get(`/public/${token}/examples`),
      reading.post(`/datasets/${dataset}/runs`, { session_ids: [session] }),
      reading.post(`/api/v2/datasets/${dataset}/experiment-runs`, { experiment_ids: [session] }),
    ];
    for (const answer of await Promise.all(lists)) {
      expect(answer).toMatchObject({ status: 200 });
      const examples = answer.json.items ?? answer.json;
      expect(examples).toMatchObject([{ id, metadata: IN_BASE }]);
    }
    expect(await one(id)).toMatchObject({ metadata: { ...JSON.parse(metadata ?? '{}'), ...IN_BASE } });
    expect(await splits()).toEqual(['base']);
    expect(await found('splits=train')).toEqual([]);
    expect((await reading.get(`/examples/count?dataset=${dataset}&splits=base`)).json).toBe(1);
  });

  it('is answered so by the writes that make it, and kept without', async () => {
    for (const more of [{}, { metadata: {} }, { metadata: IN_BASE }, { split: 'base' }, { split: ['base', 'base'] }]) {
      const example = await made(more);
      expect(example.metadata).toEqual(IN_BASE);
      expect(await kept(example.id)).toBeNull();
    }
    const id = newId();
    const head = JSON.stringify({ metadata: { n: 1, ...IN_BASE } });
    expect(await sendParts('POST', { [id]: head, [`${id}.inputs`]: '{}' })).toMatchObject({ status: 201 });
    expect(await one(id)).toMatchObject({ metadata: { n: 1, ...IN_BASE } });
    expect(await kept(id)).toBe('{"n":1}');
  });

  it('does not change when what was read is sent back, and no version is made', async () => {
    const examples = [
      await made(),
      await made({ metadata: { n: 1.5, of: { a: ['x', null] } }, outputs: { a: 1 } }),
      await made({ metadata: {} }),
      await made({ split: ['train', 'test'], metadata: { n: 1 } }),
    ];
    const before = await versions();
    for (const { id, inputs, outputs, metadata } of examples) {
      const { dataset_split: split, ...others } = metadata;
      const sent = { inputs, outputs: outputs ?? undefined, metadata };
      for (const body of [
        { metadata },
        { metadata: JSON.parse(JSON.stringify({ dataset_split: split, ...others })) },
        { split },
        { split, metadata: others },
        { metadata: { ...others, dataset_split: null } },
        sent,
        { ...sent, dataset_id: dataset, split },
      ]) {
        expect(await reading.send('PATCH', `/examples/${id}`, body)).toMatchObject({ status: 200 });
        expect(await reading.send('PATCH', '/examples/bulk', [{ id, ...body }])).toMatchObject({ status: 200 });
      }
      const parts = { [id]: JSON.stringify({ metadata, split }), [`${id}.inputs`]: JSON.stringify(inputs) };
      expect(await sendParts('PATCH', parts)).toMatchObject({ status: 200, json: { as_of: before[0]!.as_of } });
      expect(
        await sendParts('POST', { ...parts, ...(outputs && { [`${id}.outputs`]: JSON.stringify(outputs) }) }),
      ).toMatchObject({ status: 201 });
      const again = { ...sent, id, dataset_id: dataset };
      expect(await reading.post('/examples', again)).toMatchObject({ status: 200, json: { metadata } });
      expect(await reading.post('/examples/bulk', [{ ...again, split }])).toMatchObject({ status: 200 });
      expect(
        await reading.send('PUT', `/datasets/${dataset}/splits`, { split_name: split[0], examples: [id] }),
      ).toMatchObject({ status: 200 });
    }
    expect(await versions()).toEqual(before);
    for (const example of examples) expect(await one(example.id)).toEqual({ ...example });
  });

  it('leaves `base` for the split that it is put into, and comes back when it is in none', async () => {
    const { id } = await made({ metadata: { n: 1 } });
    const put = (split_name: string, remove = false) =>
      reading.send('PUT', `/datasets/${dataset}/splits`, { split_name, examples: [id], remove });
    const shown = async () => (await one(id)).metadata;
    await put('base', true);
    expect(await shown()).toEqual({ n: 1, ...IN_BASE });
    await put('train');
    expect(await shown()).toEqual({ n: 1, dataset_split: ['train'] });
    await put('base');
    expect(await shown()).toEqual({ n: 1, dataset_split: ['train', 'base'] });
    expect(await found('splits=base')).toEqual([id]);
    await put('train', true);
    expect(await shown()).toEqual({ n: 1, ...IN_BASE });
    expect(await kept(id)).toBe('{"n":1}');
    for (const split of ['test', ['base'], ['test'], [], 'test', 'base']) {
      expect(await reading.send('PATCH', `/examples/${id}`, { split })).toMatchObject({ status: 200 });
      const names = [split].flat();
      expect((await shown()).dataset_split).toEqual(names.length > 0 ? names : ['base']);
    }
    // Metadata that name no split leave the example where it is.
    await reading.send('PATCH', `/examples/${id}`, { split: ['test'] });
    await reading.send('PATCH', `/examples/${id}`, { metadata: { m: 2 } });
    expect(await shown()).toEqual({ m: 2, dataset_split: ['test'] });
    await reading.send('PATCH', `/examples/${id}`, { metadata: { m: 2, ...IN_BASE } });
    expect(await shown()).toEqual({ m: 2, ...IN_BASE });
  });
});
