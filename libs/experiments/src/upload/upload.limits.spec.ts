import { execFileSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { until } from '@fairlead/postgres/testing';
import { v4 as uuid } from 'uuid';
import { experiment, row, startUploading, type Uploading } from '../testing/uploading';
import { zstd } from '../testing/zstd';

let service: Uploading;
beforeAll(async () => {
  service = await startUploading({
    maxBytes: 4_000_000,
    maxRowBytes: 100_000,
    maxHeaderBytes: 20_000,
    maxRatio: 50,
  });
});
afterAll(() => service.stop());

const PATH = '/api/v1/datasets/upload-experiment';

/** A zstd frame that repeats one byte: three bytes for every hundred thousand. */
function zstdBomb(blocks: number): Buffer {
  const parts: Buffer[] = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58])];
  for (let left = blocks; left > 0; left--) {
    const head = Buffer.alloc(4, ' ');
    head.writeUIntLE((100_000 << 3) | (1 << 1) | (left === 1 ? 1 : 0), 0, 3);
    parts.push(head);
  }
  return Buffer.concat(parts);
}

describe('an encoded body', () => {
  const varied = () =>
    experiment(
      {},
      Array.from({ length: 2000 }, () => row()),
    );

  it.each([
    ['identity', (bytes: Buffer) => bytes],
    ['gzip', (bytes: Buffer) => gzipSync(bytes)],
    ['GZIP', (bytes: Buffer) => gzipSync(bytes)],
    ['zstd', zstd],
  ])('in %s is taken in', async (encoding, encode) => {
    const body = encode(Buffer.from(JSON.stringify(varied())));
    const { status, json } = await service.upload(body, { 'content-encoding': encoding });
    expect(status).toBe(200);
    await service.settled();
    expect((await service.get(`/api/v1/sessions/${json.experiment.id}`)).json.run_count).toBe(2000);
  });

  it('in zstd as its own program writes it is taken in', async () => {
    let body: Buffer;
    try {
      body = execFileSync('zstd', ['-q', '-c'], { input: JSON.stringify(varied()) });
    } catch {
      return;
    }
    expect((await service.upload(body, { 'content-encoding': 'zstd' })).status).toBe(200);
  });

  it.each(['br', 'deflate', 'gzip, gzip', 'x'])('in %s is refused', async (encoding) => {
    const { status, json } = await service.upload(experiment(), { 'content-encoding': encoding });
    expect([status, json.detail]).toEqual([415, 'Content-Encoding must be gzip, zstd or identity.']);
  });

  it('that is no JSON by its content type is refused like any other body', async () => {
    const text = JSON.stringify(experiment());
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      const { status, json } = await service.upload(text, { 'content-type': type });
      expect([status, json.detail]).toMatchObject([422, [{ type: 'model_attributes_type', loc: ['body'] }]]);
      expect(json.detail[0].input.slice(0, 20)).toBe(text.slice(0, 20));
    }
    const typed = await service.upload(text, { 'content-type': 'application/vnd.test+json; charset=utf-8' });
    expect(typed.status).toBe(200);
  });

  it.each([
    ['gzip', 'cut off', gzipSync(JSON.stringify(experiment())).subarray(0, -20)],
    ['gzip', 'no such data', Buffer.from(JSON.stringify(experiment()))],
    ['gzip', 'damaged', Buffer.from(gzipSync(JSON.stringify(experiment()))).fill(0, 30, 60)],
    ['zstd', 'cut off', zstd(Buffer.from(JSON.stringify(experiment()))).subarray(0, -20)],
    ['zstd', 'no such data', Buffer.from(JSON.stringify(experiment()))],
  ])('in %s that is %s is refused', async (encoding, _, body) => {
    const { status } = await service.upload(body, { 'content-encoding': encoding });
    expect(status).toBe(400);
  });

  it.each([
    ['gzip', gzipSync(Buffer.alloc(3_000_000, ' '))],
    ['zstd', zstdBomb(30)],
  ])('in %s may not grow too much', async (encoding, body) => {
    const { status, json } = await service.upload(body, { 'content-encoding': encoding });
    expect([status, json.detail]).toEqual([413, 'The body exceeds the limit of 50 bytes for each compressed byte.']);
  });
});

describe('zstd data that costs more than it is worth is refused', () => {
  const frame = (window: number, block: Buffer, count = 1) =>
    Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, window]), ...repeated(block, count)]);
  const repeated = (bytes: Buffer, count: number) => Array.from({ length: count }, () => bytes);
  const empty = (last: boolean) => Buffer.from([last ? 1 : 0, 0, 0]);
  const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]);
  const upload = (body: Buffer) => service.upload(body, { 'content-encoding': 'zstd' });

  it.each([
    ['a window of 1.9 GB in ten bytes', frame(0xa7, Buffer.alloc(4))],
    ['a window a little above 8 MiB', frame(0x69, empty(true))],
    // One segment of 2 GB, whose size is its window.
    ['a single segment of 2 GB', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x78, 1, 0, 0])],
  ])('%s', async (_, body) => {
    const before = process.memoryUsage().arrayBuffers;
    const { status, json } = await upload(body);
    expect([status, json.detail]).toEqual([400, 'The zstd data asks for a window of more than 8388608 bytes.']);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * 1024 * 1024);
  });

  it.each([
    ['700,000 blocks of one byte', frame(0x68, Buffer.from([8, 0, 0, 0x20]), 700_000)],
    ['700,000 empty blocks', frame(0x68, empty(false), 700_000)],
    ['100,000 empty frames', Buffer.concat(repeated(frame(0x68, empty(true)), 100_000))],
    ['300,000 skippable frames', Buffer.concat(repeated(skippable, 300_000))],
  ])('%s', async (_, body) => {
    const { status, json } = await upload(body);
    expect([status, json.detail]).toEqual([400, 'The zstd data has too many small blocks or frames.']);
  });

  it('but a few frames one after the other are one body', async () => {
    const text = Buffer.from(JSON.stringify(experiment()));
    const half = text.length >> 1;
    expect((await upload(Buffer.concat([zstd(text.subarray(0, half)), zstd(text.subarray(half))]))).status).toBe(200);
  });
});

describe('a limit is named when it is exceeded', () => {
  it.each([
    ['bytes (UPLOAD_MAX_BYTES)', 413, () => [Buffer.alloc(5_000_000, ' ')]],
    [
      'bytes (UPLOAD_MAX_ROW_BYTES)',
      413,
      () => [JSON.stringify(experiment({}, [row({ inputs: { a: 'x'.repeat(100_000) } })]))],
    ],
    ['bytes together', 413, () => [JSON.stringify(experiment({ experiment_metadata: { a: 'x'.repeat(20_000) } }))]],
  ])('%s', async (name, expected, body) => {
    // Sent in chunks, without a length, and with one.
    const chunked = await service.send('POST', PATH, body());
    expect([chunked.status, chunked.json.detail]).toEqual([expected, expect.stringContaining(` ${name}.`)]);
    const bytes = Buffer.from(body()[0]!);
    const { status, json } = await service.send('POST', PATH, [bytes], { 'content-length': String(bytes.length) });
    expect([status, json.detail]).toEqual([expected, expect.stringContaining(` ${name}.`)]);
  });

  it('depth', async () => {
    const { status, json } = await service.upload(`{"results":${'['.repeat(100_000)}`);
    expect(status).toBe(422);
    expect(JSON.stringify(json.detail)).toContain('limit of 100 levels (MAX_DEPTH)');
  });

  it('and all of them are published', async () => {
    const { json } = await service.get('/info');
    expect(JSON.stringify(json)).toContain('"row_bytes":100000');
  });
});

describe('a slow client', () => {
  // Others are not waited for so briefly: a busy machine may take longer to start a decoder's thread.
  let hasty: Uploading;
  beforeAll(async () => (hasty = await startUploading({ idleMs: 1000 })));
  afterAll(() => hasty.stop());

  it('is given up when nothing arrives', async () => {
    let answered = false;
    async function* stalling() {
      yield '{"experiment_name":';
      await until(() => answered);
      yield '"late"}';
    }
    const { status } = await hasty.send('POST', PATH, stalling());
    answered = true;
    expect(status).toBe(408);
  });

  it('that sends a little at a time is given up as well', async () => {
    let answered = false;
    async function* dripping() {
      while (!answered) {
        yield ' ';
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    const { status } = await hasty.send('POST', PATH, dripping());
    answered = true;
    expect(status).toBe(408);
  });
});

describe('Runs that are sent in parts may be compressed', () => {
  const parts = (id: string, filling = '') =>
    Buffer.from(
      `--b\r\ncontent-disposition: form-data; name="post.${id}"\r\ncontent-type: application/json\r\n\r\n` +
        JSON.stringify({
          id,
          name: 'packed',
          run_type: 'chain',
          start_time: '2026-01-01T00:00:00Z',
          extra: { filling },
        }) +
        '\r\n--b--\r\n',
    );
  const post = (encoding: string, body: Buffer) =>
    service.send('POST', '/api/v1/runs/multipart', [body], {
      'content-type': 'multipart/form-data; boundary=b',
      'content-encoding': encoding,
    });

  it.each([
    ['gzip', gzipSync],
    ['zstd', zstd],
  ])('with %s', async (encoding, compress) => {
    const id = uuid();
    expect((await post(encoding, compress(parts(id)))).status).toBe(202);
    await service.settled();
    expect((await service.get(`/api/v1/runs/${id}`)).json).toMatchObject({ id, name: 'packed' });
  });

  it('but not with anything else, nor damaged, nor to more than what is taken', async () => {
    expect((await post('br', parts(uuid()))).status).toBe(415);
    expect((await post('gzip', parts(uuid()))).status).toBe(400);
    expect((await post('zstd', parts(uuid()))).status).toBe(400);
    expect((await post('gzip', gzipSync(Buffer.alloc(129 * 1024 * 1024, ' ')))).status).toBe(413);
  });
});
