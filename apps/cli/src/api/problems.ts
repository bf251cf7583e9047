/** Lines of an upload's file on which its rows begin, by index; undefined where that is not known. */
type LineOf = (row: number) => number | undefined;

/** Characters of a value that a message shows at most. */
const LONGEST_VALUE = 80;

interface Problem {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input?: unknown;
}

/**
 * Lines of an error answer for a reader: its sentence, or a line for each problem with the place in the request.
 * Undefined when the answer is not of the service's shape.
 */
export function problemLines(answer: unknown, lineOf: LineOf = () => undefined): string[] | undefined {
  const detail = (answer as { detail?: unknown } | null | undefined)?.detail;
  if (typeof detail === 'string') return [detail];
  if (!Array.isArray(detail)) return undefined;
  return detail.filter(isProblem).map(({ loc, msg, input }) => {
    const place = loc[0] === 'body' || loc[0] === 'path' || loc[0] === 'query' ? loc.slice(1) : loc;
    const path = pathOf(place);
    return `${rowOf(place, lineOf)}${path === '' ? '' : `${path}: `}${msg}${given(input, msg)}`;
  });
}

/** The value at fault where it is short and the message does not have it; the service has taken secrets out. */
function given(input: unknown, msg: string): string {
  if (typeof input === 'object' || input === undefined || input === '[redacted]') return '';
  const text = JSON.stringify(input);
  const isSaid = msg.includes(typeof input === 'string' ? input : text);
  return text.length > LONGEST_VALUE || isSaid ? '' : ` (given: ${text})`;
}

/** Indexes of the rows that an answer finds fault with. */
export function rowsAtFault(answer: unknown): Set<number> {
  const detail = (answer as { detail?: unknown } | null | undefined)?.detail;
  const rows = (Array.isArray(detail) ? detail : []).filter(isProblem).map(({ loc }) => rowIn(loc.slice(1)));
  return new Set(rows.filter((row) => row !== undefined));
}

function isProblem(value: unknown): value is Problem {
  const { loc, msg } = (value ?? {}) as Partial<Problem>;
  return Array.isArray(loc) && typeof msg === 'string';
}

function rowIn(place: Problem['loc']): number | undefined {
  return place[0] === 'results' && typeof place[1] === 'number' ? place[1] : undefined;
}

function rowOf(place: Problem['loc'], lineOf: LineOf): string {
  const row = rowIn(place);
  if (row === undefined) return '';
  const line = lineOf(row);
  return line === undefined ? `row ${row + 1}: ` : `row ${row + 1} (line ${line}): `;
}

function pathOf(place: Problem['loc']): string {
  return place.reduce<string>((path, part) => {
    if (typeof part === 'number') return path === '' ? `position ${part}` : `${path}[${part}]`;
    return path === '' ? part : `${path}.${part}`;
  }, '');
}
