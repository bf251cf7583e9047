import { randomBytes, randomUUID } from 'node:crypto';

const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const TIME = '2026-01-01T00:00:00Z';

/** A zstd frame of ten bytes that asks for a window of 1.9 GB. */
export function wideWindow(): Buffer {
  // No single segment, no checksum; a window descriptor of exponent 20 and mantissa 7; an empty last block.
  return Buffer.concat([ZSTD_MAGIC, Buffer.from([0x00, (20 << 3) | 7, 0x01, 0x00, 0x00])]);
}

/** A zstd frame in `blocks` blocks of one byte each, all spaces. */
export function tinyBlocks(blocks: number): Buffer {
  const block = Buffer.from([1 << 3, 0, 0, 0x20]);
  const last = Buffer.from([(1 << 3) | 1, 0, 0, 0x20]);
  return Buffer.concat([
    ZSTD_MAGIC,
    Buffer.from([0x00, 0x38]),
    ...Array.from({ length: blocks - 1 }, () => block),
    last,
  ]);
}

/** A batch of minimal runs. */
export function manyRuns(count: number): string {
  const post = Array.from({ length: count }, () => ({ id: randomUUID(), name: 'r', run_type: 'chain', inputs: {} }));
  return JSON.stringify({ post });
}

/** An object with that many members that no route knows. */
export function manyMembers(count: number): string {
  return `{${Array.from({ length: count }, (_, number) => `"m${number}":1`).join(',')}}`;
}

export function manySecrets(count: number): string {
  const secrets = Array.from({ length: count }, (_, number) => ({ name: `S${number}`, value: 'v' }));
  return JSON.stringify({ secrets });
}

/** Secrets whose change takes nearly the 1 MB that may be recorded at once, and which are like no earlier ones. */
export function largeSecrets(): string {
  const secrets = Array.from({ length: 3 }, (_, number) => ({
    name: `LARGE_${number}`,
    value: randomBytes(55_000).toString('hex'),
  }));
  return JSON.stringify({ secrets });
}

/** An upload of `rows` rows with texts of `characters` characters. */
export function upload(rows: number, characters: number, name = randomUUID()): string {
  return JSON.stringify({
    experiment_name: name,
    dataset_name: `dataset of ${name}`,
    experiment_start_time: TIME,
    experiment_end_time: TIME,
    results: Array.from({ length: rows }, (_, number) => ({
      row_id: randomUUID(),
      inputs: { text: `${number} ${'x'.repeat(characters)}` },
      actual_outputs: { text: 'y' },
      evaluation_scores: [{ key: 'correct', score: number % 2 }],
      start_time: TIME,
      end_time: TIME,
    })),
  });
}

/** Metadata that is valid JSON and that a database may refuse. */
export function oddMetadata(number: number): string {
  const value = ['1e999999', '"\\u0000"', '"\\ud800"', '['.repeat(90) + ']'.repeat(90)][number % 4]!;
  return `{"name":"${randomUUID()}","extra":{"metadata":{"a":${value}}}}`;
}

/** A search through every text of every run, many times over. */
export function costlyFilter(clauses: number): string {
  const filter = Array.from({ length: clauses }, (_, number) => `search("nothing ${number} like this")`).join(', ');
  return JSON.stringify({ filter: `or(${filter})`, limit: 100 });
}
