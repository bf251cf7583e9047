import type { Gate, RevisionHeldMessage } from '@fairlead/contracts';
import { type WorkItem, WorkQueue } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';

/** Duration of a lease (ms): one look can read several hundred thousand runs. */
const LEASE_MS = 60_000;
const MOST_OF_TENANT = 1;

/** A revision that waits for evidence. */
export interface HeldRevision {
  readonly revision_id: string;
  readonly tenant_id: string;
  readonly deployment_id: string;
  readonly gates: readonly Gate[];
  readonly until: string;
  /** Stamps of the experiments at the last look. */
  readonly stamp: string;
}

/** The revisions that wait for evidence, as a queue of looks. */
@Injectable()
export class HeldRevisions extends WorkQueue {
  constructor(pool: Pool) {
    super(pool, {
      ...{ table: 'gate_looks', key: 'revision_id', lease: LEASE_MS, mostOfTenant: MOST_OF_TENANT },
      counted: 'true',
    });
  }

  async find(tenantId: string, revisionId: string): Promise<HeldRevision | undefined> {
    const { rows } = await this.pool.query<
      Pick<HeldRevision, 'tenant_id' | 'deployment_id' | 'stamp'> & { held: string }
    >({
      name: 'find held revision',
      text: `select h.tenant_id, h.deployment_id, h.held, coalesce(l.stamp, '') as stamp
        from held_revisions h left join gate_looks l on l.tenant_id = $1 and l.revision_id = h.id
        where h.tenant_id = $1 and h.id = $2`,
      values: [tenantId, revisionId],
    });
    return rows[0] && { ...(JSON.parse(rows[0].held) as RevisionHeldMessage), ...rows[0] };
  }

  /** Notes what has been seen. */
  async saw({ tenant_id, revision_id }: HeldRevision, stamp: string): Promise<void> {
    const text = 'update gate_looks set stamp = $3 where tenant_id = $1 and revision_id = $2 and holder = $4';
    await this.pool.query(text, [tenant_id, revision_id, stamp, this.holder]);
  }

  /** Removes a revision about which all is said. */
  async finish(item: WorkItem): Promise<void> {
    await this.done(item);
  }

  /** Gives a revision back, to be looked at again after `pause` milliseconds. `failed`: the look did not succeed. */
  async rest({ id }: WorkItem, pause: number, failed: boolean): Promise<void> {
    const set = `failures = ${failed ? 'failures + 1' : '0'}, due_at = now() + $3 * interval '1 millisecond'`;
    await this.giveBack(id, set, [pause]);
    this.wakeAfter(pause);
  }
}
