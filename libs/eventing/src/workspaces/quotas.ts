import { transaction } from '@fairlead/postgres';
import { Conflict } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import { idOf, type Recorded } from '../core/event';
import { Followers } from '../followers/followers';
import type { Projection } from '../followers/projection';

export const QUOTA_KINDS = [
  'api_keys',
  'deployments',
  'integrations',
  'listeners',
  'monitors',
  'oauth_providers',
  'views',
  'webhooks',
] as const;
type QuotaKind = (typeof QUOTA_KINDS)[number];
/** Limits of a workspace: the number of things of each kind, and stored bytes. */
export type QuotaLimits = Readonly<Record<QuotaKind | 'stored_bytes', number>>;

export const QUOTA_DEFAULTS: QuotaLimits = {
  api_keys: 1_000,
  deployments: 10_000,
  integrations: 1_000,
  listeners: 1_000,
  monitors: 100,
  oauth_providers: 1_000,
  views: 500,
  webhooks: 100,
  stored_bytes: 100 * 1024 ** 3,
};

export function quotaSetting(kind: keyof QuotaLimits): string {
  return `QUOTA_${kind.toUpperCase()}`;
}

export class QuotaReached extends Conflict {}

/** Returns the id of the thing whose end also ends this one, from the data of the event that created it. */
type MakerOf = (data: unknown) => string | null;

/**
 * Age after which a place is free again that was taken for something that was never created, for example after a crash.
 */
const ABANDONED = '1 hour';

/**
 * Enforces how many things of each kind a workspace may have. Before a thing is created, a place for it is taken in the
 * database, by one request of a workspace at a time, so that the limit holds for concurrent requests. Followers then
 * keep or free the places as events create and remove things.
 */
@Injectable()
export class Quotas {
  constructor(
    private readonly pool: Pool,
    private readonly followers: Followers,
    private readonly limits: QuotaLimits = QUOTA_DEFAULTS,
  ) {}

  /**
   * Counts things of a kind by the events that create and remove them. Their id is the end of the stream's name.
   * `makerOf` names the thing, if any, whose end also ends this one: then both places are freed together.
   */
  count(kind: QuotaKind, created: string, removed: string, makerOf: MakerOf = () => null): void {
    const projection: Projection = {
      name: `quota.${kind}`,
      types: [created, removed],
      handle: (events, tx) => apply(kind, created, makerOf, events, tx),
    };
    this.followers.register(projection);
  }

  /** Takes a place and runs `create`; frees the place when that fails. @throws QuotaReached */
  async within<T>(kind: QuotaKind, tenant: string, id: string, create: () => Promise<T>, limit?: number): Promise<T> {
    const taken = await this.take(kind, tenant, id, limit ?? this.limits[kind]);
    try {
      return await create();
    } catch (error) {
      // What was created all the same, although nobody knows it here, is counted by its event.
      const text = 'delete from quota_places where kind = $1 and id = $2 and not sure';
      if (taken) await this.pool.query(text, [kind, id]).catch(() => undefined);
      throw error;
    }
  }

  /** Frees the place of a removed thing at once, before its follower does. */
  async giveBack(kind: QuotaKind, id: string): Promise<void> {
    await this.pool.query(GIVE_BACK, [kind, id]);
  }

  async usage(tenant: string): Promise<Record<QuotaKind, { readonly used: number; readonly limit: number }>> {
    const { rows } = await this.pool.query<{ kind: string; used: number }>(
      'select kind, count(*)::int as used from quota_places where tenant_id = $1 group by kind',
      [tenant],
    );
    const used = new Map(rows.map((row) => [row.kind, row.used]));
    const entries = QUOTA_KINDS.map((kind) => [kind, { used: used.get(kind) ?? 0, limit: this.limits[kind] }] as const);
    return Object.fromEntries(entries) as Record<QuotaKind, { used: number; limit: number }>;
  }

  /** Takes a place. Returns false when a repetition of the command finds the place that was taken before. */
  private async take(kind: QuotaKind, tenant: string, id: string, limit: number): Promise<boolean> {
    return transaction(this.pool, async (tx) => {
      await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`quota ${kind} ${tenant}`]);
      await tx.query(
        `delete from quota_places where tenant_id = $1 and kind = $2 and not sure
           and taken_at < now() - interval '${ABANDONED}'`,
        [tenant, kind],
      );
      const { rows } = await tx.query<{ used: number; held: boolean }>(
        `select count(*)::int as used, coalesce(bool_or(id = $3), false) as held
         from quota_places where tenant_id = $1 and kind = $2`,
        [tenant, kind, id],
      );
      if (rows[0]!.held) return false;
      if (rows[0]!.used >= limit) throw new QuotaReached(sentence(kind, limit));
      await tx.query('insert into quota_places (kind, id, tenant_id) values ($1, $2, $3)', [kind, id, tenant]);
      return true;
    });
  }
}

function sentence(kind: QuotaKind, limit: number): string {
  const things = kind.replace('_', ' ');
  return `This workspace has ${limit} ${things}, as many as it may have (setting ${quotaSetting(kind)}).`;
}

const GIVE_BACK = `
  with recursive ended (id) as (
    select $2::text union select place.id from quota_places place join ended on place.maker = ended.id where kind = $1)
  delete from quota_places where kind = $1 and id in (select id from ended)`;

/** Keeps a place. A thing whose maker has no place any more has ended with it, and gets none. */
const KEEP = `
  insert into quota_places (kind, id, tenant_id, sure, maker)
  select $1, $2, $3, true, $4 where $4::text is null or exists (select from quota_places where kind = $1 and id = $4)
  on conflict (kind, id) do update set sure = true, maker = excluded.maker`;

async function apply(
  kind: QuotaKind,
  created: string,
  makerOf: MakerOf,
  events: readonly Recorded[],
  tx: PoolClient,
): Promise<void> {
  for (const { type, stream, data, metadata } of events) {
    const id = idOf(stream);
    if (type !== created) await tx.query(GIVE_BACK, [kind, id]);
    else if (metadata.tenant !== undefined) {
      const { rowCount } = await tx.query(KEEP, [kind, id, metadata.tenant, makerOf(data)]);
      if (rowCount === 0) await tx.query(GIVE_BACK, [kind, id]);
    }
  }
}
