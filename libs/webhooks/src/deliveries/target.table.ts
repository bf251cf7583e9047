import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import { WebhooksOptions } from '../webhooks.options';

/** A webhook with due deliveries. This process holds it as long as it renews its lease. */
export interface Target {
  readonly webhookId: string;
  /** A number that grows with every new delivery. */
  readonly noted: bigint;
}

/** The health of a target. Times are ISO 8601; null while its attempts succeed. */
export interface Health {
  readonly failingSince: string | null;
  /** Time until which it is not called. */
  readonly pausedUntil: string | null;
}

export interface HealthRow {
  readonly failing_since: Date | null;
  readonly rests_until: Date | null;
}

export const HEALTHY: Health = { failingSince: null, pausedUntil: null };

export function healthOf({ failing_since, rests_until }: HealthRow): Health {
  return { failingSince: failing_since?.toISOString() ?? null, pausedUntil: rests_until?.toISOString() ?? null };
}

/**
 * Number of failures in a row after which a target pauses. The pauses (s) double with each failure, from the first to
 * the longest.
 */
const PATIENT = 3;
const FIRST_REST_S = 10;
const LONGEST_REST_S = 3600;

/** The table of webhooks with due deliveries. At most one process at a time holds a webhook. */
@Injectable()
export class TargetTable {
  private readonly holder = randomUUID();
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly pool: Pool,
    private readonly options: WebhooksOptions,
  ) {}

  /** Calls `heard` when this process has recorded new deliveries. */
  onWake(heard: () => void): void {
    this.listeners.add(heard);
  }

  wake(): void {
    for (const heard of this.listeners) heard();
  }

  /** Enables deliveries to a webhook. `renewed`: earlier failures no longer count. */
  async keep(
    { id, tenant_id }: { readonly id: string; readonly tenant_id: string },
    renewed: boolean,
    tx: PoolClient,
  ): Promise<void> {
    await tx.query(
      `insert into webhook_targets (webhook_id, tenant_id, due_at) values ($1, $2, $3)
       on conflict (webhook_id) do nothing`,
      [id, tenant_id, this.now()],
    );
    if (!renewed) return;
    await tx.query(
      `update webhook_targets set failing_since = null, failures = 0, rests_until = null,
         due_at = case when removed then null else least(due_at, $2) end
       where webhook_id = $1`,
      [id, this.now()],
    );
  }

  /** Ends deliveries to a webhook and lets its log be deleted. */
  async remove(webhookId: string, tx: PoolClient): Promise<void> {
    await tx.query('update webhook_targets set removed = true, due_at = null where webhook_id = $1', [webhookId]);
  }

  /** Records that webhooks have due deliveries. Call it after the deliveries were written, in the same transaction. */
  async note(webhookIds: readonly string[], tx: PoolClient): Promise<void> {
    await tx.query(
      `update webhook_targets set noted = noted + 1, due_at = greatest(least(due_at, $2), rests_until)
       where webhook_id = any($1::uuid[]) and not removed`,
      [webhookIds, this.now()],
    );
  }

  /** As `note`, for deliveries on request: a paused target is tried once. */
  async noteAsked(webhookId: string, tx: PoolClient): Promise<void> {
    await tx.query('update webhook_targets set rests_until = null where webhook_id = $1', [webhookId]);
    await this.note([webhookId], tx);
  }

  /**
   * Leases up to `most` webhooks with due deliveries that no running process holds: workspaces in turn, each up to its
   * limit, and none that is suspended.
   */
  async claim(most: number): Promise<Target[]> {
    const { rows } = await this.pool.query<{ webhook_id: string; noted: string }>({
      name: 'claim webhook targets',
      text: `with held as (
          select tenant_id, count(*) as places from webhook_targets where leased_until >= now() group by tenant_id),
        waiting as (
          select webhook_id, due_at,
            coalesce(places, 0) + row_number() over (partition by tenant_id order by due_at) as place
          from webhook_targets left join held using (tenant_id)
          where due_at <= $4 and (leased_until is null or leased_until < now())
            and not exists (select from stopped_workspaces s where s.tenant_id = webhook_targets.tenant_id))
        update webhook_targets set holder = $1, leased_until = now() + $3 * interval '1 millisecond'
        where webhook_id in (
          select target.webhook_id from webhook_targets as target join waiting using (webhook_id)
          where place <= $5 and (leased_until is null or leased_until < now())
          order by place, waiting.due_at limit $2 for update of target skip locked)
        returning webhook_id, noted`,
      values: [this.holder, most, this.options.lease, this.now(), this.options.targetsPerTenant],
    });
    return rows.map((row) => ({ webhookId: row.webhook_id, noted: BigInt(row.noted) }));
  }

  /** Renews the lease. */
  async renew({ webhookId }: Target): Promise<void> {
    await this.pool.query(
      `update webhook_targets set leased_until = now() + $3 * interval '1 millisecond'
       where webhook_id = $1 and holder = $2`,
      [webhookId, this.holder, this.options.lease],
    );
  }

  /** Ends the lease. A webhook with due or new deliveries comes after all waiting ones. */
  async finish({ webhookId, noted }: Target): Promise<void> {
    await this.pool.query({
      name: 'finish webhook target',
      text: `update webhook_targets set holder = null, leased_until = null,
          due_at = case when noted <> $3 then greatest($4::timestamptz, rests_until) else
            (select case when min(d.due_at) is not null then greatest(min(d.due_at), $4, rests_until) end
             from webhook_deliveries d where webhook_id = $1 and status = 'pending') end
        where webhook_id = $1 and holder = $2 and not removed`,
      values: [webhookId, this.holder, noted.toString(), this.now()],
    });
  }

  /** Ends the lease; the webhook is due again after `pause` milliseconds. */
  async postpone({ webhookId }: Target, pause: number): Promise<void> {
    await this.pool.query(
      `update webhook_targets set holder = null, leased_until = null, due_at = $3
       where webhook_id = $1 and holder = $2 and not removed`,
      [webhookId, this.holder, new Date(this.options.now() + pause)],
    );
  }

  async noteSuccess(webhookId: string): Promise<void> {
    await this.pool.query(
      `update webhook_targets set failing_since = null, failures = 0, rests_until = null
       where webhook_id = $1 and failing_since is not null`,
      [webhookId],
    );
  }

  /**
   * Records a failure. Returns since when no attempt has succeeded (ms since 1970), and whether the target must pause.
   */
  async noteFailure(webhookId: string): Promise<{ readonly since: number; readonly rests: boolean }> {
    const { rows } = await this.pool.query<{ failing_since: Date; rests_until: Date | null }>(
      `update webhook_targets set failing_since = coalesce(failing_since, $2), failures = failures + 1,
         rests_until = case when failures + 1 >= ${PATIENT} then
           $2 + least(${FIRST_REST_S} * power(2, least(failures + 1 - ${PATIENT}, 20)), ${LONGEST_REST_S})
             * interval '1 second' end
       where webhook_id = $1 returning failing_since, rests_until`,
      [webhookId, this.now()],
    );
    return { since: rows[0]?.failing_since.getTime() ?? this.options.now(), rests: rows[0]?.rests_until != null };
  }

  /** Returns the health of the target of a webhook. */
  async health(webhookId: string): Promise<Health> {
    const { rows } = await this.pool.query<HealthRow>(
      'select failing_since, rests_until from webhook_targets where webhook_id = $1',
      [webhookId],
    );
    return healthOf(rows[0] ?? { failing_since: null, rests_until: null });
  }

  private now(): Date {
    return new Date(this.options.now());
  }
}
