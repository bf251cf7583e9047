/** The members of a run that show its place below a shared one. */
interface TreeRun {
  readonly id: string;
  readonly parent_run_id?: string | null;
}

/** Runs in the order in which a tree shows them, each with its depth; those whose parent is not known stand at the top. */
export function inTree<T extends TreeRun>(runs: readonly T[]): { run: T; depth: number }[] {
  const known = new Set(runs.map(({ id }) => id));
  const below = new Map<string | null, T[]>();
  for (const run of runs) {
    const parent = run.parent_run_id && known.has(run.parent_run_id) ? run.parent_run_id : null;
    const siblings = below.get(parent);
    if (siblings) siblings.push(run);
    else below.set(parent, [run]);
  }
  const listed: { run: T; depth: number }[] = [];
  // A list of what is still to be visited in place of recursion: a trace can be as deep as its sender likes.
  const open = (below.get(null) ?? []).map((run) => ({ run, depth: 0 })).reverse();
  for (let next = open.pop(); next; next = open.pop()) {
    listed.push(next);
    const { run, depth } = next;
    for (const child of [...(below.get(run.id) ?? [])].reverse()) open.push({ run: child, depth: depth + 1 });
  }
  return listed;
}
