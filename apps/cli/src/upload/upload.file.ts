import { createReadStream, type Stats, statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { brokenFile, Usage } from '../failure';

/** A JSON file that holds an array of rows counts as JSON Lines. */
export type Format = 'json' | 'jsonl' | 'csv' | 'tsv';
const FORMATS: Readonly<Record<string, Format>> = {
  '.json': 'json',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.csv': 'csv',
  '.tsv': 'tsv',
};
const KNOWN =
  'Known are CSV (.csv), TSV (.tsv), JSON Lines (.jsonl, .ndjson) and JSON (.json: an array of rows, or the whole body of an upload), each also with .gz';
const GZIP = Buffer.from([0x1f, 0x8b]);

/** A file to upload; standard input, which can be read only once, for `-`. */
export interface UploadFile {
  readonly path: string;
  /** The name without its endings; undefined for standard input. */
  readonly name: string | undefined;
  readonly format: Format;
  /** Undefined for what is no regular file. */
  readonly bytes: number | undefined;
  readonly rereadable: boolean;
  /** The text as bytes, unpacked. @throws Usage when it cannot be read or is not UTF-8 */
  readonly open: (onBytes: (count: number) => void) => AsyncIterable<Buffer>;
}

/**
 * A file, after a look at its beginning where its name does not tell all.
 * @throws Usage for a file that is not there or of an unknown format
 */
export async function uploadFile(path: string, given: Format | undefined): Promise<UploadFile> {
  const plain = path.replace(/\.gz$/i, '');
  const format = given ?? FORMATS[extname(plain).toLowerCase()];
  if (!format) {
    throw new Usage(`What ${path} holds is not clear from its name: add --format json, jsonl, csv or tsv. ${KNOWN}.`);
  }
  const file = { path, name: path === '-' ? undefined : basename(plain, extname(plain)), format };
  if (path === '-') {
    const input = process.stdin as AsyncIterable<Buffer>;
    if (format !== 'json') return { ...file, ...once, open: (onBytes) => textBytes(path, input, onBytes) };
    let told: (count: number) => void = () => undefined;
    const { first, all } = await begun(textBytes(path, input, (count) => told(count)));
    const open = (onBytes: (count: number) => void) => {
      told = onBytes;
      return all;
    };
    return { ...file, ...once, format: formatOf(path, first), open };
  }
  let stats: Stats;
  try {
    stats = statSync(path);
  } catch (error) {
    throw unreadable(path, error);
  }
  if (stats.isDirectory()) throw new Usage(`${path} is a folder.`);
  const open = (onBytes: (count: number) => void) =>
    textBytes(path, createReadStream(path, { highWaterMark: 256 * 1024 }), onBytes);
  if (!stats.isFile()) return { ...file, ...once, open };
  const regular = { ...file, bytes: stats.size, rereadable: true, open };
  if (format !== 'json') return regular;
  const { first, all } = await begun(open(() => undefined));
  await all.return(undefined);
  return { ...regular, format: formatOf(path, first) };
}

const once = { bytes: undefined, rereadable: false };

/** JSON is a whole body, or rows when it is an array. */
function formatOf(path: string, first: string | undefined): Format {
  if (first === undefined || first === '{') return 'json';
  if (first === '[') return 'jsonl';
  throw new Usage(`${path} holds neither a JSON object nor an array. ${KNOWN}.`);
}

/** The first character that is no space, and everything from the beginning. */
async function begun(source: AsyncGenerator<Buffer>) {
  const held: Buffer[] = [];
  let first: string | undefined;
  while (first === undefined) {
    const next = await source.next();
    if (next.done) break;
    held.push(next.value);
    first = /[^\s\ufeff]/u.exec(next.value.toString('utf8'))?.[0];
  }
  async function* all(): AsyncGenerator<Buffer> {
    try {
      yield* held;
      yield* source;
    } finally {
      await source.return(undefined);
    }
  }
  return { first, all: all() };
}

async function* textBytes(
  path: string,
  stream: AsyncIterable<Buffer>,
  onBytes: (count: number) => void,
): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of unpacked(path, stream, onBytes)) {
      decoder.decode(chunk, { stream: true });
      if (chunk.includes(0)) throw notText(path);
      yield chunk;
    }
    decoder.decode();
  } catch (error) {
    const { code = '' } = error as { code?: string };
    if (code.startsWith('Z_')) throw new Usage(`${path} is broken gzip: ${(error as Error).message}.`);
    if (code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw unreadable(path, error);
    throw notText(path);
  }
}

/** The error for other encodings, such as UTF-16, in which every other byte is 0, and for files of Excel. */
function notText(path: string): Usage {
  return new Usage(`${path} is not UTF-8 text: save it as UTF-8 first. ${KNOWN}.`);
}

/** The bytes, unpacked when they begin as gzip does. */
async function* unpacked(
  path: string,
  stream: AsyncIterable<Buffer>,
  onBytes: (count: number) => void,
): AsyncGenerator<Buffer> {
  async function* counted() {
    for await (const chunk of stream) {
      onBytes(chunk.length);
      yield chunk;
    }
  }
  const source = counted();
  let beginning: Buffer = Buffer.alloc(0);
  while (beginning.length < GZIP.length) {
    const next = await source.next();
    if (next.done) break;
    beginning = Buffer.concat([beginning, next.value]);
  }
  async function* all() {
    yield beginning;
    yield* source;
  }
  if (beginning.subarray(0, GZIP.length).equals(GZIP)) {
    yield* pipeline(Readable.from(all(), { objectMode: false }), createGunzip(), () => undefined);
    return;
  }
  if (/\.gz$/i.test(path)) throw new Usage(`${path} is not gzip, which its name says: rename it.`);
  yield* all();
}

function unreadable(path: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code && syscall ? new Usage(`${path} cannot be read: ${brokenFile(error)}.`) : error;
}
