import { canonicalUuid } from '@fairlead/schema';
import { Injectable, Logger } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import { v5 as idFrom } from 'uuid';
import { isoTime } from '../common/sql';
import { placesOfRuns } from '../run/run-lookups.queries';
import { reasonOf, type Refusal, type RefusedKind } from './refusal';

/** Rows of a workspace, and of them rows of one project. */
const MOST_ROWS = 1000;
const MOST_OF_PROJECT = 50;
/** Different reasons of one request that are told apart; the others are one row. */
const MOST_OF_REQUEST = 20;
/** Identifiers that a row names, the latest. */
const MOST_IDS = 10;
export const KEPT_DAYS = 30;
/** Project of runs that name none. */
const DEFAULT_NAME = 'default';
const OTHERS = 'Other reasons, which the answers to the requests name.';
const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi;

interface Alike {
  readonly id: string;
  readonly sessionId: string | null;
  readonly sessionName: string | null;
  readonly kind: RefusedKind;
  readonly place: string;
  readonly reason: string;
  readonly ids: string[];
  count: number;
}

interface ListedRefusals {
  readonly session_id: string | null;
  readonly session_name: string | null;
  readonly kind: string;
  readonly place: string;
  readonly reason: string;
  readonly count: number;
  readonly item_ids: readonly string[];
  readonly first_at: string;
  readonly last_at: string;
}

/**
 * The table of what was refused and why, by project. Items that are refused for the same reason are one row with their
 * number, and a workspace has at most 1000 rows, so that nobody can fill it. It is no projection: what is refused is in no event.
 */
@Injectable()
export class RefusedItems {
  private readonly logger = new Logger('RefusedItems');

  constructor(private readonly pool: Pool) {}

  /** `project`: name of the only project that the sender writes to, whatever its items say. */
  async add(tenantId: string, refusals: readonly Refusal[], project?: string): Promise<void> {
    if (refusals.length === 0) return;
    const own = project === undefined ? {} : { sessionId: undefined, sessionName: project };
    const items = refusals.map((one) => ({ ...one, ...own }));
    try {
      await this.write(tenantId, summed(tenantId, await this.inProjects(tenantId, items)));
    } catch (error) {
      this.logger.error(`${refusals.length} refused items could not be recorded: ${(error as Error).message}`);
    }
  }

  private async inProjects(tenantId: string, refusals: readonly Refusal[]): Promise<Refusal[]> {
    const runOf = ({ kind, id, runId }: Refusal) => canonicalUuid(runId ?? (kind === 'feedback' ? '' : (id ?? '')));
    const open = refusals.filter(({ sessionId, sessionName }) => sessionId === undefined && sessionName === undefined);
    const places = await placesOfRuns(this.pool, tenantId, open.map(runOf).filter((id) => !!id) as string[]);
    return refusals.map((refusal) => {
      if (refusal.sessionId !== undefined || refusal.sessionName !== undefined) return refusal;
      const sessionId = places.get(runOf(refusal) ?? '')?.session_id;
      if (sessionId !== undefined) return { ...refusal, sessionId };
      return refusal.kind === 'feedback' ? refusal : { ...refusal, sessionName: DEFAULT_NAME };
    });
  }

  private async write(tenantId: string, rows: readonly Alike[]): Promise<void> {
    await this.pool.query(
      `insert into refused_items as r
         (tenant_id, id, session_id, session_name, kind, place, reason, count, item_ids, first_at, last_at)
       select $1, id, session_id, session_name, kind, place, reason, count,
         array(select jsonb_array_elements_text(ids)), now(), now()
       from unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::jsonb[])
         as added (id, session_id, session_name, kind, place, reason, count, ids)
       order by id
       on conflict (tenant_id, id) do update set reason = excluded.reason, count = r.count + excluded.count,
         item_ids = (excluded.item_ids || r.item_ids)[1:${MOST_IDS}], last_at = excluded.last_at`,
      [
        tenantId,
        rows.map(({ id }) => id),
        rows.map(({ sessionId }) => sessionId),
        rows.map(({ sessionName }) => sessionName),
        rows.map(({ kind }) => kind),
        rows.map(({ place }) => place),
        rows.map(({ reason }) => reason),
        rows.map(({ count }) => count),
        rows.map(({ ids }) => JSON.stringify(ids)),
      ],
    );
    await this.pool.query(
      `delete from refused_items r using (
         select id, last_at, row_number() over (order by last_at desc, id) as nth,
           row_number() over (partition by coalesce(session_id::text, session_name) order by last_at desc, id) as nth_of_project
         from refused_items where tenant_id = $1) as ranked
       where r.tenant_id = $1 and r.id = ranked.id and (nth > ${MOST_ROWS} or nth_of_project > ${MOST_OF_PROJECT}
         or r.last_at < now() - interval '${KEPT_DAYS} days')`,
      [tenantId],
    );
  }

  async list(tenantId: string, session: string | undefined, limit: number, offset: number): Promise<ListedRefusals[]> {
    const { rows } = await this.pool.query<ListedRefusals>(
      `select coalesce(r.session_id, s.id) as session_id, coalesce(s.name, r.session_name) as session_name, kind, place, reason,
         count::float8 as count, item_ids, ${isoTime('first_at')} as first_at, ${isoTime('last_at')} as last_at
       from refused_items r left join sessions s
         on s.tenant_id = r.tenant_id and (s.id = r.session_id or (r.session_id is null and s.name = r.session_name))
       where r.tenant_id = $1 and r.last_at >= now() - interval '${KEPT_DAYS} days' and ($2::uuid is null or s.id = $2)
       order by r.last_at desc, r.id limit $3 offset $4`,
      [tenantId, session ?? null, limit, offset],
    );
    return rows;
  }
}

/** Deletes what was refused for a project up to the time at which it was deleted. */
export async function deleteRefusedItems(
  tx: PoolClient,
  { tenant, id, name }: { readonly tenant: string; readonly id: string; readonly name: string },
  time: string,
): Promise<void> {
  await tx.query(
    'delete from refused_items where tenant_id = $1 and (session_id = $2 or session_name = $3) and last_at <= $4',
    [tenant, id, name, time],
  );
}

function summed(tenantId: string, refusals: readonly Refusal[]): Alike[] {
  const rows = new Map<string, Alike>();
  for (const refusal of refusals) {
    const { kind, id, sessionId = null, sessionName = null } = refusal;
    const { loc, msg } = reasonOf(refusal);
    const project = { sessionId, sessionName: sessionId === null ? sessionName : null };
    const row = (place: string, reason: string): Alike => {
      const alike = reason.replaceAll(UUID, '').replaceAll(/\d+/g, '');
      const key = idFrom(JSON.stringify([project, kind, place, alike]), tenantId);
      return rows.get(key) ?? { id: key, ...project, kind, place, reason, ids: [], count: 0 };
    };
    const own = row(placeOf(refusal, loc), msg);
    const counted = rows.has(own.id) || rows.size < MOST_OF_REQUEST ? own : row('', OTHERS);
    counted.count += 1;
    if (id !== null && counted.ids.length < MOST_IDS) counted.ids.push(id);
    rows.set(counted.id, counted);
  }
  return [...rows.values()];
}

function placeOf({ loc }: Refusal, first: Refusal['loc']): string {
  return first
    .slice(loc.length)
    .filter((step) => typeof step === 'string')
    .join('.')
    .slice(0, 200);
}
