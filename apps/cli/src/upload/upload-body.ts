import { Usage } from '../failure';
import { type Place, rowName } from './import-report';
import type { RowDraft } from './row-draft';
import { RowIds } from './row-id';
import { secondsBetween, shifted, TimeWindow } from '../time-window';

/** A row of a file, and the line on which it begins. */
export interface FileRow {
  readonly draft: RowDraft;
  readonly line: number;
}

/** Members of an upload about the experiment as a whole. */
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
  /** Start and end of the experiment; the span of its rows when absent. */
  readonly start?: string;
  readonly end?: string;
  /** ISO time of rows that have none. */
  readonly time: string;
  readonly rowIds: 'inputs' | 'number';
}

/** Seconds by which a latency may differ from start and end, which are often measured apart from it; or 1 %. */
const MOST_APART = 0.01;
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
  onNote: (text: string) => void,
): AsyncGenerator<string> {
  const window = new TimeWindow();
  const ids = new RowIds(options.rowIds, onNote);
  let piece = '{"results":[';
  let count = 0;
  for await (const { draft, line } of rows) {
    piece += (count === 0 ? '' : ',\n') + rowText(draft, { row: count + 1, line }, ids, options, window, onNote);
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

function rowText(
  draft: RowDraft,
  place: Pick<Place, 'row' | 'line'>,
  ids: RowIds,
  options: BodyOptions,
  window: TimeWindow,
  onNote: (text: string) => void,
): string {
  const inputs = draft.object('inputs');
  if (inputs === undefined) throw new Usage(`${rowName(place)}: it has no inputs.`);
  const { row_id: own, start_time, end_time, ...texts } = Object.fromEntries(draft.texts);
  const reference = draft.object('expected_outputs');
  const { id, name } = ids.of({ ...place, name: own && ownName(own), inputs, reference });
  const [start, end] = times(start_time, end_time, draft.latency, options);
  if (start_time !== undefined && end_time !== undefined && draft.latency !== undefined) {
    const other = secondsBetween(start_time, end_time);
    if (other !== undefined && Math.abs(other - draft.latency) > Math.max(MOST_APART, other / 100)) {
      onNote(
        `${rowName(place)} has the latency ${draft.latency} s, but its start and end are ${other} s apart, which count.`,
      );
    }
  }
  window.add(start);
  window.add(end);
  const members = [
    `"row_id":${JSON.stringify(id)}`,
    ...(name === undefined ? [] : [`"row_name":${JSON.stringify(name)}`]),
    ...draft.members(),
    `"start_time":${start}`,
    `"end_time":${end}`,
    ...Object.entries(texts).map(([member, json]) => `"${member}":${json}`),
  ];
  return `{${members.join(',')}}`;
}

/** The text of a `row_id`; a number keeps its digits. An empty one is none. */
function ownName(json: string): string | undefined {
  return (json.startsWith('"') ? (JSON.parse(json) as string) : json) || undefined;
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
