import type { Pool, PoolClient } from 'pg';
import { numberedIds } from '../common/ids';
import { findFillTargets, type NumberedPlace, placesOf } from './fill-targets.queries';
import type { UploadFacts } from './run-writer.store';

/** Columns of a run that came within an upload. */
const RUN = `tenant_id, id, session_id, dataset_id, example_id, example_from, name, run_type, start_time, end_time, status,
  error, inputs, outputs, extra, row_number`;

/**
 * Moves the runs that a fill replaces out of the runs of the experiment, so that no statement on these meets them. Returns
 * where each row of the fill goes.
 */
export async function replaceRuns(
  tx: PoolClient,
  facts: UploadFacts,
  ids: readonly string[],
): Promise<readonly NumberedPlace[]> {
  const { experiment, tenant, idSeed, time } = facts;
  const places = placesOf(ids, await findFillTargets(tx, facts, ids));
  const { rows } = await tx.query<{ next: number }>(
    'select coalesce(max(row_number) + 1, 0) as next from runs where session_id = $1 and tenant_id = $2',
    [experiment, tenant],
  );
  let next = rows[0]!.next;
  const runId = numberedIds(idSeed, 'run');
  const replaced: string[] = [];
  const by: string[] = [];
  const numbered = places.map((place, number) => {
    if (place?.replaces === undefined) return { ...place, rowNumber: next++ };
    replaced.push(place.replaces);
    by.push(runId(number).toString('hex'));
    return { ...place, rowNumber: place.rowNumber! };
  });
  await tx.query(
    `with gone as (
       delete from runs r using unnest($3::uuid[], $4::uuid[]) as given (id, by)
       where r.session_id = $1 and r.tenant_id = $2 and r.id = given.id returning r.*, given.by)
     insert into replaced_runs (${RUN}, replaced_by, replaced_at) select ${RUN}, by, $5 from gone`,
    [experiment, tenant, replaced, by, time],
  );
  return numbered;
}

/** Experiments with more bodies of fills than have been stored: those of a fill that is stored soon, or was passed by. */
export async function findUnstoredFills(pool: Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ session_id: string }>(
    `select e.session_id from persisted_experiments e join payload_sessions p on p.session_id = e.session_id
     group by e.session_id, e.fills having count(*) > e.fills`,
  );
  return rows.map((row) => row.session_id);
}
