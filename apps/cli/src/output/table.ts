import { fit, fitEnd, width } from './text';

export interface Column {
  readonly title: string;
  /** Numbers stand at the right. */
  readonly right?: boolean;
  /** May be cut when the terminal is too narrow, and at which end. */
  readonly flexible?: boolean | 'at its beginning';
}

type Paint = (text: string) => string;

/** Clean text, and how it is coloured once it has its width. */
export type Cell = string | { readonly text: string; readonly paint: Paint };

const GAP = '  ';
const LEAST = 8;

/** Lines of a table with a heading; flexible columns are cut to make it fit into `columns`. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  heading: Paint,
  available = Infinity,
): string[] {
  const titles = columns.map(({ title }) => ({ text: title, paint: heading }));
  const widths = columns.map(({ title }, index) =>
    rows.reduce((most, row) => Math.max(most, width(textOf(row[index]))), width(title)),
  );
  shrink(widths, columns, available - GAP.length * (columns.length - 1));
  return [titles, ...rows].map((row) => {
    const cells = columns.map(({ right, flexible }, index) => {
      const cell = row[index] ?? '';
      const text = (flexible === 'at its beginning' ? fitEnd : fit)(textOf(cell), widths[index]!);
      const space = ' '.repeat(widths[index]! - width(text));
      const painted = typeof cell === 'string' || text === '' ? text : cell.paint(text);
      return right ? space + painted : painted + space;
    });
    return cells.join(GAP).trimEnd();
  });
}

function textOf(cell: Cell | undefined): string {
  return typeof cell === 'object' ? cell.text : (cell ?? '');
}

/** Takes from the widest flexible column until all fit or none can give more. */
function shrink(widths: number[], columns: readonly Column[], available: number): void {
  let over = widths.reduce((sum, each) => sum + each, 0) - available;
  while (over > 0) {
    let widest = -1;
    for (const [index, { flexible }] of columns.entries()) {
      if (flexible && widths[index]! > LEAST && (widest < 0 || widths[index]! > widths[widest]!)) widest = index;
    }
    if (widest < 0) return;
    widths[widest]!--;
    over--;
  }
}
