import { createHash } from 'node:crypto';
import type { Gate, GateBaseline } from '@fairlead/contracts';
import { all, Parameters, storable } from '@fairlead/runs';
import type { Pool } from 'pg';
import { labelsOf, MOST_CONFIG_BYTES } from '../compare/compare.queries';
import type { Compared } from '../compare/score-table';

/** An experiment that may count. */
export interface EvidenceSession extends Compared {
  /** False while more runs may come. */
  readonly ended: boolean;
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

/**
 * Experiments that may be the baseline of a gate, the newest first; none that name the revision, which would be compared with
 * itself. Of a branch, the first that counts is the baseline.
 */
export async function sessionsOfBaseline(
  pool: Pool,
  place: Place,
  baseline: GateBaseline,
  activeRevisionId: string | null,
  revisionId: string,
): Promise<EvidenceSession[]> {
  if (baseline === 'active') return activeRevisionId === null ? [] : sessionsOfRevision(pool, place, activeRevisionId);
  if ('branch' in baseline) {
    const { branch } = baseline;
    return sessionsWith(pool, place, [{ branch }, { git: { branch } }], MOST_EXPERIMENTS + 1, revisionId);
  }
  const { rows } = await pool.query<EvidenceSession>({
    name: 'baseline experiment of a gate',
    text: `select id, name, persisted, end_time is not null as ended, xmin::text as stamp from sessions
      where tenant_id = $1 and reference_dataset_id = $2 and id = $3
        and not coalesce(metadata @> searchable_json($4::text), false)`,
    values: [place.tenantId, place.datasetId, baseline.experiment_id, JSON.stringify({ revision_id: revisionId })],
  });
  return rows;
}

/** Sentences about what a gate names and is not there any more. */
export async function goneOf(pool: Pool, tenantId: string, { dataset_id, baseline }: Gate): Promise<string[]> {
  const experiment = typeof baseline === 'object' && 'experiment_id' in baseline ? baseline.experiment_id : null;
  const { rows } = await pool.query<{ dataset: boolean; experiment: boolean }>({
    name: 'what a gate names',
    text: `select exists (select from datasets where tenant_id = $1 and id = $2) as dataset,
      $3::uuid is null or exists (
        select from sessions where tenant_id = $1 and id = $3 and reference_dataset_id = $2) as experiment`,
    values: [tenantId, dataset_id, experiment],
  });
  const there = rows[0]!;
  if (!there.dataset) return ['The dataset of the gate has been deleted.'];
  return there.experiment ? [] : ['The experiment that the gate compares with has been deleted.'];
}

/** The experiments of these ids, in their order, without those that are gone or on another dataset. */
export async function sessionsById(
  pool: Pool,
  { tenantId, datasetId }: Pick<Place, 'tenantId' | 'datasetId'>,
  ids: readonly string[],
): Promise<EvidenceSession[]> {
  const { rows } = await pool.query<EvidenceSession>({
    name: 'experiments that counted for a gate',
    text: `select id, name, persisted, end_time is not null as ended, xmin::text as stamp from sessions
      where tenant_id = $1 and reference_dataset_id = $2 and id = any($3::uuid[])`,
    values: [tenantId, datasetId, ids],
  });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Sentences about experiments of a revision that counted in earlier looks, and name it no more or have been deleted. */
export async function leftOf(
  pool: Pool,
  { tenantId, datasetId }: Place,
  revisionId: string,
  before: readonly { readonly id: string; readonly name: string }[],
): Promise<string[]> {
  if (before.length === 0) return [];
  const { rows } = await pool.query<{ id: string }>({
    name: 'experiments that still name a revision',
    text: `select id from sessions where tenant_id = $1 and reference_dataset_id = $2 and id = any($3::uuid[])
      and metadata @> searchable_json($4::text)`,
    values: [tenantId, datasetId, before.map(({ id }) => id), JSON.stringify({ revision_id: revisionId })],
  });
  const left = before.filter(({ id }) => !rows.some((row) => row.id === id));
  return left.map(({ name }) => `${name} counted before, and has been deleted or names the revision no more.`);
}

/** The number of scores that are stored of each experiment. */
export async function storedScores(
  pool: Pool,
  tenantId: string,
  sessions: readonly EvidenceSession[],
): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ id: string; count: number }>({
    name: 'stored scores of experiments',
    text: `select session_id as id, count(*)::int as count from feedback
      where tenant_id = $1 and session_id = any($2::uuid[]) group by 1`,
    values: [tenantId, sessions.map(({ id }) => id)],
  });
  return new Map(rows.map(({ id, count }) => [id, count]));
}

/**
 * The uploads that have changed or ended examples which were there before, within a time (ISO 8601; the end is null for
 * now); the id is null when the experiment is gone. Other changes have versions of the dataset.
 */
export async function uploadsThatEdited(
  pool: Pool,
  tenantId: string,
  datasetId: string,
  [after, until]: readonly [string, string | null],
  limit: number,
): Promise<{ readonly id: string | null }[]> {
  const { rows } = await pool.query<{ id: string | null }>({
    name: 'uploads that edited examples',
    text: `select s.id from (
        select distinct valid_to as time from examples
        where tenant_id = $1 and dataset_id = $2 and valid_to > $3 and ($4::timestamptz is null or valid_to <= $4)
        limit $5) as edited
      left join sessions s on s.tenant_id = $1 and s.reference_dataset_id = $2 and s.created_at = edited.time
      where not exists (
        select from dataset_versions v where v.tenant_id = $1 and v.dataset_id = $2 and v.as_of = edited.time)`,
    values: [tenantId, datasetId, after, until, limit],
  });
  return rows;
}

async function sessionsWith(
  pool: Pool,
  { tenantId, datasetId, maxAge }: Place,
  metadata: readonly object[],
  limit: number,
  notOf?: string,
): Promise<EvidenceSession[]> {
  const parameters = new Parameters();
  const named = metadata.map((one) => `metadata @> searchable_json(${parameters.add(JSON.stringify(one), 'text')})`);
  const conditions = [
    `tenant_id = ${parameters.add(tenantId, 'uuid')}`,
    `reference_dataset_id = ${parameters.add(datasetId, 'uuid')}`,
    `start_time >= now() - ${parameters.add(maxAge, 'int')} * interval '1 day'`,
    `(${named.join(' or ')})`,
  ];
  if (notOf !== undefined) {
    const itself = parameters.add(JSON.stringify({ revision_id: notOf }), 'text');
    conditions.push(`not coalesce(metadata @> searchable_json(${itself}), false)`);
  }
  const { rows } = await pool.query<EvidenceSession>(
    `select id, name, persisted, end_time is not null as ended, xmin::text as stamp from sessions where ${all(conditions)}
     order by start_time desc, id desc limit ${parameters.add(limit, 'int')}`,
    parameters.values,
  );
  return rows;
}

/** The part of the configuration of a feedback key that decides which scores are better. */
export interface KeyReading {
  /** Changes whenever the numbers of the labels do; empty without any. */
  readonly labels: string;
  /** True when lower scores are better. */
  readonly lower: boolean;
}

/** The reading of a configuration, with the direction that is kept beside it. `config`: JSON text. */
export function readingOf(config: string, lower: boolean): KeyReading {
  if (Buffer.byteLength(config) > MOST_CONFIG_BYTES) return { labels: '', lower };
  const values = [...labelsOf(JSON.parse(config))].sort(([one], [other]) => (one < other ? -1 : 1));
  const labels = values.length === 0 ? '' : createHash('sha256').update(JSON.stringify(values)).digest('hex');
  return { labels, lower };
}

/** The readings of keys that have a configuration, by key. */
export async function keyReadings(
  pool: Pool,
  tenantId: string,
  keys: readonly string[],
): Promise<Map<string, KeyReading>> {
  const { rows } = await pool.query<{ key: string; config: string; lower: boolean }>({
    name: 'readings of keys',
    text: `select given.key, config, coalesce(
        is_lower_score_better, searchable_json(config) ->> 'is_lower_score_better' = 'true', false) as lower
      from unnest($2::text[], $3::text[]) as given (key, stored)
        join feedback_configs c on c.tenant_id = $1 and c.key = given.stored`,
    values: [tenantId, keys, keys.map(storable)],
  });
  return new Map(rows.map(({ key, config, lower }) => [key, readingOf(config, lower)]));
}
