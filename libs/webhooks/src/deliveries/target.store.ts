import { type WorkItem, WorkQueue } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import { ofWorkspace } from './delivery.queries';
import { WebhooksOptions } from '../webhook/webhooks.options';

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

/** The webhooks to which there is something to send, and when. None of a suspended workspace is leased. */
@Injectable()
export class TargetStore extends WorkQueue {
  constructor(
    pool: Pool,
    private readonly options: WebhooksOptions,
  ) {
    super(pool, {
      ...{ table: 'webhook_targets', key: 'webhook_id', lease: options.lease, mostOfTenant: options.targetsPerTenant },
      counted: 'true',
      eligible: 'not exists (select from stopped_workspaces s where s.tenant_id = q.tenant_id)',
      now: options.now,
    });
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

  /** Gives a target back, behind all others that wait when something is due already or has been noted since. */
  finish({ id, tenant, noted }: WorkItem): Promise<void> {
    return this.giveBack(
      id,
      `due_at = case when removed then null when noted <> $3 then greatest($4::timestamptz, rests_until) else
         (select case when min(d.due_at) is not null then greatest(min(d.due_at), $4, rests_until) end
          from webhook_deliveries d where webhook_id = $1 and ${ofWorkspace('$5')} and status = 'pending') end`,
      [noted.toString(), this.now(), tenant],
    );
  }

  /** Gives a target back, to be leased again after `pause` milliseconds. */
  async postpone({ id }: WorkItem, pause: number): Promise<void> {
    const dueAt = new Date(this.options.now() + pause);
    await this.giveBack(id, 'due_at = case when not removed then $3::timestamptz end', [dueAt]);
    this.wakeAfter(pause);
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
