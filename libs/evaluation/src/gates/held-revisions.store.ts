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
  readonly active_revision_id: string | null;
  readonly until: string;
  /** Stamps of the experiments at the last look. */
  readonly stamp: string;
}

/** The revisions that wait for evidence, as a queue of looks. */
@Injectable()
export class HeldRevisions extends WorkQueue {
  constructor(pool: Pool) {
    super(pool, {
      ...{ table: 'held_revisions', key: 'revision_id', lease: LEASE_MS, mostOfTenant: MOST_OF_TENANT },
      counted: 'true',
    });
  }

  async add(tenantId: string, deploymentId: string, held: RevisionHeldMessage): Promise<void> {
    await this.pool.query({
      name: 'add held revision',
      text: `insert into held_revisions (tenant_id, revision_id, deployment_id, held) values ($1, $2, $3, $4)
        on conflict (revision_id) do nothing`,
      values: [tenantId, held.revision_id, deploymentId, JSON.stringify(held)],
    });
    this.wake();
  }

  async remove(tenantId: string, revisionId: string): Promise<void> {
    const text = 'delete from held_revisions where tenant_id = $1 and revision_id = $2';
    await this.pool.query(text, [tenantId, revisionId]);
  }

  async removeOf(tenantId: string, deploymentId: string): Promise<void> {
    const text = 'delete from held_revisions where tenant_id = $1 and deployment_id = $2';
    await this.pool.query(text, [tenantId, deploymentId]);
  }

  async find(revisionId: string): Promise<HeldRevision | undefined> {
    const { rows } = await this.pool.query<
      Pick<HeldRevision, 'tenant_id' | 'deployment_id' | 'stamp'> & { held: string }
    >({
      name: 'find held revision',
      text: 'select tenant_id, deployment_id, held, stamp from held_revisions where revision_id = $1',
      values: [revisionId],
    });
    return rows[0] && { ...(JSON.parse(rows[0].held) as RevisionHeldMessage), ...rows[0] };
  }

  /** Notes what has been seen. */
  async saw(revisionId: string, stamp: string): Promise<void> {
    const text = 'update held_revisions set stamp = $2 where revision_id = $1 and holder = $3';
    await this.pool.query(text, [revisionId, stamp, this.holder]);
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
