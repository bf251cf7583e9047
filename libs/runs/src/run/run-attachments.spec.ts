import { randomBytes } from 'node:crypto';
import { v4 as newId } from 'uuid';
import { PayloadSweeper } from '../persist/payload-sweeper.worker';
import { startUploading } from '@fairlead/evaluation/testing';
import { experiment, type Uploading } from '@fairlead/experiments/testing';

let service: Uploading;
beforeAll(async () => {
  service = await startUploading();
});
afterAll(() => service.stop());
afterEach(() => jest.restoreAllMocks());

type Part = readonly [name: string, type: string, data: Buffer];

const run = (id: string, session_name: string): Part => {
  const json = { id, name: 'answer', run_type: 'chain', start_time: '2026-01-01T00:00:00Z', session_name };
  return [`post.${id}`, 'application/json', Buffer.from(JSON.stringify(json))];
};
/** As the SDKs write it. */
function send(...parts: readonly Part[]) {
  const chunks = parts.flatMap(([name, type, data]) => [
    `--limit\r\nContent-Disposition: form-data; name="${name}"; filename="${name}"\r\n`,
    `Content-Type: ${type}; length=${data.length}\r\n\r\n`,
    data,
    '\r\n',
  ]);
  const headers = { 'x-api-key': 'a', 'content-type': 'multipart/form-data; boundary=limit' };
  return service.send('POST', '/api/v1/runs/multipart', [...chunks, '--limit--\r\n'], headers);
}
const read = async (id: string) => (await service.get(`/api/v1/runs/${id}`)).json;
async function fetched(url: string) {
  const { pathname, search } = new URL(url);
  const response = await service.app.inject({ method: 'GET', url: pathname + search });
  return { status: response.statusCode, headers: response.headers, body: response.rawPayload };
}
async function attached(data: Buffer, session = `session ${newId()}`, type = 'image/png') {
  const id = newId();
  expect((await send(run(id, session), [`attachment.${id}.picture`, type, data])).status).toBe(202);
  const answer = await read(id);
  return {
    id,
    session: answer.session_id as string,
    url: answer.s3_urls['attachment.picture'].presigned_url as string,
  };
}
const kept = async () => (await service.pool.query<{ bytes: string }>('select bytes from payloads')).rows;

describe('an attachment of a run', () => {
  it('is named by comparison views too', async () => {
    const dataset_name = newId();
    const uploaded = await service.upload(experiment({ dataset_name }));
    await service.settled();
    const reference_dataset_id = uploaded.json.dataset.id as string;
    const examples = await service.get(`/api/v1/examples?dataset=${reference_dataset_id}`);
    const headers = { 'x-api-key': 'a', 'content-type': 'application/json' };
    const post = (path: string, body: object) => service.send('POST', path, [JSON.stringify(body)], headers);
    const created = await post('/api/v1/sessions', { name: newId(), reference_dataset_id });
    const id = newId();
    const json = { id, name: 'answer', session_id: created.json.id, reference_example_id: examples.json[0].id };
    const note = Buffer.from('seen');
    const parts: Part[] = [[`post.${id}`, 'application/json', Buffer.from(JSON.stringify(json))]];
    expect((await send(...parts, [`attachment.${id}.note`, 'text/plain', note])).status).toBe(202);
    const view = { session_ids: [created.json.id, uploaded.json.experiment.id] };
    const shown = (await post(`/api/v1/datasets/${reference_dataset_id}/runs`, view)).json[0].runs;
    expect(shown.map((run: { id: string; s3_urls: object | null }) => [run.id === id, run.s3_urls === null])).toEqual([
      [true, false],
      [false, true],
    ]);
    expect((await fetched(shown[0].s3_urls['attachment.note'].presigned_url)).body).toEqual(note);
  });

  it('is given back byte for byte at the address that the run names, and never as a page', async () => {
    const [large, page] = [randomBytes(3_000_001), Buffer.from('<script>alert(1)</script>')];
    const id = newId();
    const sent = await send(
      run(id, 'attached'),
      [`attachment.${id}.a picture ä&?`, 'image/png', large],
      [`attachment.${id}.page`, 'text/html', page],
      [`attachment.${id}.__proto__`, 'not a type', Buffer.alloc(0)],
    );
    expect([sent.status, sent.headers.warning]).toEqual([202, undefined]);
    const { s3_urls } = await read(id);
    const url = (name: string) => fetched(s3_urls[`attachment.${name}`].presigned_url);
    expect(s3_urls['attachment.page']).toEqual({
      presigned_url: expect.stringMatching(/^http:\/\/[^/]+\/api\/v1\/runs\//),
      mime_type: 'text/html',
    });
    expect((await url('a picture ä&?')).body.equals(large)).toBe(true);
    const shown = await url('page');
    expect(shown).toMatchObject({
      status: 200,
      body: page,
      headers: {
        'content-type': 'text/html',
        'content-disposition': 'attachment',
        'content-security-policy': 'sandbox',
        'x-content-type-options': 'nosniff',
      },
    });
    expect(await url('__proto__')).toMatchObject({ status: 200, headers: { 'content-length': '0' } });
  });

  it('is shown by queries of both versions, where it is selected', async () => {
    const { id, session } = await attached(Buffer.from('shown'));
    const post = async (path: string, body: object) =>
      (
        await service.send('POST', path, [JSON.stringify(body)], {
          'content-type': 'application/json',
          'x-api-key': 'a',
        })
      ).json;
    const [first] = (await post('/api/v1/runs/query', { id: [id] })).runs;
    expect(Object.keys(first.s3_urls)).toEqual(['attachment.picture']);
    const [second] = (await post('/v2/runs/query', { ids: [id], project_ids: [session], selects: ['ATTACHMENTS'] }))
      .items;
    expect((await fetched(second.attachments.picture)).body.toString()).toBe('shown');
    expect((await post('/api/v1/runs/query', { id: [id], select: ['name'] })).runs[0].s3_urls).toBeNull();
  });

  it('is added to a run that is known, and takes the place of one of the same name', async () => {
    const { id } = await attached(Buffer.from('first'));
    const more = [`attachment.${id}.more`, 'text/plain', Buffer.from('more')] as const;
    expect((await send([`attachment.${id}.picture`, 'text/plain', Buffer.from('second')], more)).status).toBe(202);
    const { s3_urls, name } = await read(id);
    expect([name, Object.keys(s3_urls)]).toEqual(['answer', ['attachment.more', 'attachment.picture']]);
    const second = await fetched(s3_urls['attachment.picture'].presigned_url);
    expect([second.body.toString(), second.headers['content-type']]).toEqual(['second', 'text/plain']);
  });

  it('is opened by no changed, borrowed or expired address', async () => {
    const [{ url }, other] = [await attached(Buffer.from('mine')), await attached(Buffer.from('other'))];
    const changed = (name: string, value: string) => {
      const copy = new URL(url);
      copy.searchParams.set(name, value);
      return fetched(copy.href);
    };
    for (const [name, value] of [
      ['tenant', service.tenants.b],
      ['name', 'else'],
      ['expires', '99999999999999'],
      ['signature', 'A'.repeat(22)],
      ['signature', new URL(other.url).searchParams.get('signature')!],
    ] as const) {
      expect({ name, status: (await changed(name, value)).status }).toEqual({ name, status: 403 });
    }
    expect((await fetched(url.replace(/\?.*/, ''))).status).toBe(422);
    expect((await service.get(`/api/v1/runs/${other.id}`, 'b')).status).toBe(404);
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_601_000);
    expect((await fetched(url)).status).toBe(403);
  });

  it('goes with the last session that has it, and not before', async () => {
    const data = randomBytes(4321);
    const sweeper = service.app.get(PayloadSweeper, { strict: false });
    const bytes = async () => (await kept()).filter((row) => row.bytes === '4321').length;
    const [first, second] = [await attached(data), await attached(data)];
    expect(await bytes()).toBe(1);
    const gone = async ({ session, url }: typeof first) => {
      await service.send('DELETE', `/api/v1/sessions/${session}`, [], { 'x-api-key': 'a' });
      await service.settled();
      expect((await fetched(url)).status).toBe(404);
      await sweeper.sweep(new Date(Date.now() + 60_000));
    };
    await gone(first);
    expect([await bytes(), (await fetched(second.url)).body.equals(data)]).toEqual([1, true]);
    await gone(second);
    expect(await bytes()).toBe(0);
    expect(
      (await service.pool.query('select from payload_sessions where session_id = $1', [second.session])).rowCount,
    ).toBe(0);
  });

  it('is refused with a bad name, twice, or when there are too many, and its run is kept', async () => {
    const before = await kept();
    const named = (id: string, name: string): Part => [
      `attachment.${id}.${name}`,
      'text/plain',
      Buffer.from(`refused ${name}`),
    ];
    const many = (id: string, count: number) => Array.from({ length: count }, (_, nth) => named(id, `n${nth}`));
    const unnamed = (id: string): Part => [`attachment.${id}`, 'text/plain', Buffer.from('unnamed')];
    const wrong: [(id: string) => Part[], number][] = [
      [(id) => [named(id, 'a\u0000b')], 1],
      [(id) => [named(id, 'x'.repeat(201))], 1],
      [(id) => [unnamed(id)], 1],
      [(id) => many(id, 101), 101],
      [(id) => many(id, 1001), 1001],
    ];
    for (const [parts, count] of wrong) {
      const id = newId();
      const { status, json } = await send(run(id, 'refused'), ...parts(id));
      expect([status, json.refused.length]).toEqual([202, Math.min(count, 1001)]);
      expect(json.refused[0].id).toBe(id);
      expect((await read(id)).s3_urls).toBeNull();
    }
    expect(await kept()).toEqual(before);
    const id = newId();
    const twice = await send(run(id, 'refused'), named(id, 'x'), named(id, 'x'));
    expect([twice.status, twice.json.refused.length]).toEqual([202, 1]);
    expect((await send(...many(id, 99))).status).toBe(202);
    expect(Object.keys((await read(id)).s3_urls)).toHaveLength(100);
    expect(await send(named(id, 'one-more'))).toMatchObject({
      status: 413,
      json: { refused: [{ id, msg: expect.stringContaining('more than 100') }] },
    });
  });
});
