import { type WorkItem, WorkQueue } from '@fairlead/eventing';
import type { Pool } from 'pg';

/** Duration of a lease (ms). */
const LEASE_MS = 20_000;
/** Items of one workspace that are worked on at a time. */
const OF_TENANT = 2;

/** A queue of what code hosts are called for. One process works on an item at a time. */
export abstract class HostQueue extends WorkQueue {
  constructor(pool: Pool, table: string, key: string) {
    super(pool, {
      ...{ table, key, lease: LEASE_MS, mostOfTenant: OF_TENANT, counted: 'true' },
      eligible: 'not exists (select from stopped_workspaces s where s.tenant_id = q.tenant_id)',
    });
  }

  /** Ends the work on an item; there is more of it when something was noted meanwhile. */
  async finish(item: WorkItem): Promise<void> {
    if (await this.done(item)) return;
    await this.giveBack(item.id, 'due_at = now(), failures = 0');
    this.wake();
  }

  /** Lets an item be worked on again after `pause` milliseconds, or sooner when something is noted. */
  async postpone({ id, noted }: WorkItem, pause: number): Promise<void> {
    await this.giveBack(
      id,
      `failures = failures + 1,
       due_at = now() + case when noted = $3 then $4::float8 else 0 end * interval '1 millisecond'`,
      [noted.toString(), pause],
    );
    this.wakeAfter(pause);
  }
}
