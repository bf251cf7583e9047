import { type WorkItem, WorkQueue } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { RolloutsOptions } from './rollouts.options';

/** Deployments that may have something to do. */
@Injectable()
export class RolloutQueue extends WorkQueue {
  constructor(pool: Pool, { lease, mostOfTenant }: RolloutsOptions) {
    super(pool, {
      ...{ table: 'rollout_duties', key: 'deployment_id', lease, renewal: 1000, mostOfTenant },
      counted: 'holder = $1 and not waits',
      // A lease that was not given back ended with its process, in the middle of its work.
      begins: 'waits = false, failures = failures + (leased_until is not null)::int',
    });
  }

  /**
   * Says that a deployment of a workspace is to be looked at now, because of the event at `version` of its stream. What
   * is noted is never a smaller number than that.
   */
  async note(deploymentId: string, version: number, tenant?: string): Promise<void> {
    const { rows } = await this.pool.query<{ noted: string }>({
      name: 'note rollout duty of version',
      text: `insert into rollout_duties (deployment_id, tenant_id, noted) values ($1, $2, $3)
        on conflict (deployment_id) do update set noted = greatest(rollout_duties.noted + 1, excluded.noted),
          due_at = now(), tenant_id = coalesce(excluded.tenant_id, rollout_duties.tenant_id)
        returning noted`,
      values: [deploymentId, tenant, version],
    });
    this.wake(deploymentId, BigInt(rows[0]!.noted));
  }

  /** Says that a deployment that is leased here takes none of the places of its workspace. */
  async leavePlace(deploymentId: string): Promise<void> {
    await this.pool.query('update rollout_duties set waits = true where deployment_id = $1 and holder = $2', [
      deploymentId,
      this.holder,
    ]);
    this.wake();
  }

  /** Removes a deployment with which nothing is left to do; gives it back when more was noted for it. */
  async finish(item: WorkItem): Promise<void> {
    if (!(await this.done(item))) await this.again(item);
  }

  /** Gives a deployment back, to be leased again at once. */
  async again({ id }: WorkItem): Promise<void> {
    await this.giveBack(id, 'failures = 0');
    this.wake();
  }

  /** Gives a deployment back, to be leased again after `pause` milliseconds or when something is noted for it. */
  postpone(item: WorkItem, pause: number): Promise<void> {
    return this.giveBackFor(item, pause, 'failures = failures + 1');
  }

  /** The same for a deployment with which all is well. */
  rest(item: WorkItem, pause: number): Promise<void> {
    return this.giveBackFor(item, pause, 'failures = 0');
  }

  private async giveBackFor({ id, noted }: WorkItem, pause: number, set: string): Promise<void> {
    const dueAt = `case when noted = $3 then now() + $4 * interval '1 millisecond' else now() end`;
    await this.giveBack(id, `${set}, due_at = ${dueAt}`, [noted.toString(), pause]);
    this.wakeAfter(pause);
  }
}
