import { type WorkItem, WorkQueue } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import type { Monitor, Streaks } from './monitor';
import type { LastLook } from './monitor.queries';

/** Duration of a lease (ms), which is longer than a look may take. */
const LEASE_MS = 30_000;
const MOST_OF_TENANT = 2;

/** A monitor that is due, and the streaks of its looks. */
interface DueMonitor {
  readonly monitor: Monitor;
  readonly streaks: Streaks | null;
}

/** Results of a look that are stored. */
interface Seen {
  readonly edition: number;
  readonly streaks: Streaks;
  readonly last: LastLook;
}

/** The queue of looks, in which workspaces take turns. A monitor that is paused stays in it without a time. */
@Injectable()
export class MonitorLooks extends WorkQueue {
  constructor(pool: Pool) {
    super(pool, {
      ...{ table: 'monitor_looks', key: 'monitor_id', lease: LEASE_MS, mostOfTenant: MOST_OF_TENANT },
      counted: 'true',
      eligible: 'not exists (select from stopped_workspaces s where s.tenant_id = q.tenant_id)',
    });
  }

  /** Returns a monitor; streaks of looks from before a change by a client do not count. */
  async find(tenantId: string, id: string): Promise<DueMonitor | undefined> {
    const { rows } = await this.pool.query<{ state: string; edition: number | null; streaks: string | null }>({
      name: 'find due monitor',
      text: `select m.state, l.edition, l.streaks from monitors m
        join monitor_looks l on l.tenant_id = $1 and l.monitor_id = m.id where m.tenant_id = $1 and m.id = $2`,
      values: [tenantId, id],
    });
    if (!rows[0]) return undefined;
    const { state, edition, streaks } = rows[0];
    const monitor = JSON.parse(state) as Monitor;
    return {
      monitor,
      streaks: streaks !== null && edition === monitor.edition ? (JSON.parse(streaks) as Streaks) : null,
    };
  }

  /** Stores what a look of this process has found. */
  async saw({ id, tenant }: WorkItem, { edition, streaks, last }: Seen): Promise<void> {
    await this.pool.query({
      name: 'note look of monitor',
      text: `update monitor_looks set edition = $4, streaks = $5, last = $6
        where tenant_id = $1 and monitor_id = $2 and holder = $3`,
      values: [tenant, id, this.holder, edition, JSON.stringify(streaks), JSON.stringify(last)],
    });
  }

  /**
   * Gives a monitor back, to be looked at again after `pause` milliseconds, or when it is changed. `failed`: the look was
   * not made.
   */
  async rest({ id, noted }: WorkItem, pause: number | undefined, failed: boolean): Promise<void> {
    const later = `case when noted = $4 then now() + $3 * interval '1 millisecond' else now() end`;
    const set = `failures = ${failed ? 'failures + 1' : '0'}, due_at = ${later}`;
    await this.giveBack(id, set, [pause ?? null, noted.toString()]);
    if (pause !== undefined) this.wakeAfter(pause);
  }

  /** Removes a monitor that is gone. */
  async finish(item: WorkItem): Promise<void> {
    await this.done(item);
  }
}
