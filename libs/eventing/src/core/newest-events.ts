import { categoryOf } from './event';
import type { Batch } from './event-store';

/** So many newest events are remembered of each kind; of others only a position is known that they are not after. */
const KEPT = 20_000;

/** Where the newest event of each workspace and each category of streams is in the log, and of both together. */
export class NewestEvents {
  private readonly byWorkspace: NewestOf;
  private readonly byCategory: NewestOf;
  private readonly byBoth: NewestOf;

  /** `reached` is the position after which all events are given to `take`. */
  constructor(
    public reached: bigint,
    most = KEPT,
  ) {
    this.byWorkspace = new NewestOf(reached, most);
    this.byCategory = new NewestOf(reached, most);
    this.byBoth = new NewestOf(reached, most);
  }

  /** Takes note of the next events of the log. */
  take({ events, position }: Batch): void {
    for (const { stream, metadata, position: at } of events) {
      const category = categoryOf(stream);
      this.byCategory.set(category, at);
      if (metadata.tenant === undefined) continue;
      this.byWorkspace.set(metadata.tenant, at);
      this.byBoth.set(`${metadata.tenant} ${category}`, at);
    }
    if (position > this.reached) this.reached = position;
  }

  /**
   * A position after which there is no event of the workspace (of any, when it is undefined) in these categories (in all,
   * when they are undefined). Exact for what has happened lately, else the position at which memory begins.
   */
  of(workspace: string | undefined, categories: readonly string[] | undefined): bigint {
    if (categories === undefined) return workspace === undefined ? this.reached : this.byWorkspace.get(workspace);
    let newest = 0n;
    for (const category of categories) {
      const at = workspace === undefined ? this.byCategory.get(category) : this.byBoth.get(`${workspace} ${category}`);
      if (at > newest) newest = at;
    }
    return newest;
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
