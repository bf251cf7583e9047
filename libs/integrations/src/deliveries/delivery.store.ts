import { transaction } from '@fairlead/postgres';
import { Injectable } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import { v7 as uuid } from 'uuid';
import { IntegrationsOptions } from '../integration/integrations.options';
import type { Push } from './delivery';
import type { Judgement, Outcome, PushStatus } from './judgement';
import { type Branch, PushBranches } from './push-branches.store';

/** The workspace and the integration of deliveries. */
export type Owner = Branch;

/** A delivery that has been proved. */
export interface Received {
  readonly key: string;
  readonly hostId: string | null;
  readonly event: string | null;
  readonly pushes: readonly Push[];
  /** Why nothing can be made of it. */
  readonly refusal?: string;
}

/** A push as it is stored. */
export interface StoredPush {
  readonly delivery_id: string;
  readonly number: number;
  readonly push: Push;
  readonly received_at: Date;
  readonly deployments: readonly Outcome[];
}

interface PushRow extends Omit<StoredPush, 'push' | 'deployments'> {
  readonly push: string;
  readonly deployments: string;
}

const MOST_PUSHES = 100;
/** Deliveries after which those of an integration are counted. */
const EVERY = 50;
const MOST_COUNTED = 10_000;
const MIB = 1024 * 1024;
const OF_INTEGRATION = 'tenant_id = $1 and integration_id = $2';

/** The log of deliveries, and what was made of each of their pushes. */
@Injectable()
export class DeliveryStore {
  private readonly added = new Map<string, number>();

  constructor(
    private readonly pool: Pool,
    private readonly branches: PushBranches,
    private readonly options: IntegrationsOptions,
  ) {}

  /**
   * Stores a delivery unless it repeats one. Equal bodies without an id of the host are a repetition for some minutes
   * only: the same push can be made again later.
   */
  async add(
    owner: Owner,
    { key, hostId, event, pushes, refusal }: Received,
  ): Promise<{ id: string; repeated: boolean }> {
    const { tenantId, integrationId } = owner;
    const id = uuid();
    const stored = pushes.slice(0, MOST_PUSHES).map((push) => JSON.stringify(push));
    const left = pushes.length - stored.length;
    const cut = left > 0 ? `Only the first ${MOST_PUSHES} of ${pushes.length} branches are looked at.` : null;
    const none = `The delivery reports no branch or tag that was moved (event: ${event ?? 'none'}).`;
    const reason = refusal ?? (pushes.length === 0 ? none : cut);
    const insert = `
      insert into integration_deliveries
        (tenant_id, integration_id, id, key, host_id, event, received_at, last_received_at, status, reason, bytes)
      values ($1, $2, $3, $4, $5, $6, now(), now(), $7, $8, $9)
      on conflict (tenant_id, integration_id, key) do nothing`;
    const bytes = stored.reduce((sum, text) => sum + Buffer.byteLength(text), 500);
    const values = [tenantId, integrationId, id, key, hostId, event, refusal ? 'refused' : 'ignored', reason, bytes];
    return transaction(this.pool, async (tx) => {
      let isNew = (await tx.query(insert, values)).rowCount === 1;
      if (!isNew) {
        const { rows } = await tx.query<{ id: string; is_old: boolean }>(
          `select id, $4 and received_at < now() - $5 * interval '1 millisecond' as is_old
           from integration_deliveries where ${OF_INTEGRATION} and key = $3 for update`,
          [tenantId, integrationId, key, hostId === null, this.options.deliveries.repetition],
        );
        const known = rows[0];
        if (known && !known.is_old) {
          await tx.query(
            `update integration_deliveries set times = times + 1, last_received_at = now()
             where ${OF_INTEGRATION} and id = $3`,
            [tenantId, integrationId, known.id],
          );
          return { id: known.id, repeated: true };
        }
        if (known) {
          await tx.query(`update integration_deliveries set key = $4 where ${OF_INTEGRATION} and id = $3`, [
            ...[tenantId, integrationId, known.id],
            `${key} ${known.id}`,
          ]);
        }
        isNew = (await tx.query(insert, values)).rowCount === 1;
      }
      if (isNew && stored.length > 0) {
        await tx.query(
          `insert into integration_pushes (tenant_id, integration_id, delivery_id, number, branch_id, push, status)
           select $1, $2, $3, number, branch, push, 'ignored'
           from unnest($4::uuid[], $5::text[]) with ordinality as pushes (branch, push, number)`,
          [
            tenantId,
            integrationId,
            id,
            pushes.slice(0, MOST_PUSHES).map((push) => this.branches.idOf(owner, push)),
            stored,
          ],
        );
      }
      await this.bound(owner, tx);
      return { id, repeated: false };
    });
  }

  /** Counts a delivery that nobody has proved: one entry tells of all of them with the same reason. */
  async addUnproved({ tenantId, integrationId }: Owner, reason: string, times: number): Promise<void> {
    await this.pool.query(
      `insert into integration_deliveries
         (tenant_id, integration_id, id, key, received_at, last_received_at, times, status, reason, bytes)
       values ($1, $2, $3, $4, now(), now(), $5, 'refused', $6, 500)
       on conflict (tenant_id, integration_id, key)
       do update set times = integration_deliveries.times + $5, last_received_at = now()`,
      [tenantId, integrationId, uuid(), `unproved ${reason}`, times, reason],
    );
  }

  /** Returns the pushes of a delivery that are left out or set aside, to be judged again. */
  async unsettled(owner: Owner, id: string): Promise<StoredPush[]> {
    return this.pushes(`delivery_id = $3 and p.status in ('ignored', 'set_aside')`, owner, id);
  }

  /** Returns the waiting pushes of a branch, in the order in which they were delivered. */
  async waiting(owner: Owner, branchId: string): Promise<StoredPush[]> {
    return this.pushes(`branch_id = $3 and p.status = 'waiting'`, owner, branchId);
  }

  /** Records what was made of pushes, and lets the heads of branches be asked for where they wait for it. */
  async settle(
    owner: Owner,
    judged: readonly { readonly push: StoredPush; readonly judgement: Judgement; readonly head?: string }[],
  ): Promise<void> {
    if (judged.length === 0) return;
    const { tenantId, integrationId } = owner;
    const ids = [...new Set(judged.map(({ push }) => push.delivery_id))];
    await transaction(this.pool, async (tx) => {
      await this.lock(owner, ids, tx);
      await tx.query(
        `update integration_pushes p set status = j.status, reason = j.reason, head = coalesce(j.head, p.head),
           deployments = j.deployments, next_attempt_at = null,
           waits_since = case when j.status = 'waiting' then now() end,
           attempts = case when j.status = 'waiting' then 0 else p.attempts + (j.head is not null)::int end
         from unnest($3::uuid[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[])
           as j (delivery_id, number, status, reason, head, deployments)
         where ${OF_INTEGRATION} and p.delivery_id = j.delivery_id and p.number = j.number`,
        [
          ...[tenantId, integrationId, judged.map(({ push }) => push.delivery_id)],
          judged.map(({ push }) => push.number),
          judged.map(({ judgement }) => judgement.status),
          judged.map(({ judgement }) => judgement.reason),
          judged.map(({ head }) => head ?? null),
          judged.map(({ judgement }) => JSON.stringify(judgement.deployments)),
        ],
      );
      await this.sum(owner, ids, tx);
      const waiting = judged.filter(({ judgement }) => judgement.status === 'waiting');
      const branches = waiting.map(({ push }) => this.branches.idOf(owner, push.push));
      if (branches.length > 0) await this.branches.note(owner, branches, tx);
    });
    this.branches.wake();
  }

  /** Records that the host gave no answer about a branch: its pushes wait, or are set aside when that took too long. */
  async failed(
    owner: Owner,
    pushes: readonly StoredPush[],
    reason: string,
    next: { readonly pause: number; readonly patience: number },
  ): Promise<{ readonly waits: boolean }> {
    const { tenantId, integrationId } = owner;
    const ids = [...new Set(pushes.map(({ delivery_id }) => delivery_id))];
    return transaction(this.pool, async (tx) => {
      await this.lock(owner, ids, tx);
      const { rows } = await tx.query<{ status: PushStatus }>(
        `update integration_pushes p set attempts = attempts + 1, reason = $5,
           status = case when waits_since < now() - $7 * interval '1 millisecond' then 'set_aside' else 'waiting' end,
           next_attempt_at = case when waits_since >= now() - $7 * interval '1 millisecond'
             then now() + $6 * interval '1 millisecond' end
         from unnest($3::uuid[], $4::int[]) as f (delivery_id, number)
         where ${OF_INTEGRATION} and p.status = 'waiting' and p.delivery_id = f.delivery_id and p.number = f.number
         returning p.status`,
        [
          ...[
            tenantId,
            integrationId,
            pushes.map(({ delivery_id }) => delivery_id),
            pushes.map(({ number }) => number),
          ],
          ...[reason, next.pause, next.patience],
        ],
      );
      await this.sum(owner, ids, tx);
      return { waits: rows.some(({ status }) => status === 'waiting') };
    });
  }

  /** Notes the revision that was made for a delivery. */
  async built(tenantId: string, deliveryId: string, deploymentId: string, revisionId: string): Promise<void> {
    await transaction(this.pool, async (tx) => {
      const { rows } = await tx.query<{ number: number; deployments: string }>(
        'select number, deployments from integration_pushes where tenant_id = $1 and delivery_id = $2 for update',
        [tenantId, deliveryId],
      );
      for (const { number, deployments } of rows) {
        const outcomes = JSON.parse(deployments) as Outcome[];
        const named = outcomes.map((one) =>
          one.deployment_id === deploymentId && one.reason === null ? { ...one, revision_id: revisionId } : one,
        );
        await tx.query(
          'update integration_pushes set deployments = $4 where tenant_id = $1 and delivery_id = $2 and number = $3',
          [tenantId, deliveryId, number, JSON.stringify(named)],
        );
      }
    });
  }

  /** Deletes what is stored for an integration. */
  async forget({ tenantId, integrationId }: Owner): Promise<void> {
    await this.pool.query(`delete from integration_deliveries where ${OF_INTEGRATION}`, [tenantId, integrationId]);
    await this.pool.query(`delete from push_branches where ${OF_INTEGRATION}`, [tenantId, integrationId]);
  }

  /** Deletes some deliveries that are older than they are kept, and returns how many. */
  async sweep(most: number): Promise<number> {
    const { rowCount } = await this.pool.query(
      `delete from integration_deliveries where (tenant_id, integration_id, id) in (
         select tenant_id, integration_id, id from integration_deliveries
         where received_at < now() - $1 * interval '1 millisecond' limit $2)`,
      [this.options.deliveries.retention, most],
    );
    return rowCount ?? 0;
  }

  private async pushes(condition: string, { tenantId, integrationId }: Owner, id: string): Promise<StoredPush[]> {
    const { rows } = await this.pool.query<PushRow>(
      `select p.delivery_id, p.number, p.push, p.deployments, d.received_at from integration_pushes p
       join integration_deliveries d on d.tenant_id = $1 and d.integration_id = $2 and d.id = p.delivery_id
       where p.tenant_id = $1 and p.integration_id = $2 and ${condition} order by p.delivery_id, p.number limit 1000`,
      [tenantId, integrationId, id],
    );
    return rows.map(({ push, deployments, ...row }) => ({
      ...row,
      push: JSON.parse(push) as Push,
      deployments: JSON.parse(deployments) as Outcome[],
    }));
  }

  /** Locks deliveries: two branches of one delivery are settled one after the other, or neither would see the other. */
  private async lock({ tenantId }: Owner, ids: readonly string[], tx: PoolClient): Promise<void> {
    await tx.query(
      'select from integration_deliveries where tenant_id = $1 and id = any($2::uuid[]) order by id for update',
      [tenantId, ids],
    );
  }

  /** Sets the statuses of deliveries to those of their pushes. */
  private async sum({ tenantId, integrationId }: Owner, ids: readonly string[], tx: PoolClient): Promise<void> {
    await tx.query(
      `update integration_deliveries d set status = s.status from (
         select delivery_id, case when bool_or(status = 'set_aside') then 'set_aside'
           when bool_or(status = 'waiting') then 'waiting' when bool_or(status = 'done') then 'done'
           else 'ignored' end as status
         from integration_pushes where ${OF_INTEGRATION} and delivery_id = any($3::uuid[]) group by delivery_id) s
       where d.tenant_id = $1 and d.integration_id = $2 and d.id = s.delivery_id`,
      [tenantId, integrationId, ids],
    );
  }

  /**
   * Deletes the oldest deliveries beyond what is kept of an integration and of a workspace. Of too many that wait, the
   * oldest go too: a newer one of their branch asks for the same head.
   */
  private async bound({ tenantId, integrationId }: Owner, tx: PoolClient): Promise<void> {
    const { mostOfIntegration, mostOfTenant } = this.options.deliveries;
    const added = (this.added.get(integrationId) ?? 0) + 1;
    this.added.set(integrationId, added);
    if (added < Math.min(EVERY, mostOfIntegration)) return;
    if (this.added.size > MOST_COUNTED) this.added.clear();
    this.added.delete(integrationId);
    const beyond = (condition: string, values: readonly unknown[], most: number, bytes: number) =>
      tx.query(
        `delete from integration_deliveries where tenant_id = $1 and id in (select id from (
           select id, row_number() over newest as place, sum(bytes) over newest as size
           from integration_deliveries where ${condition} window newest as (order by id desc)) as kept
         where place > ${most} or (size > ${bytes} and place > 1))`,
        [...values],
      );
    await beyond(OF_INTEGRATION, [tenantId, integrationId], mostOfIntegration, 16 * MIB);
    await beyond('tenant_id = $1', [tenantId], mostOfTenant, 64 * MIB);
  }
}
