import { transaction } from '@fairlead/postgres';
import { Conflict } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import { idOf, type Recorded } from './event';
import { Followers, type Projection } from '../followers/followers';

/** What a workspace can have a limited number of. */
export const QUOTA_KINDS = [
  'api_keys',
  'deployments',
  'integrations',
  'listeners',
  'oauth_providers',
  'webhooks',
] as const;
type QuotaKind = (typeof QUOTA_KINDS)[number];
/** How many a workspace may have of each kind, and how many bytes it may store. */
export type QuotaLimits = Readonly<Record<QuotaKind | 'stored_bytes', number>>;

export const QUOTA_DEFAULTS: QuotaLimits = {
  api_keys: 1_000,
  deployments: 10_000,
  integrations: 1_000,
  listeners: 1_000,
  oauth_providers: 1_000,
  webhooks: 100,
  stored_bytes: 100 * 1024 ** 3,
};

/** The setting that changes a limit. */
export function quotaSetting(kind: keyof QuotaLimits): string {
  return `QUOTA_${kind.toUpperCase()}`;
}

/** The workspace has as much of something as it may have. */
export class QuotaReached extends Conflict {}

/** The id of the thing with which one ends, from the data of the event that created it. */
type MakerOf = (data: unknown) => string | null;

/** A place that was taken for something that never came to be, as when a process was killed, is free after so long. */
const ABANDONED = '1 hour';

/**
 * How many things of each kind a workspace has, and may have. A place is taken in the database before the thing is
 * created, one creator of a workspace at a time, so that the limit holds however many are created at once. The log says
 * which places stay: followers take note of what was created and removed.
 */
@Injectable()
export class Quotas {
  constructor(
    private readonly pool: Pool,
    private readonly followers: Followers,
    private readonly limits: QuotaLimits = QUOTA_DEFAULTS,
  ) {}

  /**
   * Counts things of a kind by the events that create and remove them; the end of the stream's name is their id.
   * `makerOf` names the thing, if any, with which one ends: both give their places back together.
   */
  count(kind: QuotaKind, created: string, removed: string, makerOf: MakerOf = () => null): void {
    const projection: Projection = {
      name: `quota.${kind}`,
      types: [created, removed],
      handle: (events, tx) => apply(kind, created, makerOf, events, tx),
    };
    this.followers.register(projection);
  }

  /**
   * Runs `create` on a place for one more thing; the place is free again when that fails.
   * @throws QuotaReached
   */
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

  /** Gives the place of something that was removed back at once, before its follower does. */
  async giveBack(kind: QuotaKind, id: string): Promise<void> {
    await this.pool.query(GIVE_BACK, [kind, id]);
  }

  /** What a workspace has and may have of each kind. */
  async usage(tenant: string): Promise<Record<QuotaKind, { readonly used: number; readonly limit: number }>> {
    const { rows } = await this.pool.query<{ kind: string; used: number }>(
      'select kind, count(*)::int as used from quota_places where tenant_id = $1 group by kind',
      [tenant],
    );
    const used = new Map(rows.map((row) => [row.kind, row.used]));
    const entries = QUOTA_KINDS.map((kind) => [kind, { used: used.get(kind) ?? 0, limit: this.limits[kind] }] as const);
    return Object.fromEntries(entries) as Record<QuotaKind, { used: number; limit: number }>;
  }

  /** Returns whether the place is new: a repeated command finds the one that it took before. */
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

/** Gives back the place of a thing, and of those that end with it. */
const GIVE_BACK = `
  with recursive ended (id) as (
    select $2::text union select place.id from quota_places place join ended on place.maker = ended.id where kind = $1)
  delete from quota_places where kind = $1 and id in (select id from ended)`;

/** One whose maker has no place any more has ended with it already. */
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
