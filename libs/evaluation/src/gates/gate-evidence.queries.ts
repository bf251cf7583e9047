import type { GateBaseline } from '@fairlead/contracts';
import { all, Parameters } from '@fairlead/runs';
import type { Pool } from 'pg';
import type { Compared } from '../compare/score-table';

/** An experiment that may count. */
export interface EvidenceSession extends Compared {
  /** Changes whenever the experiment or its statistics do. */
  readonly stamp: string;
}

/** Experiments of one revision that are read. */
export const MOST_EXPERIMENTS = 20;

interface Place {
  readonly tenantId: string;
  readonly datasetId: string;
  /** Days; older experiments are left out. */
  readonly maxAge: number;
}

/** Experiments on a dataset whose metadata name a revision, the newest first; one more than are read. */
export function sessionsOfRevision(pool: Pool, place: Place, revisionId: string): Promise<EvidenceSession[]> {
  return sessionsWith(pool, place, [{ revision_id: revisionId }], MOST_EXPERIMENTS + 1);
}

/** Experiments of the baseline of a gate, the newest first. */
export async function sessionsOfBaseline(
  pool: Pool,
  place: Place,
  baseline: GateBaseline,
  activeRevisionId: string | null,
): Promise<EvidenceSession[]> {
  if (baseline === 'active') return activeRevisionId === null ? [] : sessionsOfRevision(pool, place, activeRevisionId);
  if ('branch' in baseline) {
    const { branch } = baseline;
    return sessionsWith(pool, place, [{ branch }, { git: { branch } }], 1);
  }
  const { rows } = await pool.query<EvidenceSession>({
    name: 'baseline experiment of a gate',
    text: `select id, name, persisted, xmin::text as stamp from sessions
      where tenant_id = $1 and reference_dataset_id = $2 and id = $3`,
    values: [place.tenantId, place.datasetId, baseline.experiment_id],
  });
  return rows;
}

async function sessionsWith(
  pool: Pool,
  { tenantId, datasetId, maxAge }: Place,
  metadata: readonly object[],
  limit: number,
): Promise<EvidenceSession[]> {
  const parameters = new Parameters();
  const named = metadata.map((one) => `metadata @> searchable_json(${parameters.add(JSON.stringify(one), 'text')})`);
  const conditions = [
    `tenant_id = ${parameters.add(tenantId, 'uuid')}`,
    `reference_dataset_id = ${parameters.add(datasetId, 'uuid')}`,
    `start_time >= now() - ${parameters.add(maxAge, 'int')} * interval '1 day'`,
    `(${named.join(' or ')})`,
  ];
  const { rows } = await pool.query<EvidenceSession>(
    `select id, name, persisted, xmin::text as stamp from sessions where ${all(conditions)}
     order by start_time desc, id desc limit ${parameters.add(limit, 'int')}`,
    parameters.values,
  );
  return rows;
}
