/** A request that was answered 401 or 403. `tenantId` and `actor` are null when they are not known. */
export interface Refusal {
  readonly tenantId: string | null;
  readonly actor: string | null;
  readonly request: string;
  readonly status: 401 | 403;
  readonly requestId: string;
  readonly address: string;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** Like refusals, counted: the first of them, and how many there were. */
export interface CountedRefusal extends Refusal {
  readonly count: number;
}

/** Refusals that are alike within one flush are one row, so that a flood of them stays small. */
export class RefusalCounts {
  private counts = new Map<string, CountedRefusal>();
  /** Refusals that found no room. */
  dropped = 0;

  constructor(private readonly most: number) {}

  add(refusal: Refusal): void {
    const { tenantId, actor, request, status, address } = refusal;
    const key = JSON.stringify([tenantId, actor, request, status, address]);
    const before = this.counts.get(key);
    if (before) this.counts.set(key, { ...before, count: before.count + 1 });
    else if (this.counts.size < this.most) this.counts.set(key, { ...refusal, count: 1 });
    else this.dropped += 1;
  }

  /** All that were counted since the last time. */
  take(): CountedRefusal[] {
    const taken = [...this.counts.values()];
    this.counts = new Map();
    return taken;
  }
}
