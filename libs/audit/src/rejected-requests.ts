import { newId } from '@fairlead/eventing';
import { clientNetwork } from '@fairlead/edge';

/** A request that was answered 401 or 403. `tenantId` and `actor` are null when they are not known. */
export interface RejectedRequest {
  readonly tenantId: string | null;
  readonly actor: string | null;
  readonly request: string;
  readonly status: 401 | 403;
  readonly requestId: string;
  readonly address: string;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** Rejected requests of one minute that are alike: the first of them, and how many there were. */
interface CountedRejection extends RejectedRequest {
  readonly id: string;
  readonly count: number;
}

/** Request and address of the row that sums up all requests beyond the limit. */
export const OTHERS = 'others';
const MINUTE_MS = 60_000;

/**
 * Sums rejected requests by the minute. Without a known key they are summed by the client's address (IPv6 by its /64 network),
 * with one by key, request and address. The number of different sums in a minute is bounded, in total and for each
 * workspace; what comes beyond it is summed as "others".
 */
export class RejectedRequestCounts {
  private minute = 0;
  private rows = new Map<string, CountedRejection>();
  private owners = new Map<string | null, number>();
  private changed = new Map<string, CountedRejection>();

  constructor(
    private readonly most: number,
    private readonly mostOfOne: number,
  ) {}

  add(rejected: RejectedRequest): void {
    const minute = Math.floor(rejected.time / MINUTE_MS);
    if (minute !== this.minute) {
      this.minute = minute;
      this.rows = new Map();
      this.owners = new Map();
    }
    const row = this.rowOf({ ...rejected, address: clientNetwork(rejected.address) });
    const { count } = this.changed.get(row.id) ?? { count: 0 };
    this.changed.set(row.id, { ...row, count: count + 1 });
  }

  /** Returns the counts since the last call. A later call can return the same id with a larger count. */
  take(): CountedRejection[] {
    const taken = [...this.changed.values()];
    this.changed = new Map();
    return taken;
  }

  private rowOf(rejected: RejectedRequest): CountedRejection {
    const { tenantId, actor, request, status, address } = rejected;
    const key = JSON.stringify(
      actor === null ? [tenantId, status, address] : [tenantId, actor, request, status, address],
    );
    const known = this.rows.get(key);
    if (known) return known;
    const owned = this.owners.get(tenantId) ?? 0;
    if (request !== OTHERS && (owned >= this.mostOfOne || this.rows.size >= this.most)) {
      // When even the sums of others are too many, they are summed for the whole installation.
      const owner = this.rows.size >= 2 * this.most ? null : tenantId;
      return this.rowOf({ ...rejected, tenantId: owner, actor: null, request: OTHERS, address: OTHERS });
    }
    const row = { ...rejected, id: newId(), count: 0 };
    this.rows.set(key, row);
    this.owners.set(tenantId, owned + 1);
    return row;
  }
}
