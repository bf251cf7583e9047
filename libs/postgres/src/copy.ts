import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from } from 'pg-copy-streams';

export type CopyValue = string | number | boolean | Buffer | null;

const CHUNK_BYTES = 64 * 1024;
const SPECIAL = /[\\\n\r\t]/;
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** One line of COPY's text format, newline included. null is SQL NULL, a Buffer is a bytea; strings must hold no U+0000. */
export function copyLine(values: readonly CopyValue[]): string {
  let line = '';
  for (let index = 0; index < values.length; index++) {
    line += (index === 0 ? '' : '\t') + field(values[index] ?? null);
  }
  return line + '\n';
}

function field(value: CopyValue): string {
  if (value === null) return '\\N';
  if (typeof value === 'string') return SPECIAL.test(value) ? value.replace(/[\\\n\r\t]/g, escape) : value;
  if (Buffer.isBuffer(value)) return `\\\\x${value.toString('hex')}`;
  return String(value);
}

function escape(character: string): string {
  return ESCAPES[character] ?? character;
}

/**
 * Streams lines into `statement`, for example `COPY t (a, b) FROM STDIN`, and answers the number of rows stored.
 * When the source of the lines fails, the statement is cancelled and the failure is thrown.
 */
export async function copyIn(
  client: ClientBase,
  statement: string,
  lines: AsyncIterable<string | Buffer> | Iterable<string | Buffer>,
): Promise<number> {
  const copy = client.query(from(statement));
  await pipeline(Readable.from(chunks(lines), { objectMode: false, highWaterMark: CHUNK_BYTES }), copy);
  return copy.rowCount;
}

async function* chunks(lines: AsyncIterable<string | Buffer> | Iterable<string | Buffer>): AsyncIterable<Buffer> {
  let text = '';
  for await (const line of lines) {
    if (typeof line === 'string') {
      text += line;
      if (text.length < CHUNK_BYTES) continue;
    }
    if (text !== '') yield Buffer.from(text);
    text = '';
    if (typeof line !== 'string') yield line;
  }
  if (text !== '') yield Buffer.from(text);
}
