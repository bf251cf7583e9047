import { fit, fitEnd, width, wrapped } from './text';

export interface Column {
  readonly title: string;
  /** Numbers stand at the right. */
  readonly right?: boolean;
  /** An id beside a name: left out where room is short, since the name stands for it. */
  readonly id?: boolean;
  /** May be cut when the terminal is too narrow, and at which end. */
  readonly flexible?: boolean | 'at its beginning';
  /** Left out when cutting does not make enough room. */
  readonly spare?: boolean;
  /** A name: never cut, but continued on further lines when nothing else makes room. */
  readonly whole?: boolean;
}

type Paint = (text: string) => string;

/** Clean text, and how it is coloured once it has its width. */
export type Cell = string | { readonly text: string; readonly paint: Paint };

const GAP = '  ';
const LEAST = 8;

/**
 * Lines of a table with a heading, at most `available` columns wide: first ids are left out, then flexible columns are
 * cut, then spare columns are left out, the last one first, and at last names go on in further lines.
 */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  heading: Paint,
  available = Infinity,
): string[] {
  const titles = columns.map(({ title }) => ({ text: title, paint: heading }));
  const natural = columns.map(({ title }, index) =>
    rows.reduce((most, row) => Math.max(most, width(textOf(row[index]))), width(title)),
  );
  const kept = keptColumns(columns, natural, available);
  const widths = kept.map((index) => natural[index]!);
  const room = available - GAP.length * (kept.length - 1);
  const inKept = kept.map((index) => columns[index]!);
  shrink(widths, inKept, room, ({ flexible }) => flexible !== undefined && flexible !== false);
  shrink(widths, inKept, room, ({ whole }) => whole === true);
  return [titles, ...rows].flatMap((row) =>
    lines(
      kept.map((index) => row[index] ?? ''),
      inKept,
      widths,
    ),
  );
}

/** Indexes of the columns that there is room for. */
function keptColumns(columns: readonly Column[], widths: readonly number[], available: number): number[] {
  let kept = columns.map((_, index) => index);
  const least = (index: number) => (columns[index]!.flexible ? Math.min(LEAST, widths[index]!) : widths[index]!);
  const needed = (of: (index: number) => number) =>
    kept.reduce((sum, index) => sum + of(index), GAP.length * (kept.length - 1));
  if (needed((index) => widths[index]!) > available) kept = kept.filter((index) => !columns[index]!.id);
  for (const index of [...columns.keys()].reverse()) {
    if (needed(least) <= available) break;
    if (columns[index]!.spare) kept = kept.filter((each) => each !== index);
  }
  return kept;
}

/** The line of a row, and further ones where names go on. */
function lines(cells: readonly Cell[], columns: readonly Column[], widths: readonly number[]): string[] {
  const parts = cells.map((cell, index) => {
    const text = textOf(cell);
    const { flexible, whole } = columns[index]!;
    if (whole) return wrapped(text, widths[index]!);
    return [flexible ? (flexible === 'at its beginning' ? fitEnd : fit)(text, widths[index]!) : text];
  });
  const count = Math.max(...parts.map(({ length }) => length));
  return Array.from({ length: count }, (_, line) =>
    cells
      .map((cell, index) => {
        const text = parts[index]![line] ?? '';
        const space = ' '.repeat(Math.max(0, widths[index]! - width(text)));
        const painted = typeof cell === 'string' || text === '' ? text : cell.paint(text);
        return columns[index]!.right ? space + painted : painted + space;
      })
      .join(GAP)
      .trimEnd(),
  );
}

function textOf(cell: Cell | undefined): string {
  return typeof cell === 'object' ? cell.text : (cell ?? '');
}

/** Takes from the widest of these columns until all fit or none can give more. */
function shrink(
  widths: number[],
  columns: readonly Column[],
  available: number,
  gives: (column: Column) => boolean,
): void {
  let over = widths.reduce((sum, each) => sum + each, 0) - available;
  while (over > 0) {
    let widest = -1;
    for (const [index, column] of columns.entries()) {
      if (gives(column) && widths[index]! > LEAST && (widest < 0 || widths[index]! > widths[widest]!)) widest = index;
    }
    if (widest < 0) return;
    widths[widest]!--;
    over--;
  }
}
