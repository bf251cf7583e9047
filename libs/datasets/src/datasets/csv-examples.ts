import { utf8 } from '@fairlead/blobs';
import { BadRequest, PayloadTooLarge } from '@fairlead/schema';
import { CsvError, parse } from 'csv-parse/sync';
import { v5 as idFrom } from 'uuid';
import type { SentExample } from '../examples/examples-body';

export interface CsvColumns {
  readonly dataset: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly metadata: readonly string[];
}

/** Characters of the examples together: each row repeats the names of the columns. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

/**
 * The examples of a CSV file (RFC 4180, UTF-8) whose first record names the columns; every value is a text.
 * @throws BadRequest for text that is not UTF-8, columns that are missing or come twice and more than `most` rows; PayloadTooLarge for examples of more than 64 Mi characters
 */
export function readCsvExamples(file: Buffer, columns: CsvColumns, most: number): SentExample[] {
  const [names = [], ...rows] = recordsOf(file, most + 1);
  if (rows.length > most) throw badCsv(`it has more than ${most} rows.`);
  const places = new Map(names.map((name, place) => [name, place]));
  const wanted = [...columns.inputs, ...columns.outputs, ...columns.metadata];
  const missing = wanted.find((name) => !places.has(name));
  if (missing !== undefined) {
    const known = names.map((name) => `'${name}'`).join(', ');
    throw badCsv(
      `it has no column '${missing.slice(0, 100)}'. Its columns, between commas, are: ${known.slice(0, 500)}.`,
    );
  }
  const seen = new Set<string>();
  const repeated = new Set(names.filter((name) => seen.size === seen.add(name).size));
  const twice = wanted.find((name) => repeated.has(name));
  if (twice !== undefined) throw badCsv(`it has the column '${twice.slice(0, 100)}' twice.`);
  let left = MOST_CHARACTERS;
  const members = (row: readonly string[], keys: ReadonlySet<string>) => {
    if (keys.size === 0) return undefined;
    const text = objectText([...keys].map((key) => [key, row[places.get(key)!] ?? '']));
    left -= text.length;
    if (left < 0) throw new PayloadTooLarge('The examples of the CSV file have more than 64 Mi characters together.');
    return text;
  };
  const [inputs, outputs, metadata] = [columns.inputs, columns.outputs, columns.metadata].map((keys) => new Set(keys));
  return rows.map((row, index) => ({
    id: idFrom(`row/${index}`, columns.dataset),
    inputs: members(row, inputs!),
    outputs: members(row, outputs!),
    metadata: members(row, metadata!),
    useSourceRun: false,
    sourceAttachments: [],
    attachments: [],
  }));
}

function badCsv(why: string): BadRequest {
  return new BadRequest(`The CSV file cannot be read: ${why}`);
}

function recordsOf(file: Buffer, most: number): string[][] {
  try {
    return parse(utf8(file, 'The CSV file'), { bom: true, skip_empty_lines: true, to: most + 1 });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw badCsv(`${error.message.split('\n', 1)[0]!.slice(0, 200)}.`);
  }
}

/** Names are data: an object would take some of them, as `__proto__`, for something else. */
function objectText(members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;
}
