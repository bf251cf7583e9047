/** Anything that moves a terminal's cursor or changes its state, and marks that reorder text. */
// eslint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6])/u;
const NARROW = /^[\u0020-\u02ff]*$/;
const segments = new Intl.Segmenter();

/** One line that is safe to print, whatever the service sent. */
export function clean(text: string): string {
  return text
    .replaceAll(/\s*[\r\n]+\s*/g, ' ')
    .replaceAll('\t', ' ')
    .replaceAll(UNSAFE, '\ufffd');
}

/** Columns that a clean text takes in a terminal. */
export function width(text: string): number {
  if (NARROW.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of segments.segment(text)) columns += WIDE.test(segment) ? 2 : 1;
  return columns;
}

/** The text, cut to at most `columns` with an ellipsis. */
export function fit(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let shown = '';
  let used = 1;
  for (const { segment } of segments.segment(text)) {
    used += width(segment);
    if (used > columns) break;
    shown += segment;
  }
  return `${shown.trimEnd()}…`;
}

/** The text, cut at its beginning to at most `columns`. */
export function fitEnd(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let shown = '';
  let used = 1;
  for (const { segment } of [...segments.segment(text)].reverse()) {
    used += width(segment);
    if (used > columns) break;
    shown = segment + shown;
  }
  return `…${shown.trimStart()}`;
}

/** The text in lines of at most `columns`, broken after spaces where that is possible. */
export function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (width(rest) > columns) {
    const line = start(rest, columns);
    const space = line.lastIndexOf(' ') + 1;
    const taken = space > columns / 2 ? line.slice(0, space) : line;
    lines.push(taken.trimEnd());
    rest = rest.slice(taken.length).trimStart();
  }
  return [...lines, rest];
}

/** The beginning of a text that takes at most `columns`, one character at least. */
function start(text: string, columns: number): string {
  let taken = '';
  let used = 0;
  for (const { segment } of segments.segment(text)) {
    used += width(segment);
    if (used > columns && taken !== '') break;
    taken += segment;
  }
  return taken;
}

const UNITS = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** A time of an answer in ISO 8601, in UTC and to the second. */
export function iso(text: string | null | undefined): string {
  const time = text ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? '-' : `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/** A time of an answer: how long ago on a terminal, else in ISO 8601. */
export function when(text: string | null | undefined): string {
  const time = text ? Date.parse(text) : NaN;
  return process.stdout.isTTY && !Number.isNaN(time) ? ago((Date.now() - time) / 1000) : iso(text);
}

/** `2 minutes ago`, `in 3 days`. */
export function ago(seconds: number): string {
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? UNITS.at(-1)!;
  const count = Math.floor(Math.abs(seconds) / size);
  if (count === 0) return 'now';
  return seconds < 0 ? `in ${counted(count, unit)}` : `${counted(count, unit)} ago`;
}

/** A score with four significant digits. */
export function score(value: number | null | undefined): string {
  if (value === null || value === undefined) return '-';
  return String(Number(value.toPrecision(4)));
}

/** A probability. */
export function probability(p: number | null | undefined): string {
  if (p === null || p === undefined) return '-';
  return p < 0.0001 ? '<0.0001' : p.toFixed(4);
}

export function percent(share: number | null | undefined): string {
  return share === null || share === undefined ? '-' : `${Number((share * 100).toPrecision(3))} %`;
}

export function seconds(value: number | null | undefined): string {
  return value === null || value === undefined ? '-' : `${Number(value.toPrecision(3))} s`;
}

export function bytes(count: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, count)) / 3));
  return `${power === 0 ? count : (count / 1000 ** power).toFixed(1)} ${units[power]}`;
}

/** A value of an answer as one short line: text as it is, anything else as JSON. */
export function brief(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return clean(typeof value === 'string' ? value : JSON.stringify(value));
}

/** `1 row`, `2 rows`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
