/** Something that happened in a workspace, as everybody in it may know. */
export interface Change {
  /** Place in the log. */
  readonly position: bigint;
  readonly workspace: string;
  readonly type: string;
  /** Every id that its facts name. */
  readonly ids: ReadonlySet<string>;
  /** JSON of `type`, `timestamp` and `data`. */
  readonly text: string;
}

interface Kept {
  readonly changes: Change[];
  characters: number;
  /** All changes of the workspace after this position are here. */
  since: bigint;
}

const LIMITS = { workspaces: 256, changes: 1000, characters: 262_144 };

/**
 * The newest changes of the workspaces in which something has happened lately: a bounded number of each, and of a bounded
 * number of workspaces.
 */
export class RecentChanges {
  private readonly kept = new Map<string, Kept>();
  /** All changes of workspaces that are not kept came before it. */
  private forgotten: bigint;

  /** `reached` is the position after which all changes are given to `take`. */
  constructor(
    public reached: bigint,
    private readonly limits = LIMITS,
  ) {
    this.forgotten = reached;
  }

  /** Takes note of the next changes, up to a position of the log. */
  take(changes: readonly Change[], position: bigint): void {
    for (const change of changes) this.add(change);
    if (position > this.reached) this.reached = position;
  }

  /** The changes of a workspace after a position, the oldest first; undefined when some of them are no longer known. */
  after(workspace: string, position: bigint): readonly Change[] | undefined {
    const kept = this.kept.get(workspace);
    if (position < (kept?.since ?? this.forgotten)) return undefined;
    return kept?.changes.filter((change) => change.position > position) ?? [];
  }

  private add(change: Change): void {
    const { workspace } = change;
    const kept = this.kept.get(workspace) ?? { changes: [], characters: 0, since: this.forgotten };
    // The workspaces stand in the order of their newest changes.
    this.kept.delete(workspace);
    this.kept.set(workspace, kept);
    kept.changes.push(change);
    kept.characters += change.text.length;
    while (kept.changes.length > this.limits.changes || kept.characters > this.limits.characters) {
      const oldest = kept.changes.shift()!;
      kept.characters -= oldest.text.length;
      kept.since = oldest.position;
    }
    if (this.kept.size <= this.limits.workspaces) return;
    const [name, { changes, since }] = this.kept.entries().next().value!;
    this.kept.delete(name);
    const last = changes.at(-1)?.position ?? since;
    if (last > this.forgotten) this.forgotten = last;
  }
}
