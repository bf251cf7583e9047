import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { QUOTA_DEFAULTS, QuotaReached, quotaSetting } from './quotas';

type Full = (tenant: string) => void;

interface Storing {
  readonly bytes: number;
}

/**
 * Enforces how many bytes a workspace may store: uploaded bodies, changes of examples, attachments, source archives,
 * and runs that are sent one by one. The transactions that store and delete also change the counters, so that a check
 * reads two rows. Bytes that this process is storing count as soon as they are accepted. A workspace can exceed its
 * limit by what other processes are storing at the moment, and by runs that are recorded and not in the tables yet.
 */
@Injectable()
export class StoredBytes {
  /** Running stores of this process by workspace, in the order in which they came. */
  private readonly storing = new Map<string, Set<Storing>>();
  private readonly told: Full[] = [];

  constructor(
    private readonly pool: Pool,
    readonly limit: number = QUOTA_DEFAULTS.stored_bytes,
  ) {}

  /** Calls `full` whenever a workspace is refused, so that unused bodies can be deleted. */
  onFull(full: Full): void {
    this.told.push(full);
  }

  async used(tenant: string): Promise<number> {
    const { rows } = await this.pool.query<{ used: number }>(
      `select (coalesce((select sum(bytes) from stored_bytes where tenant_id = $1), 0)
         + coalesce((select bytes from stored_run_bytes where tenant_id = $1), 0))::float8 as used`,
      [tenant],
    );
    return rows[0]!.used;
  }

  /** Runs `store`, which stores at most `bytes` more. @throws QuotaReached before it runs */
  async within<T>(tenant: string, bytes: number, store: () => Promise<T>): Promise<T> {
    const own = { bytes };
    const all = this.storing.get(tenant) ?? new Set();
    this.storing.set(tenant, all.add(own));
    try {
      await this.admit(tenant, own, all);
      return await store();
    } finally {
      all.delete(own);
      if (all.size === 0) this.storing.delete(tenant);
    }
  }

  private async admit(tenant: string, own: Storing, all: ReadonlySet<Storing>): Promise<void> {
    for (;;) {
      // Those that came earlier count first, so that of two for which there is room for one, one is stored.
      const earlier = before(all, own);
      const used = await this.used(tenant);
      const storing = earlier.reduce((sum, { bytes }) => sum + bytes, own.bytes);
      if (used + storing <= this.limit) return;
      // What was stored in the meantime may have been counted twice.
      if (earlier.some((one) => !all.has(one))) continue;
      for (const tell of this.told) tell(tenant);
      throw new QuotaReached(
        `This workspace stores ${used} bytes of the ${this.limit} that it may store: ${own.bytes} more are too many (setting ${quotaSetting('stored_bytes')}).`,
      );
    }
  }

  /** Checks that the workspace may store `bytes` more, before they are read. @throws QuotaReached */
  async require(tenant: string, bytes: number): Promise<void> {
    await this.within(tenant, bytes, () => Promise.resolve());
  }
}

function before(all: ReadonlySet<Storing>, own: Storing): Storing[] {
  const earlier: Storing[] = [];
  for (const one of all) {
    if (one === own) break;
    earlier.push(one);
  }
  return earlier;
}
