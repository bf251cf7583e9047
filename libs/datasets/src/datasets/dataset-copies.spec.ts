import { HOSTILE, type Reading, rows, startReading } from '@fairlead/experiments/testing';
import { v4 as newId } from 'uuid';

let reading: Reading;
beforeAll(async () => {
  reading = await startReading();
});
afterAll(() => reading.stop());

const copy = (dataset: string, body: object, tenant?: 'a' | 'b', headers?: Record<string, string>) =>
  reading.send('POST', `/datasets/${dataset}/copy`, { name: `copy ${newId()}`, ...body }, tenant, headers);
const examplesOf = async (dataset: string, search = '') => {
  const { json } = await reading.get(`/examples?dataset=${dataset}&order=recently_created&${search}`);
  return (json as { id: string }[]).reverse();
};

/** A dataset that only uploads change, with so many examples. */
async function uploaded(count: number, example: (place: number) => object = () => ({})): Promise<string> {
  const { a } = reading.tenants;
  const id = newId();
  const data = { name: `uploaded ${id}`, description: 'of uploads', data_type: 'kv', externally_managed: true };
  await reading.store.append(`dataset-${id}`, 0, [{ type: 'DatasetCreated', data }], { tenant: a });
  expect((await reading.get(`/datasets/${id}`)).json.externally_managed).toBe(true);
  for (let place = 0; place < count; place++) {
    const row = rows.example(a, id, { created_at: `2026-01-01T00:00:${String(place).padStart(2, '0')}Z` });
    await reading.insert('examples', { ...row, ...example(place) });
  }
  return id;
}

describe('A copy of a dataset', () => {
  it('has the examples of one that only uploads change, and can be changed', async () => {
    const source = await uploaded(3, (place) => ({
      inputs: HOSTILE,
      outputs: place === 1 ? null : HOSTILE,
      metadata: place === 2 ? '{"topic":"a","dataset_split":["hard"]}' : null,
    }));
    const name = `own ${newId()}`;
    const made = await copy(source, { name });
    expect(made).toMatchObject({ status: 200 });
    const { id } = made.json;
    expect(made.json).toMatchObject({ name, description: 'of uploads', externally_managed: false, example_count: 3 });
    expect(made.json).toEqual((await reading.get(`/datasets/${id}`)).json);
    expect(made.json.metadata.copied_from).toEqual({
      dataset_id: source,
      name: `uploaded ${source}`,
      as_of: expect.stringMatching(/^2026-/),
    });
    const [before, after] = [await examplesOf(source), await examplesOf(id)];
    const contents = (example: object) => ({
      ...example,
      id: 0,
      dataset_id: 0,
      modified_at: 0,
      name: 0,
    });
    expect(after.map(contents)).toEqual(before.map(contents));
    expect(new Set([...before, ...after].map((example) => example.id)).size).toBe(6);
    const bytes = await reading.get(`/examples/${after[0]!.id}`);
    expect(bytes.text).toContain(`"inputs":${HOSTILE}`);
    expect((await reading.get(`/datasets/${id}/splits`)).json.sort()).toEqual(['base', 'hard']);
    expect((await reading.post('/examples', { dataset_id: id, inputs: { q: 1 } })).status).toBe(200);
    expect(await examplesOf(source)).toHaveLength(3);
  });

  it('is of one version, or of some splits alone', async () => {
    const { id } = (await reading.post('/datasets', { name: `versions ${newId()}`, metadata: { owner: 'us' } })).json;
    await reading.post('/examples', { dataset_id: id, inputs: { q: 1 }, split: 'easy' });
    const [{ as_of: first }] = (await reading.get(`/datasets/${id}/versions`)).json;
    await reading.post('/examples', { dataset_id: id, inputs: { q: 2 }, split: ['hard', 'easy'] });
    await reading.post('/examples', { dataset_id: id, inputs: { q: 3 } });
    const inputs = async (body: object) => {
      const { json } = await copy(id, body);
      expect(json.metadata).toMatchObject({ owner: 'us', copied_from: { dataset_id: id } });
      return (await examplesOf(json.id)).map((example) => (example as unknown as { inputs: { q: number } }).inputs.q);
    };
    expect(await inputs({})).toEqual([1, 2, 3]);
    expect(await inputs({ as_of: first })).toEqual([1]);
    expect(await inputs({ splits: ['hard'] })).toEqual([2]);
    expect((await copy(id, { as_of: 'no such tag' })).status).toBe(404);
  });

  it('has what is attached to the examples, also after the other dataset is deleted', async () => {
    const { id } = (await reading.post('/datasets', { name: `attached ${newId()}` })).json;
    const form = new FormData();
    const example = newId();
    form.append(example, new Blob(['{}'], { type: 'application/json' }));
    form.append(`${example}.inputs`, new Blob(['{}'], { type: 'application/json' }));
    form.append(`${example}.attachment.note`, new Blob(['attached'], { type: 'text/plain' }));
    expect((await reading.send('POST', `/v1/platform/datasets/${id}/examples`, form)).status).toBe(201);
    const made = (await copy(id, {})).json;
    expect((await reading.send('DELETE', `/datasets/${id}`)).status).toBe(200);
    const [copied] = await examplesOf(made.id);
    const { attachment_urls: urls } = (await reading.get(`/examples/${copied!.id}`)).json;
    const { pathname, search } = new URL(urls['attachment.note'].presigned_url, 'http://here');
    expect((await reading.get(`${pathname}${search}`)).text).toBe('attached');
  });

  it('is made once for an Idempotency-Key, and under a name that nobody has', async () => {
    const source = await uploaded(2);
    const name = `once ${newId()}`;
    const headers = { 'idempotency-key': newId() };
    const first = await copy(source, { name }, 'a', headers);
    expect(first.status).toBe(200);
    const again = await copy(source, { name }, 'a', headers);
    expect([again.status, again.json.id]).toEqual([200, first.json.id]);
    expect((await copy(source, { name })).status).toBe(409);
    expect(await examplesOf(first.json.id)).toHaveLength(2);
    const many = await Promise.all(Array.from({ length: 4 }, () => copy(source, { name: 'copied at once' })));
    expect(many.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });

  it('is refused for what is too large, unknown or of others', async () => {
    const large = await uploaded(4, () => ({ inputs: JSON.stringify({ text: 'x'.repeat(7 * 1024 * 1024) }) }));
    const refused = await copy(large, { name: 'too large' });
    expect(refused).toMatchObject({
      status: 413,
      json: { detail: expect.stringContaining('or 24 MiB of them: copy some of its splits') },
    });
    const file = { sha256: 'a'.repeat(64), mime_type: 'text/plain', size: 1, note: 'x'.repeat(7 * 1024 * 1024) };
    const attached = await uploaded(4, () => ({ attachments: JSON.stringify({ file }) }));
    expect((await copy(attached, { name: 'too large' })).status).toBe(413);
    expect((await reading.get('/datasets?name=too%20large')).json).toEqual([]);
    const source = await uploaded(1);
    expect((await copy(source, {}, 'b')).status).toBe(404);
    expect((await copy(newId(), {})).status).toBe(404);
    for (const wrong of [{ name: '' }, { name: 7 }, { splits: [] }, { as_of: 5 }]) {
      expect([wrong, (await copy(source, wrong)).status]).toEqual([wrong, 422]);
    }
  });
});
