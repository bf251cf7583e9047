import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import { WebhooksOptions } from './webhooks.options';

/** A webhook with something to send, held by this process as long as it renews the hold. */
export interface Target {
  readonly webhookId: string;
  /** Grows with everything new that is to be sent. */
  readonly noted: bigint;
}

/** When there is something to send to which webhook. Each is held by at most one process at a time. */
@Injectable()
export class TargetTable {
  private readonly holder = randomUUID();
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly pool: Pool,
    private readonly options: WebhooksOptions,
  ) {}

  /** Calls `heard` when this process has noted something. */
  onWake(heard: () => void): void {
    this.listeners.add(heard);
  }

  wake(): void {
    for (const heard of this.listeners) heard();
  }

  /** Lets a webhook be sent to from now on. `renewed`: what failed before counts no more. */
  async keep(webhookId: string, renewed: boolean, tx: PoolClient): Promise<void> {
    await tx.query(
      `insert into webhook_targets (webhook_id, due_at) values ($1, $2)
       on conflict (webhook_id) do update
         set failing_since = case when $3 then null else webhook_targets.failing_since end`,
      [webhookId, this.now(), renewed],
    );
  }

  /** Lets nothing more be sent, and what was sent be cleared away. */
  async remove(webhookId: string, tx: PoolClient): Promise<void> {
    await tx.query('update webhook_targets set removed = true, due_at = null where webhook_id = $1', [webhookId]);
  }

  /** Says, after the deliveries have been written in the same transaction, that there is something to send now. */
  async note(webhookIds: readonly string[], tx: PoolClient): Promise<void> {
    await tx.query(
      `update webhook_targets set noted = noted + 1, due_at = least(due_at, $2)
       where webhook_id = any($1::uuid[]) and not removed`,
      [webhookIds, this.now()],
    );
  }

  /** Takes up to `most` that have something to send and that no living process holds. */
  async claim(most: number): Promise<Target[]> {
    const { rows } = await this.pool.query<{ webhook_id: string; noted: string }>({
      name: 'claim webhook targets',
      text: `update webhook_targets set holder = $1, leased_until = now() + $3 * interval '1 millisecond'
        where webhook_id in (
          select webhook_id from webhook_targets
          where due_at <= $4 and (leased_until is null or leased_until < now())
          order by due_at limit $2 for update skip locked)
        returning webhook_id, noted`,
      values: [this.holder, most, this.options.lease, this.now()],
    });
    return rows.map((row) => ({ webhookId: row.webhook_id, noted: BigInt(row.noted) }));
  }

  /** Holds it for another while. */
  async renew({ webhookId }: Target): Promise<void> {
    await this.pool.query(
      `update webhook_targets set leased_until = now() + $3 * interval '1 millisecond'
       where webhook_id = $1 and holder = $2`,
      [webhookId, this.holder, this.options.lease],
    );
  }

  /** Gives it back, behind all others that wait when something is due already or has been noted since. */
  async finish({ webhookId, noted }: Target): Promise<void> {
    await this.pool.query({
      name: 'finish webhook target',
      text: `update webhook_targets set holder = null, leased_until = null,
          due_at = case when noted <> $3 then $4::timestamptz else
            (select case when min(due_at) < $4 then $4 else min(due_at) end
             from webhook_deliveries where webhook_id = $1 and status = 'pending') end
        where webhook_id = $1 and holder = $2 and not removed`,
      values: [webhookId, this.holder, noted.toString(), this.now()],
    });
  }

  /** Gives it back, to be taken again after `pause` milliseconds. */
  async postpone({ webhookId }: Target, pause: number): Promise<void> {
    await this.pool.query(
      `update webhook_targets set holder = null, leased_until = null, due_at = $3
       where webhook_id = $1 and holder = $2 and not removed`,
      [webhookId, this.holder, new Date(this.options.now() + pause)],
    );
  }

  async noteSuccess(webhookId: string): Promise<void> {
    await this.pool.query(
      'update webhook_targets set failing_since = null where webhook_id = $1 and failing_since is not null',
      [webhookId],
    );
  }

  /** Answers since when no attempt has succeeded, in milliseconds since 1970. */
  async noteFailure(webhookId: string): Promise<number> {
    const { rows } = await this.pool.query<{ failing_since: Date }>(
      `update webhook_targets set failing_since = coalesce(failing_since, $2) where webhook_id = $1
       returning failing_since`,
      [webhookId, this.now()],
    );
    return rows[0]?.failing_since.getTime() ?? this.options.now();
  }

  /** Since when no delivery to a webhook has succeeded. */
  async failingSince(webhookId: string): Promise<string | null> {
    const { rows } = await this.pool.query<{ failing_since: Date | null }>(
      'select failing_since from webhook_targets where webhook_id = $1',
      [webhookId],
    );
    return rows[0]?.failing_since?.toISOString() ?? null;
  }

  private now(): Date {
    return new Date(this.options.now());
  }
}
