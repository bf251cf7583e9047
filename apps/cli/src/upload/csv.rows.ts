import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { Usage } from '../failure';
import { Misplaced, RowDraft } from './row-draft';
import { type Target, TARGETS, targetOf } from './row-target';
import type { FileRow } from './upload-body';

export interface RowOptions {
  /** What columns stand for whose names do not say it. */
  readonly map: ReadonlyMap<string, string>;
  /** Told of columns or members that go nowhere. */
  readonly onLeftOut: (name: string) => void;
}

interface Parsed {
  readonly record: readonly string[];
  readonly info: { readonly empty_lines: number };
}

/** Rows of CSV whose first record names the columns. @throws Usage */
export async function* csvRows(
  source: AsyncIterable<Buffer>,
  delimiter: string,
  options: RowOptions,
): AsyncGenerator<FileRow> {
  const parser = parse({ bom: true, info: true, delimiter, record_delimiter: ['\r\n', '\n'], skip_empty_lines: true });
  const input = Readable.from(source, { objectMode: false });
  input.on('error', (error) => parser.destroy(error));
  input.pipe(parser);
  let plan: Plan | undefined;
  let line = 1;
  let empty = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      const begins = line + info.empty_lines - empty;
      empty = info.empty_lines;
      line = begins + 1 + record.reduce((breaks, cell) => breaks + lineBreaks(cell), 0);
      if (plan) yield { draft: draftOf(record, plan, begins), line: begins };
      else plan = planOf(record, options);
    }
  } catch (error) {
    throw error instanceof CsvError ? new Usage(`The CSV is broken: ${error.message}.`) : error;
  } finally {
    input.destroy();
  }
}

/** A target for every column that has one. */
interface Plan {
  readonly names: readonly string[];
  readonly targets: readonly (Target | undefined)[];
}

function planOf(header: readonly string[], { map, onLeftOut }: RowOptions): Plan {
  const names = header.map((name) => name.trim());
  for (const name of map.keys()) {
    if (!names.includes(name))
      throw new Usage(`--map names ${name}, which is no column. There are: ${names.join(', ')}.`);
  }
  const targets = names.map((name) => targetOf(map.get(name) ?? name));
  if (!targets.some((target) => target?.kind === 'object' && target.member === 'inputs')) {
    throw new Usage(
      `No column goes to the inputs: name one inputs.NAME, or use --map COLUMN=inputs.NAME. There are: ${names.join(', ')}.`,
    );
  }
  names.forEach((name, index) => {
    if (!targets[index] && name !== '') onLeftOut(name);
  });
  return { names, targets };
}

function draftOf(record: readonly string[], { names, targets }: Plan, line: number): RowDraft {
  const draft = new RowDraft();
  targets.forEach((target, index) => {
    if (!target) return;
    try {
      draft.putCell(target, record[index] ?? '');
    } catch (error) {
      if (!(error instanceof Misplaced)) throw error;
      throw new Usage(`line ${line}, column ${names[index]}: ${error.message}`);
    }
  });
  return draft;
}

function lineBreaks(cell: string): number {
  let count = 0;
  for (let at = cell.indexOf('\n'); at >= 0; at = cell.indexOf('\n', at + 1)) count++;
  return count;
}

/** What `--map column=target` options say. @throws Usage */
export function mapping(options: readonly string[]): Map<string, string> {
  return new Map(
    options.map((option) => {
      const equals = option.lastIndexOf('=');
      const [from, to] = [option.slice(0, equals).trim(), option.slice(equals + 1).trim()];
      if (equals < 1 || !targetOf(to)) throw new Usage(`--map ${option}: write COLUMN=TARGET, with one of ${TARGETS}.`);
      return [from, to] as const;
    }),
  );
}
