import type { Pool } from 'pg';
import { ofSession } from '../common/sql';

/** Where a run is. */
interface RunPlace {
  readonly id: string;
  readonly session_id: string;
  /** Id of the root of its trace, which may be itself. */
  readonly trace_id: string;
}

/** Returns where the runs of a workspace are, by their ids; those of sessions that are gone are left out. */
export async function placesOfRuns(
  pool: Pool,
  tenantId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RunPlace>> {
  const { rows } = await pool.query<RunPlace>(
    `select r.id, r.session_id, coalesce(r.trace_id, r.id) as trace_id from runs r
     where r.id = any($1::uuid[]) and r.tenant_id = $2 and ${ofSession('r', '$2')}`,
    [ids, tenantId],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Returns where a run is; undefined when the workspace has no such run. */
export async function placeOfRun(pool: Pool, tenantId: string, id: string): Promise<RunPlace | undefined> {
  const [place] = (await placesOfRuns(pool, tenantId, [id])).values();
  return place;
}

/** Returns the sessions of the runs of a workspace, also of runs that were replaced, by the ids of the runs. */
export async function sessionsOfRuns(
  pool: Pool,
  tenantId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await pool.query<Pick<RunPlace, 'id' | 'session_id'>>(
    ['runs', 'replaced_runs']
      .map(
        (table) => `select r.id, r.session_id from ${table} r
          where r.id = any($1::uuid[]) and r.tenant_id = $2 and ${ofSession('r', '$2')}`,
      )
      .join(' union all '),
    [ids, tenantId],
  );
  return new Map(rows.map((row) => [row.id, row.session_id]));
}

/** Returns the session of a run, or of a run that was replaced, and its name. */
export async function namedSessionOfRun(
  pool: Pool,
  tenantId: string,
  id: string,
): Promise<{ readonly session_id: string; readonly session_name: string } | undefined> {
  const { rows } = await pool.query<{ session_id: string; session_name: string }>(
    `select s.id as session_id, s.name as session_name
     from (select id, tenant_id, session_id from runs union all select id, tenant_id, session_id from replaced_runs) r
     join sessions s on s.id = r.session_id where r.id = $1 and r.tenant_id = $2 and s.tenant_id = $2`,
    [id, tenantId],
  );
  return rows[0];
}

/** Returns the ids of the runs that have more than `most` attachments together with those that are about to be added. */
export async function runsWithManyAttachments(
  pool: Pool,
  tenantId: string,
  added: readonly { readonly id: string; readonly name: string }[],
  most: number,
): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from (
       select id, name from unnest($2::uuid[], $3::text[]) as added (id, name)
       union select run_id, name from run_attachments where tenant_id = $1 and run_id = any($2::uuid[])) a
     group by id having count(*) > $4`,
    [tenantId, added.map(({ id }) => id), added.map(({ name }) => name), most],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Returns what is attached to a run under a name. */
export async function attachmentOfRun(pool: Pool, tenantId: string, run: string, name: string) {
  const { rows } = await pool.query<{ type: string; sha256: string; bytes: string }>(
    `select a.type, a.sha256, a.bytes from run_attachments a
     where a.tenant_id = $1 and a.run_id = $2 and a.name = $3 and ${ofSession('a', '$1')}`,
    [tenantId, run, name],
  );
  return rows[0];
}
