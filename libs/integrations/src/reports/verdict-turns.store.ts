import { Injectable } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import { HostQueue } from '../hosts/host-queue.store';

/** The deployments of whose revisions code hosts are to be told. */
@Injectable()
export class VerdictTurns extends HostQueue {
  constructor(pool: Pool) {
    super(pool, 'verdict_turns', 'deployment_id');
  }

  /** Notes that there is something to tell of a deployment, which is done at once. */
  async note(tenantId: string, deploymentId: string, tx: PoolClient): Promise<void> {
    await tx.query(
      `insert into verdict_turns (tenant_id, deployment_id) values ($1, $2)
       on conflict (deployment_id) do update set noted = verdict_turns.noted + 1, due_at = now()`,
      [tenantId, deploymentId],
    );
  }
}
