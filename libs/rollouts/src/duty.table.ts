import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';

/** A deployment to look at, held by this process as long as it renews the hold. */
export interface Duty {
  readonly deploymentId: string;
  /** Grows with every event that asked to look at it. */
  readonly noted: bigint;
  /** How often in a row its executor could not be reached. */
  readonly failures: number;
}

/** Deployments that may have something to do. Each is held by at most one process at a time. */
@Injectable()
export class Duties {
  private readonly holder = randomUUID();
  private readonly listeners = new Set<(deploymentId: string) => void>();

  constructor(private readonly pool: Pool) {}

  /** Calls `heard` for everything that is noted in this process. */
  onNote(heard: (deploymentId: string) => void): void {
    this.listeners.add(heard);
  }

  /** Says that a deployment of a workspace is to be looked at now. */
  async note(deploymentId: string, tenant?: string): Promise<void> {
    await this.pool.query({
      name: 'note rollout duty of workspace',
      text: `insert into rollout_duties (deployment_id, tenant_id, noted) values ($1, $2, 1)
        on conflict (deployment_id) do update set noted = rollout_duties.noted + 1, due_at = now(),
          tenant_id = coalesce(excluded.tenant_id, rollout_duties.tenant_id)`,
      values: [deploymentId, tenant],
    });
    for (const heard of this.listeners) heard(deploymentId);
  }

  /**
   * Takes up to `most` that are due and that no living process holds. The workspaces for which this process holds the
   * fewest come first, and for none it holds more than `mostOfTenant`.
   */
  async claim(most: number, mostOfTenant: number, lease: number): Promise<Duty[]> {
    const { rows } = await this.pool.query<{ deployment_id: string; noted: string; failures: number }>({
      name: 'claim rollout duties of workspaces',
      text: `with held as (select tenant_id, count(*) as places from rollout_duties where holder = $1 group by tenant_id),
        waiting as (
          select deployment_id, due_at, coalesce(held.places, 0)
            + row_number() over (partition by d.tenant_id order by due_at, deployment_id) as place
          from rollout_duties d left join held on held.tenant_id is not distinct from d.tenant_id
          where due_at <= now() and (leased_until is null or leased_until < now()))
        update rollout_duties set holder = $1, leased_until = now() + $3 * interval '1 millisecond'
        where deployment_id in (
          select d.deployment_id from rollout_duties d join waiting using (deployment_id)
          where place <= $4 and d.due_at <= now() and (d.leased_until is null or d.leased_until < now())
          order by place, waiting.due_at limit $2 for update of d skip locked)
        returning deployment_id, noted, failures`,
      values: [this.holder, most, lease, mostOfTenant],
    });
    return rows.map((row) => ({
      deploymentId: row.deployment_id,
      noted: BigInt(row.noted),
      failures: row.failures,
    }));
  }

  /** Holds it for another while; answers what has been noted by now, undefined when the hold was lost. */
  async renew({ deploymentId }: Duty, lease: number): Promise<bigint | undefined> {
    const { rows } = await this.pool.query<{ noted: string }>({
      name: 'renew rollout duty',
      text: `update rollout_duties set leased_until = now() + $3 * interval '1 millisecond'
        where deployment_id = $1 and holder = $2 returning noted`,
      values: [deploymentId, this.holder, lease],
    });
    return rows[0] && BigInt(rows[0].noted);
  }

  /** Nothing is left to do, unless more was noted since: then it is given back. */
  async finish({ deploymentId, noted }: Duty): Promise<void> {
    await this.pool.query({
      name: 'finish rollout duty',
      text: `with done as (
          delete from rollout_duties where deployment_id = $1 and holder = $2 and noted = $3 returning deployment_id)
        update rollout_duties set holder = null, leased_until = null, failures = 0
        where deployment_id = $1 and holder = $2 and noted <> $3 and not exists (select from done)`,
      values: [deploymentId, this.holder, noted.toString()],
    });
  }

  /** Gives it back, to be taken again after `pause` milliseconds or when something is noted. */
  async postpone({ deploymentId, noted, failures }: Duty, pause: number): Promise<void> {
    await this.pool.query(
      `update rollout_duties set holder = null, leased_until = null, failures = $5,
         due_at = case when noted = $3 then now() + $4 * interval '1 millisecond' else now() end
       where deployment_id = $1 and holder = $2`,
      [deploymentId, this.holder, noted.toString(), pause, failures + 1],
    );
  }

  /** Gives back everything that this process holds. */
  async release(): Promise<void> {
    await this.pool.query('update rollout_duties set holder = null, leased_until = null where holder = $1', [
      this.holder,
    ]);
  }
}
