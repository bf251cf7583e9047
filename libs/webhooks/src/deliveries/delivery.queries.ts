import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import type { DeliveryStatus } from '../webhook/webhook.schema';
import { DeliveryNotFound } from './delivery.errors';

/** A page and filter of the deliveries of a webhook. */
interface DeliveryPage {
  readonly limit: number;
  /** Last id of the previous page. */
  readonly cursor?: string;
  readonly status?: string;
  readonly event_type?: string;
}

interface Row {
  readonly id: string;
  readonly message_id: string;
  readonly event_type: string;
  readonly body: string;
  readonly created_at: Date;
  readonly status: DeliveryStatus;
  readonly due_at: Date;
  readonly attempts: number;
  readonly last_status: number | null;
  readonly finished_at: Date | null;
}

interface AttemptRow {
  readonly number: number;
  readonly at: Date;
  readonly latency_ms: number;
  readonly status: number | null;
  readonly response: string | null;
  readonly error: string | null;
}

const COLUMNS = 'id, message_id, event_type, created_at, status, due_at, attempts, last_status, finished_at';
/** Number of attempts of a delivery that are stored and shown, the newest ones. */
export const MOST_ATTEMPTS = 100;

/** SQL: that a delivery is one of a workspace; those of before have none until it is filled in. */
export function ofWorkspace(parameter: string, prefix = ''): string {
  return `(${prefix}tenant_id = ${parameter} or ${prefix}tenant_id is null)`;
}

/** Reads the log of deliveries. */
@Injectable()
export class DeliveryQueries {
  constructor(private readonly pool: Pool) {}

  /** Returns a page of a webhook's deliveries, the newest first. `next_cursor` is null on the last page. */
  async list(tenantId: string, webhookId: string, { limit, cursor, status, event_type }: DeliveryPage) {
    const { rows } = await this.pool.query<Row>(
      `select ${COLUMNS} from webhook_deliveries
       where webhook_id = $1 and ${ofWorkspace('$6')} and ($2::uuid is null or id < $2) and ($3::text is null or status = $3)
         and ($4::text is null or event_type = $4)
       order by id desc limit $5`,
      [webhookId, cursor ?? null, status ?? null, event_type ?? null, limit + 1, tenantId],
    );
    const shown = rows.slice(0, limit);
    return { resources: shown.map(deliveryRecord), next_cursor: rows.length > limit ? shown.at(-1)!.id : null };
  }

  /** Returns one delivery with its payload and its attempts, the newest first. @throws DeliveryNotFound */
  async find(tenantId: string, webhookId: string, id: string) {
    const { rows } = await this.pool.query<Row>(
      `select ${COLUMNS}, body from webhook_deliveries where id = $2 and webhook_id = $1 and ${ofWorkspace('$3')}`,
      [webhookId, id, tenantId],
    );
    const delivery = rows[0];
    if (!delivery) throw new DeliveryNotFound(id);
    const { rows: attempts } = await this.pool.query<AttemptRow>(
      `select number, at, latency_ms, status, response, error from webhook_attempts
       where delivery_id = $1 order by number desc limit $2`,
      [id, MOST_ATTEMPTS],
    );
    return {
      ...deliveryRecord(delivery),
      payload: JSON.parse(delivery.body) as object,
      attempts: attempts.map((attempt) => ({ ...attempt, at: attempt.at.toISOString() })),
    };
  }
}

function deliveryRecord({ id, message_id, event_type, status, ...row }: Row) {
  return {
    id,
    message_id,
    event_type,
    status,
    attempt_count: row.attempts,
    last_status: row.last_status,
    created_at: row.created_at.toISOString(),
    next_attempt_at: status === 'pending' ? row.due_at.toISOString() : null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}
