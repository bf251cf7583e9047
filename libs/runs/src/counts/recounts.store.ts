import type { PoolClient } from 'pg';
import { type CountedUpTo, NOWHERE, recountSome, type TraceCounts } from './trace-counts.projection';

/**
 * Goes on with counting a live session anew for some milliseconds, and stores the differences that are due so far. Returns
 * true when all of its runs are counted. `statistics` are those of the session as a text: they stay until then, so that
 * others mean that a process that keeps no counts has stored runs meanwhile, and counting begins again.
 */
export async function recount(
  tx: PoolClient,
  tenant: string | null,
  session: string,
  counts: TraceCounts,
  statistics: string,
  ms: number,
): Promise<boolean> {
  const start = performance.now();
  const { rows } = await tx.query<CountedUpTo & { statistics: string }>(
    `select statistics, start_time::text as start, id from trace_recounts where tenant_id = $1 and session_id = $2`,
    [tenant, session],
  );
  let place: CountedUpTo | undefined = NOWHERE;
  if (rows[0]?.statistics === statistics) {
    place = rows[0];
    await counts.store(tx, tenant, session, place);
  } else await tx.query('delete from trace_counts where tenant_id = $1 and session_id = $2', [tenant, session]);
  do place = await recountSome(tx, tenant, session, place);
  while (place && performance.now() - start < ms);
  if (place)
    await tx.query(
      `insert into trace_recounts (tenant_id, session_id, statistics, start_time, id) values ($1, $2, $3, $4, $5)
       on conflict (tenant_id, session_id) do update
         set statistics = excluded.statistics, start_time = excluded.start_time, id = excluded.id`,
      [tenant, session, statistics, place.start, place.id],
    );
  else if (rows.length > 0)
    await tx.query('delete from trace_recounts where tenant_id = $1 and session_id = $2', [tenant, session]);
  return !place;
}
