/** A row and roughly how many bytes its opaque columns hold. */
export interface Sized {
  readonly id: string;
  readonly size: number;
}

const BATCH_BYTES = 8 * 2 ** 20;

/** Ids in their order, in groups of at most 8 MiB (a single larger row makes its own), so that no page is held whole. */
export function batches<T extends Sized>(rows: readonly T[]): T[][] {
  const groups: T[][] = [];
  let bytes = Infinity;
  for (const row of rows) {
    bytes += row.size;
    if (bytes > BATCH_BYTES) {
      groups.push([row]);
      bytes = row.size;
    } else groups.at(-1)?.push(row);
  }
  return groups;
}

/** The JSON text `open`, the items of all groups separated by commas, `close`, in pieces of one group. */
export async function* pieces<T>(
  open: string,
  groups: readonly T[],
  render: (group: T) => Promise<readonly string[]>,
  close: string,
): AsyncGenerator<string> {
  yield open;
  let first = true;
  for (const group of groups) {
    const items = (await render(group)).join(',');
    if (!items) continue;
    yield first ? items : `,${items}`;
    first = false;
  }
  yield close;
}

/** A short answer as one text, a long one as a generator of pieces that is read as fast as the client takes it. */
export async function answer<T>(
  open: string,
  groups: readonly T[],
  render: (group: T) => Promise<readonly string[]>,
  close: string,
): Promise<string | AsyncGenerator<string>> {
  const all = pieces(open, groups, render, close);
  if (groups.length > 1) return all;
  let text = '';
  for await (const piece of all) text += piece;
  return text;
}
