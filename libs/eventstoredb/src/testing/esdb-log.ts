import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { v4 as uuid } from 'uuid';

/** An event as it was sent. */
export interface Proposed {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

export interface LogRecord extends Proposed {
  readonly stream: string;
  readonly revision: number;
  readonly position: number;
  /** Milliseconds since 1970. */
  readonly created: number;
}

export type Expected = number | 'any' | 'no stream' | 'stream exists';

/**
 * Result of an append: its last record; without events, the revision that the stream has (-1 when there is none); and
 * that revision when the append expected another one.
 */
export type Judged =
  | { readonly deleted: string }
  | { readonly last: LogRecord }
  | { readonly nothing: number }
  | { readonly current: number };

/** The revision of the marker of a stream that was deleted: 2^63 - 1, as near as a number comes to it. */
export const DELETED = Number(2n ** 63n - 1n);
/** Members of the metadata of a stream that say where it begins. */
const ALL_CUT = 2n ** 63n - 1n;
/** Where the first record begins. */
const FIRST_POSITION = 166;
const RECORD_BYTES = 120;
/** Each so many records the clock goes on by a millisecond within an append. */
const TICK_RECORDS = 5;

/**
 * The log of the EventStoreDB double: streams, commit positions that grow by bytes, and appends judged as
 * EventStoreDB judges them. With a file, what has been appended is there again after a restart.
 */
export class EsdbLog {
  readonly records: LogRecord[] = [];
  /** Called after each append. */
  readonly listeners = new Set<() => void>();
  private readonly streams = new Map<string, LogRecord[]>();
  /** Appends at any version are recognised only while they are remembered. */
  private remembered = new Map<string, LogRecord>();
  private end = FIRST_POSITION;

  constructor(
    private readonly file?: string,
    backup: readonly LogRecord[] = [],
  ) {
    for (const record of backup) this.keep(record);
    // The last line may have been cut off.
    const lines = file && existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
    for (const line of lines) for (const record of JSON.parse(line, revive) as LogRecord[]) this.keep(record);
    // A new server's log holds records of its own.
    if (this.records.length === 0) this.appendSystemEvent('$settings');
  }

  /** A log that holds what this one holds now, for a double that stands for the server restored from its backup. */
  backup(): EsdbLog {
    return new EsdbLog(undefined, this.records);
  }

  /** Without the server's own. */
  get events(): readonly LogRecord[] {
    return this.records.filter(({ stream, type }) => !stream.startsWith('$') && !type.startsWith('$'));
  }

  stream(name: string): readonly LogRecord[] {
    return this.streams.get(name) ?? [];
  }

  /** Deletes a stream for ever, as an operator can: its records stay in the log, and nothing can be read or appended. */
  tombstone(stream: string): void {
    const event = { id: uuid(), type: '$streamDeleted', contentType: 'application/json' };
    this.write(stream, DELETED, [{ ...event, data: Buffer.from('{}'), metadata: Buffer.from('') }]);
  }

  /**
   * Deletes a stream as the client does by default: its metadata cut off all of it, and an append at its version makes
   * it anew behind what was there.
   */
  delete(stream: string): void {
    this.writeMetadata(stream, ALL_CUT);
  }

  isDeleted(name: string): boolean {
    return this.stream(name).at(-1)?.type === '$streamDeleted';
  }

  /** The revision that reading a stream begins at, as its metadata says. */
  beginningOf(name: string): number {
    const metadata = this.stream(`$$${name}`).at(-1);
    if (!metadata) return 0;
    const { $tb = 0, $maxCount = Infinity } = JSON.parse(Buffer.from(metadata.data).toString()) as Record<
      string,
      number
    >;
    return Math.max($tb, this.stream(name).length - $maxCount);
  }

  /** Appends unless the stream is at another revision, or answers what an earlier append of the same ids came to. */
  append(stream: string, expected: Expected, events: readonly Proposed[]): Judged {
    if (this.isDeleted(stream)) return { deleted: stream };
    const existing = this.stream(stream);
    const current = existing.length - 1;
    const repeated = events.length > 0 ? this.repeated(existing, expected, events) : undefined;
    if (repeated) return { last: repeated };
    const isCut = this.beginningOf(stream) >= existing.length;
    const at = expected === 'no stream' ? (isCut ? current : -1) : expected;
    if (typeof at === 'number' ? at !== current : at === 'stream exists' && current < 0) return { current };
    if (events.length === 0) return { nothing: current };
    // A stream that was deleted goes on where it ended, without what was before.
    if (this.beginningOf(stream) >= Number(ALL_CUT)) this.writeMetadata(stream, existing.length);
    return { last: this.write(stream, existing.length, events) };
  }

  /** A record of the server's own, as statistics and metadata are. */
  appendSystemEvent(stream = '$stats-127.0.0.1:2113'): void {
    const data = Buffer.from('{}');
    const event = { id: uuid(), type: '$statsCollected', contentType: 'application/json', data, metadata: data };
    this.write(stream, this.stream(stream).length, [event]);
  }

  /** Forgets what is in memory, as when another node becomes leader. */
  forget(): void {
    this.remembered = new Map();
  }

  /** Place of the first record at or after a position. */
  indexAt(position: number): number {
    let [low, high] = [0, this.records.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.records[middle]!.position >= position) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  private writeMetadata(stream: string, beginning: number | bigint): void {
    const event = { id: uuid(), type: '$metadata', contentType: 'application/json', metadata: Buffer.from('') };
    const name = `$$${stream}`;
    this.write(name, this.stream(name).length, [{ ...event, data: Buffer.from(`{"$tb":${beginning}}`) }]);
  }

  private repeated(existing: readonly LogRecord[], expected: Expected, events: readonly Proposed[]) {
    const first = expected === 'no stream' ? 0 : typeof expected === 'number' ? expected + 1 : undefined;
    const known = events.map(({ id }, index) =>
      first === undefined
        ? this.remembered.get(id)
        : existing[first + index]?.id === id
          ? existing[first + index]
          : undefined,
    );
    const stream = existing[0]?.stream;
    return known.every((record) => record && record.stream === stream) ? known.at(-1) : undefined;
  }

  private write(stream: string, revision: number, events: readonly Proposed[]): LogRecord {
    const [begun, now] = [this.records.length, Date.now()];
    let position = this.end;
    const records = events.map((event, index) => {
      // A server stamps each record by itself, so that those of one append differ now and then.
      const created = now + (Math.floor((begun + index) / TICK_RECORDS) > Math.floor(begun / TICK_RECORDS) ? 1 : 0);
      const record = {
        ...event,
        stream,
        revision: revision === DELETED ? DELETED : revision + index,
        position,
        created,
      };
      position += sizeOf(record);
      return record;
    });
    if (this.file) appendFileSync(this.file, `${JSON.stringify(records, preserve)}\n`, { flush: true });
    for (const record of records) this.keep(record);
    for (const listener of this.listeners) listener();
    return records.at(-1)!;
  }

  private keep(record: LogRecord): void {
    this.records.push(record);
    this.streams.set(record.stream, this.streams.get(record.stream) ?? []);
    this.streams.get(record.stream)!.push(record);
    this.remembered.set(record.id, record);
    this.end = record.position + sizeOf(record);
  }
}

function sizeOf({ stream, type, data, metadata }: Omit<LogRecord, 'position'>): number {
  return RECORD_BYTES + stream.length + type.length + data.length + metadata.length;
}

function preserve(this: unknown, key: string, value: unknown): unknown {
  // A Buffer has turned itself into an object already.
  const original = (this as Readonly<Record<string, unknown>>)[key];
  return original instanceof Uint8Array ? { base64: Buffer.from(original).toString('base64') } : value;
}

function revive(_key: string, value: unknown): unknown {
  const { base64 } = Object(value) as { base64?: unknown };
  return typeof base64 === 'string' ? Buffer.from(base64, 'base64') : value;
}
