import { type SessionEntity, all, isoTime, Parameters, type RunCursor } from '@fairlead/runs';
import type { Pool } from 'pg';
import type { Compared } from '../compare/score-table';

export interface TrendSession
  extends Compared, Pick<SessionEntity, 'test_run_number' | 'run_count' | 'session_feedback_stats'> {
  readonly start: string;
  readonly revision_id: string | null;
  /** Changes whenever the experiment or its statistics do. */
  readonly stamp: string;
}

/** The experiments of a dataset before a place, the newest first. `metadata`: JSON that theirs contains. */
export async function sessionsBefore(
  pool: Pool,
  tenantId: string,
  datasetId: string,
  { metadata, cursor, limit }: { readonly metadata?: string; readonly cursor?: RunCursor; readonly limit: number },
): Promise<TrendSession[]> {
  const parameters = new Parameters();
  const conditions = [
    `s.tenant_id = ${parameters.add(tenantId, 'uuid')}`,
    `s.reference_dataset_id = ${parameters.add(datasetId, 'uuid')}`,
  ];
  if (metadata) conditions.push(`s.metadata @> searchable_json(${parameters.add(metadata, 'text')})`);
  if (cursor) {
    const place = [parameters.add(cursor.time, 'timestamptz'), parameters.add(cursor.id, 'uuid')];
    conditions.push(`(s.start_time, s.id) < (${place.join(', ')})`);
  }
  const { rows } = await pool.query<TrendSession>(
    `select s.id, s.name, s.persisted, s.test_run_number, s.run_count, s.session_feedback_stats,
       ${isoTime('s.start_time')} as start, left(s.metadata ->> 'revision_id', 100) as revision_id, s.xmin::text as stamp
     from sessions s where ${all(conditions)}
     order by s.start_time desc, s.id desc limit ${parameters.add(limit)}`,
    parameters.values,
  );
  return rows;
}
