import { type WorkItem, WorkQueue } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { RolloutsOptions } from './rollouts.options';

/**
 * Deployments with gates, which are looked at from time to time. A process of a version that does not know gates ends its
 * work on such a deployment where there is some for others, and leaves this queue alone.
 */
@Injectable()
export class GatedDeployments extends WorkQueue {
  constructor(pool: Pool, { lease }: RolloutsOptions) {
    super(pool, { table: 'gated_deployments', key: 'deployment_id', lease, mostOfTenant: 1, counted: 'true' });
  }

  /** Notes that a deployment has gates. */
  async note(tenantId: string, deploymentId: string): Promise<void> {
    await this.pool.query({
      name: 'note gated deployment',
      text: `insert into gated_deployments (tenant_id, deployment_id) values ($1, $2)
        on conflict (deployment_id) do update set noted = gated_deployments.noted + 1, due_at = now()
          where gated_deployments.tenant_id = $1`,
      values: [tenantId, deploymentId],
    });
    this.wake();
  }

  async remove(tenantId: string, deploymentId: string): Promise<void> {
    const text = 'delete from gated_deployments where tenant_id = $1 and deployment_id = $2';
    await this.pool.query(text, [tenantId, deploymentId]);
  }

  /** Removes a deployment that has no gates any more, unless some were noted meanwhile. */
  async finish(item: WorkItem): Promise<void> {
    if (!(await this.done(item))) await this.rest(item, 0);
  }

  /** Gives a deployment back, to be looked at again after `pause` milliseconds. */
  async rest({ id }: WorkItem, pause: number): Promise<void> {
    await this.giveBack(id, `due_at = now() + $3 * interval '1 millisecond'`, [pause]);
    this.wakeAfter(pause);
  }
}
