import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { DeliveryNotFound } from '../integration/integration.errors';
import type { Push } from './delivery';
import type { Owner } from './delivery.store';
import type { DeliveryStatus, Outcome, PushStatus } from './judgement';

interface Page {
  readonly limit: number;
  /** Last id of the previous page. */
  readonly cursor?: string;
  readonly status?: string;
}

interface Row {
  readonly id: string;
  readonly host_id: string | null;
  readonly event: string | null;
  readonly status: DeliveryStatus;
  readonly reason: string | null;
  readonly received_at: Date;
  readonly last_received_at: Date;
  readonly times: number;
}

interface PushRow {
  readonly delivery_id: string;
  readonly push: string;
  readonly status: PushStatus;
  readonly reason: string | null;
  readonly head: string | null;
  readonly attempts: number;
  readonly next_attempt_at: Date | null;
  readonly deployments: string;
}

const COLUMNS = 'id, host_id, event, status, reason, received_at, last_received_at, times';

/** Reads the log of deliveries. */
@Injectable()
export class HostDeliveryQueries {
  constructor(private readonly pool: Pool) {}

  /** Returns a page of the deliveries of an integration, the newest first. `next_cursor` is null on the last page. */
  async list(owner: Owner, { limit, cursor, status }: Page) {
    const { tenantId, integrationId } = owner;
    const { rows } = await this.pool.query<Row>(
      `select ${COLUMNS} from integration_deliveries
       where tenant_id = $1 and integration_id = $2 and ($3::uuid is null or id < $3) and ($4::text is null or status = $4)
       order by id desc limit $5`,
      [tenantId, integrationId, cursor ?? null, status ?? null, limit + 1],
    );
    const shown = rows.slice(0, limit);
    return {
      resources: await this.records(owner, shown),
      next_cursor: rows.length > limit ? shown.at(-1)!.id : null,
    };
  }

  /** @throws DeliveryNotFound */
  async find(owner: Owner, id: string) {
    const { rows } = await this.pool.query<Row>(
      `select ${COLUMNS} from integration_deliveries where tenant_id = $1 and integration_id = $2 and id = $3`,
      [owner.tenantId, owner.integrationId, id],
    );
    const [record] = await this.records(owner, rows);
    if (!record) throw new DeliveryNotFound(id);
    return record;
  }

  private async records({ tenantId, integrationId }: Owner, deliveries: readonly Row[]) {
    const { rows } = await this.pool.query<PushRow>(
      `select delivery_id, push, status, reason, head, attempts, next_attempt_at, deployments from integration_pushes
       where tenant_id = $1 and integration_id = $2 and delivery_id = any($3::uuid[]) order by delivery_id, number`,
      [tenantId, integrationId, deliveries.map(({ id }) => id)],
    );
    return deliveries.map(({ received_at, last_received_at, ...row }) => {
      const pushes = rows.filter(({ delivery_id }) => delivery_id === row.id).map(pushRecord);
      return {
        ...row,
        // What is said of its pushes is said of a delivery.
        reason: row.reason ?? pushes.find(({ status }) => status === row.status)?.reason ?? null,
        received_at: received_at.toISOString(),
        last_received_at: last_received_at.toISOString(),
        pushes,
      };
    });
  }
}

function pushRecord({ push, status, reason, head, attempts, next_attempt_at, deployments }: PushRow) {
  const { repo_url, ref, before, commit, pusher, author, subject } = JSON.parse(push) as Push;
  return {
    ...{ repo_url, ref, before, commit, pusher, author, subject, status, reason, head, attempts },
    next_attempt_at: next_attempt_at?.toISOString() ?? null,
    deployments: JSON.parse(deployments) as Outcome[],
  };
}
