import { Usage } from '../failure';
import type { RowDraft } from './row-draft';
import { namedRowId, rowIdOfInputs, rowIdOfNumber } from './row-id';
import { shifted, TimeWindow } from '../time-window';

/** A row of a file, and the line on which it begins. */
export interface FileRow {
  readonly draft: RowDraft;
  readonly line: number;
}

/** What an upload says of the experiment as a whole. */
export interface Header {
  readonly experiment_name: string;
  readonly experiment_description?: string;
  readonly dataset_id?: string;
  readonly dataset_name?: string;
  readonly dataset_description?: string;
  readonly experiment_metadata?: unknown;
}

export interface BodyOptions {
  readonly header: Header;
  /** Of the experiment; the span of its rows when absent. */
  readonly start?: string;
  readonly end?: string;
  /** ISO time of rows that have none. */
  readonly time: string;
  readonly rowIds: 'inputs' | 'number';
}

/** Characters that are handed on at once. */
const PIECE = 128 * 1024;

/**
 * The body of an upload, in pieces: the rows as they come, then the header, for which the times of all rows have to be
 * known. Holds one row and one piece.
 * @throws Usage for a row without inputs or a file without rows.
 */
export async function* uploadBody(
  rows: AsyncIterable<FileRow>,
  options: BodyOptions,
  onRow: () => void,
): AsyncGenerator<string> {
  const window = new TimeWindow();
  let piece = '{"results":[';
  let count = 0;
  for await (const { draft, line } of rows) {
    piece += (count === 0 ? '' : ',\n') + rowText(draft, count, line, options, window);
    count++;
    onRow();
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  if (count === 0) throw new Usage('The file has no rows.');
  const header = {
    ...options.header,
    experiment_start_time: options.start ?? window.span?.start ?? options.time,
    experiment_end_time: options.end ?? window.span?.end ?? options.time,
  };
  yield `${piece}],${JSON.stringify(header).slice(1)}`;
}

function rowText(draft: RowDraft, index: number, line: number, options: BodyOptions, window: TimeWindow): string {
  const inputs = draft.object('inputs');
  if (inputs === undefined) throw new Usage(`row ${index + 1} (line ${line}): it has no inputs.`);
  const { row_id: name, start_time, end_time, ...texts } = Object.fromEntries(draft.texts);
  const id = name === undefined ? madeId(inputs, index, options) : namedRowId(String(JSON.parse(name)));
  const [start, end] = times(start_time, end_time, draft.latency, options);
  window.add(start);
  window.add(end);
  const members = [
    `"row_id":${JSON.stringify(id)}`,
    ...draft.members(),
    `"start_time":${start}`,
    `"end_time":${end}`,
    ...Object.entries(texts).map(([member, json]) => `"${member}":${json}`),
  ];
  return `{${members.join(',')}}`;
}

function madeId(inputs: string, index: number, { rowIds }: BodyOptions): string {
  return rowIds === 'number' ? rowIdOfNumber(index) : rowIdOfInputs(inputs);
}

/** Start and end as JSON: what one of them lacks, the other and the latency tell. */
function times(
  start: string | undefined,
  end: string | undefined,
  latency: number | undefined,
  options: BodyOptions,
): [string, string] {
  if (start !== undefined && end !== undefined) return [start, end];
  if (start === undefined && end !== undefined) return [shifted(end, -(latency ?? 0)) ?? end, end];
  const from = start ?? JSON.stringify(options.start ?? options.time);
  return [from, latency === undefined ? from : (shifted(from, latency) ?? from)];
}
