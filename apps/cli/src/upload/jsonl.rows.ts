import type { RowOptions } from './csv.rows';
import { Usage } from '../failure';
import { membersOf } from './json-members';
import { Misplaced, RowDraft } from './row-draft';
import { targetOf } from './row-target';
import type { FileRow } from './upload-body';

const LONGEST_LINE = 256 * 1024 * 1024;
const NEWLINE = 10;

/** Rows of JSON Lines, one object a line. @throws Usage naming the line */
export async function* jsonlRows(source: AsyncIterable<Buffer>, options: RowOptions): AsyncGenerator<FileRow> {
  const leftOut = new Set<string>();
  for await (const { text, line } of lines(source)) {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw new Usage(`line ${line}: it is not JSON: ${(error as Error).message}`);
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new Usage(`line ${line}: it is not a JSON object.`);
    }
    const draft = new RowDraft();
    for (const [name, json] of membersOf(text)) {
      const target = targetOf(options.map.get(name) ?? name);
      try {
        if (target) draft.put(target, json);
        else leftOut.add(name);
      } catch (error) {
        if (!(error instanceof Misplaced)) throw error;
        throw new Usage(`line ${line}, member ${name}: ${error.message}`);
      }
    }
    yield { draft, line };
  }
  leftOut.forEach(options.onLeftOut);
}

/** Lines that are not blank, with their numbers. */
async function* lines(source: AsyncIterable<Buffer>): AsyncGenerator<{ text: string; line: number }> {
  let parts: Buffer[] = [];
  let held = 0;
  let line = 1;
  const take = (last: Buffer) => {
    const text = Buffer.concat([...parts, last])
      .toString('utf8')
      .trim();
    parts = [];
    held = 0;
    return line === 1 ? text.replace(/^\ufeff/, '') : text;
  };
  for await (const chunk of source) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const text = take(chunk.subarray(start, end));
      if (text !== '') yield { text, line };
      line++;
      start = end + 1;
    }
    parts.push(chunk.subarray(start));
    held += chunk.length - start;
    if (held > LONGEST_LINE) throw new Usage(`line ${line}: it is longer than ${LONGEST_LINE} bytes.`);
  }
  const text = take(Buffer.alloc(0));
  if (text !== '') yield { text, line };
}
