import { createReadStream, type Stats, statSync } from 'node:fs';
import { extname } from 'node:path';
import { brokenFile, Usage } from '../failure';

export type Format = 'json' | 'jsonl' | 'csv' | 'tsv';
const FORMATS: Readonly<Record<string, Format>> = {
  '.json': 'json',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.csv': 'csv',
  '.tsv': 'tsv',
};

/** A file to upload; standard input, which can be read only once, for `-`. */
export interface UploadFile {
  readonly path: string;
  readonly format: Format;
  /** Undefined for what is no regular file. */
  readonly bytes: number | undefined;
  readonly rereadable: boolean;
}

/** @throws Usage for a file that is not there or of an unknown format */
export function uploadFile(path: string, format: Format | undefined): UploadFile {
  const known = format ?? FORMATS[extname(path).toLowerCase()];
  if (!known) throw new Usage(`What ${path} holds is not clear from its name: add --format json, jsonl, csv or tsv.`);
  if (path === '-') return { path, format: known, bytes: undefined, rereadable: false };
  let stats: Stats;
  try {
    stats = statSync(path);
  } catch (error) {
    throw unreadable(path, error);
  }
  if (stats.isDirectory()) throw new Usage(`${path} is a folder.`);
  const regular = stats.isFile();
  return { path, format: known, bytes: regular ? stats.size : undefined, rereadable: regular };
}

/** The file's bytes. @throws Usage when it cannot be read or is not UTF-8 */
export async function* bytesOf({ path }: UploadFile, onBytes: (count: number) => void): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const stream = path === '-' ? process.stdin : createReadStream(path, { highWaterMark: 256 * 1024 });
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      decoder.decode(chunk, { stream: true });
      onBytes(chunk.length);
      yield chunk;
    }
    decoder.decode();
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw unreadable(path, error);
    throw new Usage(`${path} is not UTF-8 text: save it as UTF-8 first.`);
  }
}

function unreadable(path: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code && syscall ? new Usage(`${path} cannot be read: ${brokenFile(error)}.`) : error;
}
