/** The members of a run that say where it stands in its trace, and when it ran. */
interface TreeRun {
  readonly id: string;
  readonly start_time: string;
  readonly end_time: string | null;
  readonly parent_run_id: string | null;
}

/** A run in the order of its tree. */
export interface TreeRow<T> {
  readonly run: T;
  readonly depth: number;
  /** Place of the row of the run above it; -1 at the top. */
  readonly above: number;
  /** Place behind the last row below it. */
  readonly end: number;
  /** True when the run above it has not arrived: it stands below the root. */
  readonly isOrphan: boolean;
}

/**
 * Runs in the order in which a tree shows them, siblings by their start. Runs that no parents lead to, because those have
 * not arrived or are parents of each other, stand below the root, or at the top when there is none.
 */
export function inTree<T extends TreeRun>(runs: readonly T[], root?: string): TreeRow<T>[] {
  const known = new Map(runs.map((run) => [run.id, run]));
  const top = root !== undefined && known.has(root) ? root : undefined;
  const below = new Map<string | undefined, T[]>();
  for (const run of [...known.values()].sort(byStart)) {
    const { id, parent_run_id: parent } = run;
    const above = id === top ? undefined : parent !== null && parent !== id && known.has(parent) ? parent : top;
    const siblings = below.get(above);
    if (siblings) siblings.push(run);
    else below.set(above, [run]);
  }
  const rows: (Omit<TreeRow<T>, 'end'> & { end: number })[] = [];
  const seen = new Set<string>();
  // A list of what is still to be visited in place of recursion: a trace can be as deep as its sender likes.
  const visit = (first: T, above: number) => {
    const open = [{ run: first, above }];
    for (let next = open.pop(); next; next = open.pop()) {
      const { run } = next;
      if (seen.has(run.id)) continue;
      seen.add(run.id);
      const place = rows.length;
      const parent = rows[next.above];
      const isOrphan = run.parent_run_id !== null && run.id !== top && run.parent_run_id !== parent?.run.id;
      rows.push({ run, depth: parent ? parent.depth + 1 : 0, above: next.above, end: place + 1, isOrphan });
      for (const child of (below.get(run.id) ?? []).toReversed()) open.push({ run: child, above: place });
    }
  };
  for (const run of below.get(undefined) ?? []) visit(run, -1);
  for (const run of known.values()) if (!seen.has(run.id)) visit(run, top === undefined ? -1 : 0);
  for (let place = rows.length - 1; place >= 0; place--) {
    const { above, end } = rows[place]!;
    if (above >= 0 && rows[above]!.end < end) rows[above]!.end = end;
  }
  return rows;
}

function byStart(one: TreeRun, other: TreeRun): number {
  return order(one.start_time, other.start_time) || order(one.id, other.id);
}

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The places of the rows that are shown while those below some runs are folded away. */
export function unfolded<T extends TreeRun>(rows: readonly TreeRow<T>[], folded: ReadonlySet<string>): number[] {
  const shown: number[] = [];
  for (let place = 0; place < rows.length;) {
    shown.push(place);
    place = folded.has(rows[place]!.run.id) ? rows[place]!.end : place + 1;
  }
  return shown;
}

/** First start and last end of runs, in milliseconds since 1970. A run without an end lasts at least until its start. */
export function spanOf(runs: readonly TreeRun[]): { from: number; to: number } {
  let [from, to] = [Infinity, -Infinity];
  for (const { start_time, end_time } of runs) {
    const [start, end] = [Date.parse(start_time), Date.parse(end_time ?? start_time)];
    if (start < from) from = start;
    if (end > to) to = end;
    if (start > to) to = start;
  }
  return { from, to };
}

/** Left edge and width of the bar of a run in per cent of the span; a run without an end lasts to its end. */
export function barOf({ start_time, end_time }: TreeRun, { from, to }: { from: number; to: number }) {
  const whole = to - from;
  if (whole <= 0) return { left: 0, width: 100 };
  const left = ((Date.parse(start_time) - from) / whole) * 100;
  const end = end_time === null ? 100 : ((Date.parse(end_time) - from) / whole) * 100;
  return { left, width: Math.max(0, end - left) };
}
