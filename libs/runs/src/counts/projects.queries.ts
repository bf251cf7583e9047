import type { Pool } from 'pg';
import { all, containing, isoTime, Parameters } from '../common/sql';
import { encodeCursor, type RunCursor } from '../run/run-cursor';
import type { CountRange } from './count-range';
import { countsOfSessions, NOTHING } from './trace-counts.queries';

interface ProjectRow {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly start_time: string;
  readonly last_run_start_time: string | null;
  readonly active: string;
}

interface Page {
  readonly q?: string;
  readonly limit: number;
  readonly after?: RunCursor;
}

/** Tracing projects by the start of their newest root run, or their own, the newest first, with their counts over a range. */
export async function listProjects(pool: Pool, tenantId: string, range: CountRange, { q, limit, after }: Page) {
  const parameters = new Parameters();
  const conditions = [`s.tenant_id = ${parameters.add(tenantId, 'uuid')}`, 's.reference_dataset_id is null'];
  if (q !== undefined) conditions.push(`s.name ilike ${parameters.add(containing(q))}`);
  const active = 'coalesce(s.last_run_start_time, s.start_time)';
  if (after) {
    const place = `(${parameters.add(after.time, 'timestamptz')}, ${parameters.add(after.id, 'uuid')})`;
    conditions.push(`(${active}, s.id) < ${place}`);
  }
  const { rows } = await pool.query<ProjectRow>(
    `select s.id, s.name, s.description, ${isoTime('s.start_time')} as start_time,
       ${isoTime('s.last_run_start_time')} as last_run_start_time, ${isoTime(active)} as active
     from sessions s where ${all(conditions)} order by ${active} desc, s.id desc limit ${parameters.add(limit + 1)}`,
    parameters.values,
  );
  const shown = rows.slice(0, limit);
  const ids = shown.map(({ id }) => id);
  const counts = await countsOfSessions(pool, tenantId, ids, range);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return {
    projects: shown.map((row) => ({ ...projectIn(row), ...(counts.get(row.id) ?? NOTHING) })),
    next_cursor: last ? encodeCursor({ direction: 'next', time: last.active, id: last.id }) : null,
  };
}

function projectIn({ id, name, description, start_time, last_run_start_time }: ProjectRow) {
  return { id, name, description, start_time, last_run_start_time };
}
