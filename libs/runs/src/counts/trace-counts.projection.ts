import type { PoolClient } from 'pg';
import { latencyOf } from '../common/sql';
import { counted, says, USAGE_MEMBERS } from '../common/run-usage';
import { bucketOf, NO_LATENCY } from './latency-buckets';

/** Columns with the number of runs that say each usage: a sum over none is unknown, not 0. */
const KNOWN_MEMBERS = USAGE_MEMBERS.map((name) => `${name}_known` as const);
const SUMS = ['runs', 'errors', ...USAGE_MEMBERS, ...KNOWN_MEMBERS] as const;

/** Share of one run in the counts of its session; numbers are decimal texts. */
interface Contribution extends Readonly<Record<(typeof SUMS)[number], string>> {
  readonly id: string;
  readonly session_id: string;
  readonly start: string;
  readonly hour: string;
  readonly bucket: number;
  readonly says: boolean;
}

/** A place in the order of the runs of a session, by start and id. */
export interface CountedUpTo {
  readonly start: string;
  readonly id: string;
}

/** Place before all runs of a session, and the one behind them. */
export const NOWHERE: CountedUpTo = { start: '-infinity', id: '00000000-0000-0000-0000-000000000000' };
const EVERYWHERE: CountedUpTo = { start: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };
/** Runs that one statement counts anew. */
const PIECE = 20_000;

interface Change {
  readonly sign: 1 | -1;
  readonly of: Contribution;
}

/** Runs above a run count where they are of its session: other sessions are deleted by themselves. */
const COUNTED = `lateral (select ${counted('$1', 'p.session_id = u.session_id')} as counted offset 0) k`;

/** SQL: the columns of what a run `u` adds; `k.counted`: that its usage counts. */
const CONTRIBUTION = `
  u.session_id, u.start_time::text as start, date_trunc('hour', u.start_time, 'UTC')::text as hour,
  case when u.parent_run_id is null then ${bucketOf(latencyOf('u.'))} else ${NO_LATENCY} end as bucket,
  (u.parent_run_id is null)::int::text as runs, (u.parent_run_id is null and u.status = 'error')::int::text as errors,
  ${USAGE_MEMBERS.map((name) => `case when k.counted then coalesce(u.${name}, 0) else 0 end::text as ${name}`).join(', ')},
  ${USAGE_MEMBERS.map((name) => `(k.counted and u.${name} is not null)::int::text as ${name}_known`).join(', ')}`;

const OF_RUNS = `
  select u.id, ${says('u')} as says, ${CONTRIBUTION}
  from runs u cross join ${COUNTED} where u.tenant_id = $1 and u.id = any($2::uuid[])`;

/** SQL: contributions of runs that counted until their parent or root, one of `$3`, said what it used. */
const BELOW = `
  select u.id, true as says, ${CONTRIBUTION} from (
    select distinct below.id from unnest($3::uuid[]) as above (id) cross join lateral (
      select id from runs where tenant_id = $1 and parent_run_id = above.id
      union select id from runs where tenant_id = $1 and trace_id = above.id) as below) as below
    join runs u on u.tenant_id = $1 and u.id = below.id cross join (select true as counted) k
  where u.id <> all($2::uuid[]) and ${says('u')}
    and exists (select from runs p where p.tenant_id = $1 and p.id in (u.parent_run_id, u.trace_id)
      and p.session_id = u.session_id and p.id = any($3::uuid[]))
    and not exists (select from runs p where p.tenant_id = $1 and p.id in (u.parent_run_id, u.trace_id)
      and p.session_id = u.session_id and p.id <> u.id and p.id <> all($3::uuid[]) and ${says('p')})`;

const UNITS = `lateral (values ('hour', d.hour), ('day', date_trunc('day', d.hour, 'UTC')), ('all', '-infinity'::timestamptz)) as t (unit, time)`;
const KEY = 'tenant_id, session_id, unit, time, bucket';
const DIFFERENCES = `
  from (select * from unnest($5::timestamptz[], $6::uuid[], $7::timestamptz[], $8::smallint[],
      ${SUMS.map((_, nth) => `$${nth + 9}::numeric[]`).join(', ')}) as d (start, id, hour, bucket, ${SUMS.join(', ')})
    where (start, id) <= ($3::timestamptz, $4::uuid)) d cross join ${UNITS}`;
const ADDED = `on conflict (${KEY}) do update set ${SUMS.map((name) => `${name} = c.${name} + excluded.${name}`).join(', ')}`;

const ADD = `
  insert into trace_counts as c (${KEY}, ${SUMS.join(', ')})
  select $1, $2, t.unit, t.time, d.bucket, ${SUMS.map((name) => `sum(d.${name})`).join(', ')} ${DIFFERENCES}
  group by t.unit, t.time, d.bucket ${ADDED}`;

const CLEAR = `
  delete from trace_counts c using (select distinct t.unit, t.time, d.bucket ${DIFFERENCES}) as changed
  where c.tenant_id = $1 and c.session_id = $2 and (c.unit, c.time, c.bucket) = (changed.unit, changed.time, changed.bucket)
    and ${SUMS.map((name) => `c.${name} = 0`).join(' and ')}`;

/** SQL: the runs of a session behind a place. */
const BEHIND = 'u.tenant_id = $1 and u.session_id = $2 and (u.start_time, u.id) > ($3::timestamptz, $4::uuid)';
const END = `
  select u.start_time::text as start, u.id from runs u where ${BEHIND}
  order by u.start_time, u.id offset ${PIECE - 1} limit 1`;

/** Counts the runs of a live session between two places. */
const RECOUNT = `
  insert into trace_counts as c (${KEY}, ${SUMS.join(', ')})
  select $1, $2, t.unit, t.time, d.bucket, ${SUMS.map((name) => `sum(d.${name})`).join(', ')}
  from (select e.hour::timestamptz as hour, e.bucket, ${SUMS.map((name) => `sum(e.${name}::numeric) as ${name}`).join(', ')}
    from (select ${CONTRIBUTION} from runs u cross join ${COUNTED}
      where ${BEHIND} and (u.start_time, u.id) <= ($5::timestamptz, $6::uuid)
        and (u.parent_run_id is null or ${says('u')})) e
    group by 1, 2) d cross join ${UNITS}
  group by t.unit, t.time, d.bucket having ${SUMS.map((name) => `sum(d.${name}) <> 0`).join(' or ')}
  ${ADDED}`;

/**
 * Differences that events make to the counts of live sessions. They come from the rows of the runs before and after each
 * event, so that an event that is applied twice makes none the second time.
 */
export class TraceCounts {
  private readonly changes: Change[] = [];

  /** Notes what `apply` changes, which adds to runs of these ids or makes them. */
  async around<T>(tx: PoolClient, tenant: string | null, ids: readonly string[], apply: () => Promise<T>): Promise<T> {
    const before = await contributionsOf(tx, tenant, ids);
    const applied = await apply();
    const after = await contributionsOf(tx, tenant, ids);
    for (const id of ids) {
      const [was, is] = [before.get(id), after.get(id)];
      if (JSON.stringify(was) === JSON.stringify(is)) continue;
      if (was && adds(was)) this.changes.push({ sign: -1, of: was });
      if (is && adds(is)) this.changes.push({ sign: 1, of: is });
    }
    const speaking = ids.filter((id) => after.get(id)?.says && !before.get(id)?.says);
    if (speaking.length > 0) {
      const { rows } = await tx.query<Contribution>({
        name: 'usage below',
        text: BELOW,
        values: [tenant, ids, speaking],
      });
      for (const of of rows) this.changes.push({ sign: -1, of: { ...of, runs: '0', errors: '0' } });
    }
    return applied;
  }

  /** Stores the differences of a session, of whose runs those up to a place are counted. */
  async store(tx: PoolClient, tenant: string | null, session: string, place = EVERYWHERE): Promise<void> {
    const own = this.changes.filter(({ of }) => of.session_id === session);
    if (own.length === 0) return;
    const signed = SUMS.map((name) => own.map(({ sign, of }) => (sign === 1 ? of[name] : `-${of[name]}`)));
    const of = (name: 'start' | 'id' | 'hour' | 'bucket') => own.map(({ of: each }) => each[name]);
    const runs = [of('start'), of('id'), of('hour'), of('bucket')];
    const values = [tenant, session, place.start, place.id, ...runs, ...signed];
    await tx.query({ name: 'add to trace counts', text: ADD, values });
    if (own.some(({ sign }) => sign === -1)) await tx.query({ name: 'clear trace counts', text: CLEAR, values });
  }
}

/** Counts the next runs of a session behind a place; returns the place of the last one, undefined when all are counted. */
export async function recountSome(
  tx: PoolClient,
  tenant: string | null,
  session: string,
  place: CountedUpTo,
): Promise<CountedUpTo | undefined> {
  const behind = [tenant, session, place.start, place.id];
  const { rows } = await tx.query<CountedUpTo>(END, behind);
  const end = rows[0] ?? EVERYWHERE;
  await tx.query(RECOUNT, [...behind, end.start, end.id]);
  return rows[0];
}

function adds(of: Contribution): boolean {
  return SUMS.some((name) => Number(of[name]) !== 0);
}

async function contributionsOf(
  tx: PoolClient,
  tenant: string | null,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Contribution>> {
  const { rows } = await tx.query<Contribution>({ name: 'counted runs', text: OF_RUNS, values: [tenant, ids] });
  return new Map(rows.map((row) => [row.id, row]));
}
