import { categoryOf } from './event';
import type { Batch } from './event-store';

/** Workspaces whose newest event is remembered; of the others only a position is known that it is not after. */
const WORKSPACES = 10_000;
const CATEGORIES = 1000;

/** Where the newest event of each workspace, and of each category of streams, is in the log. */
export class NewestEvents {
  private readonly byWorkspace: NewestOf;
  private readonly byCategory: NewestOf;

  /** `reached` is the position after which all events are given to `take`. */
  constructor(
    public reached: bigint,
    workspaces = WORKSPACES,
  ) {
    this.byWorkspace = new NewestOf(reached, workspaces);
    this.byCategory = new NewestOf(reached, CATEGORIES);
  }

  /** Takes note of the next events of the log. */
  take({ events, position }: Batch): void {
    for (const { stream, metadata, position: at } of events) {
      if (metadata.tenant !== undefined) this.byWorkspace.set(metadata.tenant, at);
      this.byCategory.set(categoryOf(stream), at);
    }
    if (position > this.reached) this.reached = position;
  }

  /**
   * A position after which there is no event of the workspace (of any, when it is undefined) in these categories (in all,
   * when they are undefined). Exact for what has happened lately, else the position at which memory begins.
   */
  of(workspace: string | undefined, categories: readonly string[] | undefined): bigint {
    const own = workspace === undefined ? this.reached : this.byWorkspace.get(workspace);
    if (categories === undefined) return own;
    let inCategories = 0n;
    for (const category of categories) {
      const at = this.byCategory.get(category);
      if (at > inCategories) inCategories = at;
    }
    return own < inCategories ? own : inCategories;
  }
}

/** The newest positions of at most so many keys, and a position that those of all other keys are not after. */
class NewestOf {
  private readonly known = new Map<string, bigint>();

  constructor(
    private others: bigint,
    private readonly most: number,
  ) {}

  get(key: string): bigint {
    return this.known.get(key) ?? this.others;
  }

  set(key: string, position: bigint): void {
    this.known.delete(key);
    this.known.set(key, position);
    if (this.known.size <= this.most) return;
    // In the order of their positions: the first one is the oldest.
    const [oldest, at] = this.known.entries().next().value!;
    this.known.delete(oldest);
    this.others = at;
  }
}
