/** Anything that moves a terminal's cursor or changes its state, and marks that reorder text. */
// eslint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
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

/** A time of an answer, in UTC and to the second. */
export function when(iso: string | null | undefined): string {
  const time = iso ? new Date(iso) : undefined;
  if (!time || Number.isNaN(time.getTime())) return '-';
  return `${time.toISOString().slice(0, 19).replace('T', ' ')}Z`;
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
