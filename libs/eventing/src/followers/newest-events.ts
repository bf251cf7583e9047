import { categoryOf } from '../core/event';
import type { Batch } from '../core/event-store';

/** Number of keys of each kind whose newest position is known exactly; for all others, an upper bound is known. */
const KEPT = 20_000;

/** Knows the position of the newest event of each workspace, of each category of streams, and of each pair of both. */
export class NewestEvents {
  private readonly byWorkspace: NewestOf;
  private readonly byCategory: NewestOf;
  private readonly byBoth: NewestOf;

  /** `reached`: the position after which all events will be given to `take`. */
  constructor(
    public reached: bigint,
    most = KEPT,
  ) {
    this.byWorkspace = new NewestOf(reached, most);
    this.byCategory = new NewestOf(reached, most);
    this.byBoth = new NewestOf(reached, most);
  }

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
   * Returns a position after which the workspace has no event in these categories (any workspace, all categories when
   * undefined). It is exact for recent events; otherwise it is the position at which this object began to remember.
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

/** Remembers the newest positions of a limited number of keys, and an upper bound of the positions of all others. */
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
