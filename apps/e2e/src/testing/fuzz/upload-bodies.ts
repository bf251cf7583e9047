import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { JsonSchema } from './schema-texts';

const text: JsonSchema = { type: 'string' };
const time: JsonSchema = { type: 'string', format: 'date-time' };
const id: JsonSchema = { type: 'string', format: 'uuid' };
const free: JsonSchema = { type: 'object', additionalProperties: true };
const value: JsonSchema = { anyOf: [{ type: 'number' }, text, { type: 'boolean' }, free, { type: 'null' }] };

const score: JsonSchema = {
  type: 'object',
  properties: {
    key: text,
    score: { anyOf: [{ type: 'number' }, { type: 'boolean' }, { type: 'null' }] },
    value,
    comment: text,
    feedback_source: {
      type: 'object',
      properties: { type: { enum: ['app', 'api', 'model', 'auto_eval'] }, metadata: free },
      required: ['type'],
    },
    feedback_config: free,
    created_at: time,
    correction: { anyOf: [free, text] },
    extra: free,
  },
  required: ['key'],
};

const row: JsonSchema = {
  type: 'object',
  properties: {
    row_id: id,
    inputs: free,
    expected_outputs: free,
    actual_outputs: free,
    evaluation_scores: { type: 'array', items: score },
    start_time: time,
    end_time: time,
    run_name: text,
    error: text,
    run_metadata: free,
  },
  required: ['row_id', 'inputs', 'start_time', 'end_time'],
};

/** The body of an upload. */
export const uploadSchema: JsonSchema = {
  type: 'object',
  properties: {
    experiment_name: text,
    experiment_description: text,
    experiment_start_time: { enum: ['2026-01-01T00:00:00Z', '2026-01-01'] },
    experiment_end_time: { enum: ['2026-01-01T00:01:00Z', '2026-01-02', '9999-12-31'] },
    dataset_id: id,
    dataset_name: text,
    dataset_description: text,
    experiment_metadata: free,
    summary_experiment_scores: { type: 'array', items: score },
    results: { type: 'array', items: row },
  },
  required: ['experiment_name', 'experiment_start_time', 'experiment_end_time', 'dataset_name', 'results'],
};

/** A frame of zstd that holds the bytes as they are. */
function zstd(bytes: Buffer): Buffer {
  const block = (data: Buffer, last: boolean) => {
    const head = Buffer.alloc(3);
    head.writeUIntLE((data.length << 3) | Number(last), 0, 3);
    return Buffer.concat([head, data]);
  };
  const blocks: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += 65_536)
    blocks.push(block(bytes.subarray(start, start + 65_536), false));
  return Buffer.concat([ZSTD_HEAD, ...blocks, block(Buffer.alloc(0), true)]);
}

// Magic number, descriptor without a size, window of 1 MiB.
const ZSTD_HEAD = Buffer.from('28b52ffd0050', 'hex');

/** Ten bytes for every 300 kB that come out. */
const zstdBomb = Buffer.concat([
  ZSTD_HEAD,
  ...Array.from({ length: 4000 }, () => Buffer.from([0x02, 0x00, 0x10, 0x20])),
]);
const gzipBomb = gzipSync(Buffer.alloc(32 * 1024 * 1024, ' '));

/** A body, and the encoding it is said to have. */
type Encoded = readonly [encoding: string | undefined, bytes: Buffer];

/** Ways to send a body compressed, damaged or under a false name. */
export function encodings(body: Buffer): fc.Arbitrary<Encoded> {
  const gzip = gzipSync(body);
  const frame = zstd(body);
  const cut = (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1);
  const flip = (bytes: Buffer) => Buffer.from(bytes).fill(0xa5, bytes.length >> 1, (bytes.length >> 1) + 4);
  const garbage = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
  const named = fc.constantFrom('gzip', 'zstd', 'x-gzip', 'GZIP', 'br', 'deflate', 'gzip, gzip', 'identity', ', ', 'x');
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom<Encoded>(
        ['gzip', gzip],
        ['zstd', frame],
        ['gzip', cut(gzip)],
        ['zstd', cut(frame)],
        ['gzip', flip(gzip)],
        ['zstd', flip(frame)],
        ['gzip', Buffer.concat([gzip, gzip])],
        ['gzip', Buffer.concat([gzip, Buffer.from('more')])],
        ['zstd', Buffer.concat([frame, frame])],
        ['gzip', frame],
        ['zstd', gzip],
        ['gzip', body],
        ['zstd', body],
        [undefined, gzip],
        ['gzip', Buffer.alloc(0)],
        ['zstd', Buffer.alloc(0)],
        ['zstd', Buffer.from('28b52ffd', 'hex')],
        ['zstd', Buffer.from('28b52ffdffffffffffffffffffff', 'hex')],
        ['zstd', Buffer.from('502a4d18ffffffff00', 'hex')],
      ),
    },
    { weight: 2, arbitrary: fc.tuple(fc.constantFrom('gzip', 'zstd'), garbage) },
    {
      weight: 1,
      arbitrary: garbage.map((bytes): Encoded => ['zstd', Buffer.concat([ZSTD_HEAD, bytes])]),
    },
    { weight: 2, arbitrary: named.map((name): Encoded => [name, body]) },
    { weight: 1, arbitrary: fc.constantFrom<Encoded>(['gzip', gzipBomb], ['zstd', zstdBomb]) },
  );
}
