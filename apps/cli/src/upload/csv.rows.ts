import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { Usage } from '../failure';
import { counted } from '../output/text';
import { rowName } from './import-report';
import { type RowOptions } from './mapping';
import { RowSources } from './row-sources';
import { targetOf } from './row-target';
import type { FileRow } from './upload-body';

interface Parsed {
  readonly record: readonly string[];
  readonly info: { readonly empty_lines: number };
}

const DELIMITERS = [',', ';', '\t', '|'] as const;
const NAMES: Readonly<Record<string, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'vertical bars',
};
/** A name that holds the names of several columns. */
const SEVERAL = /.[^\w.:](?:inputs|expected_outputs|actual_outputs|run_metadata|scores|evaluation_scores)(?:\.|$)/;
/** Characters of the first line that are looked at. */
const MOST_HEADER = 1024 * 1024;

/** Rows of CSV whose first record names the columns. `delimiter`: found in the first line when absent. @throws Usage */
export async function* csvRows(
  source: AsyncIterable<Buffer>,
  delimiter: string | undefined,
  options: RowOptions,
): AsyncGenerator<FileRow> {
  const { beginning, all } = await peeked(source);
  const between = delimiter ?? delimiterOf(beginning, options);
  let header: readonly string[] = [];
  let read = { rows: 0, lines: 0 };
  const parser = parse({
    bom: true,
    info: true,
    delimiter: between,
    record_delimiter: ['\r\n', '\n'],
    skip_empty_lines: true,
    // Errors come before the rows in front of them, so that these have to be known here.
    on_record: (parsed, { records, lines }) => {
      if (records === 1) ({ record: header } = parsed as unknown as Parsed);
      read = { rows: records - 1, lines };
      return parsed;
    },
  });
  const input = Readable.from(all, { objectMode: false });
  input.on('error', (error) => parser.destroy(error));
  input.pipe(parser);
  let columns: readonly string[] | undefined;
  let sources: RowSources | undefined;
  let row = 0;
  let line = 1;
  let empty = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      const begins = line + info.empty_lines - empty;
      empty = info.empty_lines;
      line = begins + 1 + record.reduce((breaks, cell) => breaks + lineBreaks(cell), 0);
      if (sources && columns) {
        const values = new Map(columns.map((column, index) => [column, record[index] ?? ''] as const));
        yield sources.draftOf({ values, isJson: false, row: ++row, line: begins });
        continue;
      }
      columns = columnsOf(record, between, options);
      sources = new RowSources(options, columns);
      sources.requireColumns(columns, true);
    }
    sources?.finish();
  } catch (error) {
    throw error instanceof CsvError ? new Usage(explained(error, header, between, read)) : error;
  } finally {
    input.destroy();
  }
}

/** The beginning of a file, and all of it. */
async function peeked(source: AsyncIterable<Buffer>): Promise<{ beginning: string; all: AsyncIterable<Buffer> }> {
  const iterator = source[Symbol.asyncIterator]();
  const held: Buffer[] = [];
  let beginning = '';
  while (beginning.length < MOST_HEADER && !/\S.*\n/.test(beginning)) {
    const next = await iterator.next();
    if (next.done) break;
    held.push(next.value);
    beginning = Buffer.concat(held).toString('utf8');
  }
  async function* all() {
    try {
      yield* held;
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  return { beginning, all: all() };
}

/** Delimiter of the first line: the one that yields known names, or else the most frequent one. */
function delimiterOf(beginning: string, { map }: RowOptions): string {
  const header = (/\S.*/.exec(beginning.replace(/^\ufeff/, ''))?.[0] ?? '').replaceAll(/"[^"]*"/g, (cell) =>
    cell.replaceAll(/[,;\t]/g, ' '),
  );
  const isKnown = (name: string) => targetOf(name) !== undefined || map.some(({ source }) => source === name);
  const weights = DELIMITERS.map((delimiter) => {
    const names = header.split(delimiter).map((name) => name.replaceAll('"', '').trim());
    return names.length === 1 ? 0 : names.filter(isKnown).length * 10_000 + names.length;
  });
  return DELIMITERS[weights.indexOf(Math.max(...weights))]!;
}

function columnsOf(header: readonly string[], delimiter: string, { map }: RowOptions): string[] {
  const columns = header.map((name) => name.trim());
  const last = header.at(-1) ?? '';
  if (/\r(?!\n)/.test(last) && !last.trim().startsWith('"')) {
    throw new Usage('Lines of the file end with CR alone: save it with LF or CRLF at the end of each line.');
  }
  const twice = columns.find((name, index) => columns.indexOf(name) !== index);
  if (twice === '') throw new Usage('More than one column has no name: every column needs one.');
  if (twice !== undefined) throw new Usage(`The column ${twice} comes twice: every column needs a name of its own.`);
  const targets = [...columns.map(targetOf), ...map.map(({ target }) => target)];
  const isOne = columns.length === 1 && SEVERAL.test(columns[0]!);
  if (!isOne && targets.some((target) => target?.kind === 'object' && target.member === 'inputs')) return columns;
  throw new Usage(
    `No column goes to the inputs: name one inputs.NAME, or use --map COLUMN=inputs.NAME. Read with ${said(delimiter)} between columns (see --delimiter), there are: ${columns.join(', ')}.`,
  );
}

/** An error in CSV, with what was expected. */
function explained(
  error: CsvError,
  header: readonly string[],
  delimiter: string,
  read: { readonly rows: number; readonly lines: number },
): string {
  const { code, record } = error as CsvError & { readonly record?: readonly string[] };
  const at = header.length === 0 ? 'the first line' : rowName({ row: read.rows + 1, line: read.lines + 1 });
  if (code === 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH' && record) {
    return `The CSV is broken: ${at} has ${counted(record.length, 'cell')}, but the first line names ${counted(header.length, 'column')} (${header.join(', ')}). Expected ${said(delimiter)} between cells, and double quotes around a cell that contains them; see --delimiter.`;
  }
  if (code === 'CSV_QUOTE_NOT_CLOSED') {
    return `The CSV is broken: a quote that is opened in ${at} is never closed. Expected " at the end of the cell, and "" for a quote within it.`;
  }
  if (code === 'CSV_INVALID_CLOSING_QUOTE' || code === 'INVALID_OPENING_QUOTE') {
    return `The CSV is broken: ${at} has a quote in the middle of a cell. Expected quotes around the whole cell, and "" for a quote within it, with ${said(delimiter)} between cells.`;
  }
  return `The CSV is broken: ${at}: ${error.message}.`;
}

function said(delimiter: string): string {
  return NAMES[delimiter] ?? delimiter;
}

function lineBreaks(cell: string): number {
  let count = 0;
  for (let at = cell.indexOf('\n'); at >= 0; at = cell.indexOf('\n', at + 1)) count++;
  return count;
}
