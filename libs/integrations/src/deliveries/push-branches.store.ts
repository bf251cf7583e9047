import { createHash } from 'node:crypto';
import { plainRepository } from '@fairlead/contracts';
import { Injectable } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import { HostQueue } from '../hosts/host-queue.store';
import type { Push } from './delivery';

/** Owner and name of the branch of an item of the queue. */
export interface Branch {
  readonly tenantId: string;
  readonly integrationId: string;
}

/** The branches whose head is to be asked for. One process works on a branch at a time, so that its heads keep their order. */
@Injectable()
export class PushBranches extends HostQueue {
  constructor(pool: Pool) {
    super(pool, 'push_branches', 'id');
  }

  /** Returns the id of the branch of a push, the same for every delivery. */
  idOf({ tenantId, integrationId }: Branch, { repository_id, repo_url, ref }: Push): string {
    const repository = repository_id ?? plainRepository(repo_url);
    const hash = createHash('sha256').update([tenantId, integrationId, repository, ref].join('\0')).digest('hex');
    return hash.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }

  /** Notes that there are pushes of branches. A branch whose host did not answer is asked for at once. */
  async note({ tenantId, integrationId }: Branch, ids: readonly string[], tx: PoolClient): Promise<void> {
    // In one order, so that two deliveries do not wait for one another.
    await tx.query(
      `insert into push_branches (id, tenant_id, integration_id, due_at)
       select id, $2, $3, now() from unnest($1::uuid[]) as id order by id
       on conflict (id) do update set noted = push_branches.noted + 1, due_at = now()`,
      [[...new Set(ids)], tenantId, integrationId],
    );
  }

  async find(id: string): Promise<Branch | undefined> {
    const { rows } = await this.pool.query<{ tenant_id: string; integration_id: string }>(
      'select tenant_id, integration_id from push_branches where id = $1',
      [id],
    );
    return rows[0] && { tenantId: rows[0].tenant_id, integrationId: rows[0].integration_id };
  }
}
