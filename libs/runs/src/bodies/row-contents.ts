import { hash } from 'node:crypto';
import { uuidBytes } from '@fairlead/blobs';
import { ID_BYTES, IdTable } from './id-table';

const DIGEST_BYTES = 16;
const ENTRY_BYTES = 2 * DIGEST_BYTES;
const NONE = Buffer.alloc(DIGEST_BYTES);

/** A repetition of a row that says something else than the row did. */
interface Contradiction {
  readonly member: 'inputs' | 'expected_outputs';
  readonly first: number;
}

/**
 * Digests of the inputs and expected outputs of the rows of one upload, by `row_id`: 56 bytes for each id, whatever the
 * rows hold.
 */
export class RowContents {
  private readonly ids = new IdTable();
  private entries = Buffer.alloc(1024 * ENTRY_BYTES);
  private firsts = new Uint32Array(1024);

  /**
   * Takes the next row; returns what it has otherwise than the first row of its `row_id`. A repetition may leave out the
   * expected outputs.
   */
  add(row: number, id: string, inputs: unknown, expected: unknown): Contradiction | undefined {
    const known = this.ids.size;
    const number = this.ids.add(uuidBytes(id), 0);
    const at = number * ENTRY_BYTES;
    const digests = [contentDigest(inputs), expected === undefined ? NONE : contentDigest(expected)] as const;
    if (number === known) {
      this.grow(number);
      digests[0].copy(this.entries, at);
      digests[1].copy(this.entries, at + DIGEST_BYTES);
      this.firsts[number] = row;
      return undefined;
    }
    const first = this.firsts[number]!;
    if (this.differs(at + DIGEST_BYTES, digests[1]) && expected !== undefined)
      return { member: 'expected_outputs', first };
    return this.differs(at, digests[0]) ? { member: 'inputs', first } : undefined;
  }

  private differs(at: number, digest: Buffer): boolean {
    return this.entries.compare(digest, 0, DIGEST_BYTES, at, at + DIGEST_BYTES) !== 0;
  }

  private grow(number: number): void {
    if (number < this.firsts.length) return;
    this.entries = Buffer.concat([this.entries], 2 * this.entries.length);
    const firsts = new Uint32Array(2 * this.firsts.length);
    firsts.set(this.firsts);
    this.firsts = firsts;
  }
}

/** Identifiers and digests of the rows of a fill, by their place; plain data, so that it can come from another thread. */
export interface FillRows {
  readonly count: number;
  readonly bytes: Uint8Array;
}

/** A row of a fill. Digests of what was sent are MD5 (hex), those of contents as `contentDigest` gives them. */
export interface FillRow {
  readonly id: string;
  readonly inputs: string;
  readonly inputsContent: Buffer;
  readonly expected: { readonly sent: string; readonly content: Buffer } | undefined;
}

const ROW_BYTES = ID_BYTES + 4 * DIGEST_BYTES;

/** Collects what a fill needs to know of its rows: 80 bytes each. */
export class FillRowList {
  private bytes = Buffer.alloc(64 * ROW_BYTES);
  private count = 0;

  add(id: string, sent: { inputs: Buffer; expected: Buffer | null }, parsed: { inputs: unknown; expected: unknown }) {
    if ((this.count + 1) * ROW_BYTES > this.bytes.length) {
      this.bytes = Buffer.concat([this.bytes], 2 * this.bytes.length);
    }
    const parts = [
      ...[uuidBytes(id), hash('md5', sent.inputs, 'buffer'), contentDigest(parsed.inputs)],
      ...(sent.expected ? [hash('md5', sent.expected, 'buffer'), contentDigest(parsed.expected)] : [NONE, NONE]),
    ];
    let at = this.count++ * ROW_BYTES;
    for (const part of parts) at += part.copy(this.bytes, at);
  }

  rows(): FillRows {
    return { count: this.count, bytes: new Uint8Array(this.bytes.subarray(0, this.count * ROW_BYTES)) };
  }
}

export function* fillRows({ count, bytes }: FillRows): Generator<FillRow> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let number = 0; number < count; number++) {
    const part = (place: number) => {
      const at = number * ROW_BYTES + place * DIGEST_BYTES;
      return buffer.subarray(at, at + DIGEST_BYTES);
    };
    const hasExpected = !part(3).equals(NONE);
    yield {
      id: part(0)
        .toString('hex')
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
      inputs: part(1).toString('hex'),
      inputsContent: part(2),
      expected: hasExpected ? { sent: part(3).toString('hex'), content: part(4) } : undefined,
    };
  }
}

/** A digest of a JSON value that the order of members and white space leave as it is. */
export function contentDigest(value: unknown): Buffer {
  return hash('md5', JSON.stringify(isSorted(value) ? value : sorted(value)), 'buffer');
}

/** True when the members of all objects come in the order that `sorted` gives them. */
function isSorted(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isSorted);
  let last = '';
  for (const [name, member] of Object.entries(value)) {
    // Names that are numbers have an order of their own in every object.
    if (name < last || (name[0]! >= '0' && name[0]! <= '9') || !isSorted(member)) return false;
    last = name;
  }
  return true;
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const copy = Object.create(null) as Record<string, unknown>;
  for (const name of Object.keys(value).sort()) copy[name] = sorted((value as Record<string, unknown>)[name]);
  return copy;
}
