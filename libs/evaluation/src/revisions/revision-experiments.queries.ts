import { isoTime, type SessionEntity } from '@fairlead/runs';
import type { Pool } from 'pg';
import type { Compared } from '../compare/score-table';

/** Experiments of a revision that are read. */
const MOST_EXPERIMENTS = 20;

export interface RevisionSession
  extends
    Compared,
    Pick<SessionEntity, 'run_count' | 'latency_p50' | 'error_rate' | 'feedback_stats' | 'session_feedback_stats'>,
    Pick<SessionEntity, 'total_tokens' | 'total_cost'> {
  readonly revision: string;
  readonly dataset: string;
  readonly start: string;
  /** Changes whenever the experiment or its statistics do. */
  readonly stamp: string;
}

export interface RevisionSessions {
  /** The newest first. */
  readonly sessions: readonly RevisionSession[];
  /** There are earlier ones. */
  readonly more: boolean;
}

/** The experiments of the workspace that name revisions in their metadata, by revision. */
export async function experimentsOfRevisions(
  pool: Pool,
  tenantId: string,
  revisions: readonly string[],
  datasetId?: string,
): Promise<(revision: string) => RevisionSessions> {
  const { rows } = await pool.query<RevisionSession>(
    `select named.revision, s.* from unnest($2::text[]) as named (revision) cross join lateral (
       select s.id, s.name, s.reference_dataset_id as dataset, s.persisted, s.run_count, s.latency_p50, s.error_rate,
         s.total_tokens, s.total_cost, s.feedback_stats, s.session_feedback_stats,
         ${isoTime('s.start_time')} as start, s.xmin::text as stamp
       from sessions s
       where s.tenant_id = $1 and s.metadata @> jsonb_build_object('revision_id', named.revision)
         and s.reference_dataset_id is not null and ($3::uuid is null or s.reference_dataset_id = $3)
       order by s.start_time desc, s.id desc limit ${MOST_EXPERIMENTS + 1}) s`,
    [tenantId, [...new Set(revisions)], datasetId ?? null],
  );
  return (revision) => {
    const sessions = rows.filter((row) => row.revision === revision);
    return { sessions: sessions.slice(0, MOST_EXPERIMENTS), more: sessions.length > MOST_EXPERIMENTS };
  };
}
