import type { Pool } from 'pg';
import { all, isoTime, Parameters } from '../common/sql';
import { encodeCursor, type RunCursor } from '../run/run-cursor';
import { type TraceFilter, traceConditions } from './trace-filter';

/** Root runs that one request looks at, and the time after which it looks at no more (ms). */
const [MOST_EXAMINED, PATIENCE_MS] = [50_000, 40];
/** Root runs in the first statement of a request that checks them, and in the largest one: each has twice as many. */
const [FIRST, MOST_AT_ONCE] = [16, 4096];
const TIME = isoTime('r.start_time');

/** The workspace and the session whose runs are read. */
interface Project {
  readonly tenantId: string;
  readonly id: string;
}

interface Page {
  readonly limit: number;
  /** Only runs below this place. */
  readonly after?: Place;
  /** Only runs above this place, which is that of a newer page. */
  readonly newerThan?: Place;
}

interface Place {
  readonly id: string;
  /** ISO time with microseconds. */
  readonly time: string;
}

interface Found {
  readonly ids: readonly string[];
  readonly first_cursor: string | null;
  /** Null when no older run is left to look at. */
  readonly next_cursor: string | null;
  /** Start of the oldest run that was looked at; null without one. */
  readonly searched_to: string | null;
}

export async function hasProject(pool: Pool, { tenantId, id }: Project): Promise<boolean> {
  const { rowCount } = await pool.query('select 1 from sessions where id = $1 and tenant_id = $2', [id, tenantId]);
  return rowCount === 1;
}

/**
 * Root runs of a project that match, the newest first. The runs are looked at in the order of the index, in pieces that
 * grow: what finds little ends after some time or number of runs with a cursor to go on with. @throws FilterError
 */
export async function findTraces(pool: Pool, project: Project, filter: TraceFilter, page: Page): Promise<Found> {
  const start = performance.now();
  const hits: Place[] = [];
  let examined = 0;
  let size = isChecked(filter) ? FIRST : page.limit + 1;
  let last: Place | undefined = page.after;
  for (;;) {
    const found = await readPlaces(pool, project, filter, { ...page, after: last, limit: size });
    hits.push(...found.hits);
    last = found.last ?? last;
    examined += found.examined;
    const cut = hits.length > page.limit;
    const ended = found.examined < size;
    const spent = examined >= MOST_EXAMINED || performance.now() - start > PATIENCE_MS;
    if (cut || ended || spent || hits.length === page.limit) {
      const shown = hits.slice(0, page.limit);
      const next = cut ? shown.at(-1) : ended ? undefined : last;
      const first = shown[0];
      return {
        ids: shown.map(({ id }) => id),
        first_cursor: first ? cursorOf(first) : null,
        next_cursor: next ? cursorOf(next) : null,
        searched_to: (next ?? last)?.time ?? null,
      };
    }
    size = Math.min(size * 2, MOST_AT_ONCE);
  }
}

/** Ids of the runs of a trace by their start, as far as they are in the project. */
export async function findRunsOfTrace(
  pool: Pool,
  { tenantId, id }: Project,
  trace: string,
  limit: number,
  after?: RunCursor,
): Promise<{ ids: readonly string[]; next_cursor: string | null }> {
  const values = [tenantId, id, trace, after?.time ?? '-infinity', after?.id ?? NO_ID, limit + 1];
  const { rows } = await pool.query<Place>(
    `select r.id, ${TIME} as time from (
       (select r.id, r.start_time from runs r
        where r.tenant_id = $1 and r.session_id = $2 and r.trace_id = $3::uuid and r.id <> $3
          and (r.start_time, r.id) > ($4::timestamptz, $5::uuid)
        order by r.start_time, r.id limit $6)
       union all
       select r.id, r.start_time from runs r
       where r.tenant_id = $1 and r.session_id = $2 and r.id = $3 and (r.start_time, r.id) > ($4::timestamptz, $5::uuid)
     ) r where exists (select from sessions where id = $2 and tenant_id = $1)
     order by r.start_time, r.id limit $6`,
    values,
  );
  const shown = rows.slice(0, limit);
  return {
    ids: shown.map((row) => row.id),
    next_cursor: rows.length > limit ? cursorOf(shown.at(-1)!) : null,
  };
}

const NO_ID = '00000000-0000-0000-0000-000000000000';

/** Looks at so many runs as the page may have; `last` is the last of them. */
async function readPlaces(
  pool: Pool,
  { tenantId, id }: Project,
  filter: TraceFilter,
  { limit, after, newerThan }: Page,
): Promise<{ hits: readonly Place[]; last: Place | undefined; examined: number }> {
  const parameters = new Parameters();
  const tenant = parameters.add(tenantId, 'uuid');
  const { found, checked } = traceConditions(filter, parameters, tenant);
  const place = ({ time, id: run }: Place) =>
    `(${parameters.add(time, 'timestamptz')}, ${parameters.add(run, 'uuid')})`;
  if (after) found.push(`(r.start_time, r.id) < ${place(after)}`);
  if (newerThan) found.push(`(r.start_time, r.id) > ${place(newerThan)}`);
  const order = 'r.start_time desc, r.id desc';
  const { rows } = await pool.query<Place & { hit: boolean; nth: number }>(
    `select r.id, ${TIME} as time, r.hit, r.nth from (
       select r.id, r.start_time, ${all(checked)} as hit,
         row_number() over (order by ${order})::int as nth, count(*) over () as examined
       from (
         select * from runs r
         where r.tenant_id = ${tenant} and r.session_id = ${parameters.add(id, 'uuid')} and r.parent_run_id is null
           and ${all(found)}
         order by ${order} limit ${parameters.add(limit)}
       ) r
     ) r where r.hit or r.nth = r.examined order by r.nth`,
    parameters.values,
  );
  return { hits: rows.filter(({ hit }) => hit), last: rows.at(-1), examined: rows.at(-1)?.nth ?? 0 };
}

function isChecked(filter: TraceFilter): boolean {
  return traceConditions(filter, new Parameters(), '').checked.length > 0;
}

function cursorOf({ id, time }: Place): string {
  return encodeCursor({ id, time, direction: 'next' });
}
