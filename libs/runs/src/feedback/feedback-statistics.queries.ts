import type { Pool, PoolClient } from 'pg';
import { number, object } from '../common/platform-json';

interface ScoreRow {
  readonly subject: string;
  readonly key: string;
  readonly n: number;
  readonly scores: number;
  readonly avg: string | null;
  readonly stdev: string | null;
  readonly min: number | null;
  readonly max: number | null;
}

interface ValueRow {
  readonly subject: string;
  readonly key: string;
  readonly value: string;
  readonly n: number;
}

/** Longer values are texts of their own, not categories to count. */
const LONGEST_CATEGORY = 250;
/** Feedback that compares runs with one another says nothing of a run by itself. */
const ALONE = 'comparative_experiment_id is null';

/**
 * Statistics of feedback by run of a tenant: id → JSON text `{key: {n, avg, stdev, min, max, values}}`. `n` counts feedback with or
 * without a score, `stdev` is that of the population, `values` counts each categorical value; `scores` counts the scores where
 * they are not `n`, and `scored` the runs that have them where they are not so many. Runs without feedback are absent.
 */
export function runFeedbackStatistics(
  client: Pool | PoolClient,
  tenantId: string,
  runIds: readonly string[],
): Promise<Map<string, string>> {
  return statistics(client, 'run_id', `run_id = any($1::uuid[]) and tenant_id = $2 and ${ALONE}`, [runIds, tenantId]);
}

/** The same over the feedback of all runs of a session (`runs`) and over the feedback on the session itself (`session`). */
export async function sessionFeedbackStatistics(
  client: Pool | PoolClient,
  tenantId: string | null,
  sessionId: string,
): Promise<{ runs: string; session: string }> {
  const subject = `case when run_id is null then 'session' else 'runs' end`;
  const condition = `session_id = $1 and tenant_id = $2 and ${ALONE}`;
  const { rows } = await client.query<{ key: string; scored: number }>(
    `select key, count(*)::int as scored
     from (select distinct key, run_id from feedback where ${condition} and run_id is not null and score is not null) as each
     group by key`,
    [sessionId, tenantId],
  );
  const scored = new Map(rows.map((row) => [row.key, row.scored]));
  const found = await statistics(client, subject, condition, [sessionId, tenantId], scored);
  return { runs: found.get('runs') ?? '{}', session: found.get('session') ?? '{}' };
}

export async function selectedFeedbackStatistics(
  client: Pool | PoolClient,
  selection: string,
  values: readonly unknown[],
): Promise<string> {
  const found = await statistics(client, `'runs'`, `(run_id, tenant_id) in (${selection}) and ${ALONE}`, values);
  return found.get('runs') ?? '{}';
}

export function comparativeFeedbackStatistics(
  client: Pool | PoolClient,
  tenantId: string,
  comparisonIds: readonly string[],
): Promise<Map<string, string>> {
  const condition = 'comparative_experiment_id = any($1::uuid[]) and tenant_id = $2';
  return statistics(client, 'comparative_experiment_id', condition, [comparisonIds, tenantId]);
}

/** Sums go through numeric: squares of large doubles overflow, which PostgreSQL answers with an error. */
async function statistics(
  client: Pool | PoolClient,
  subject: string,
  condition: string,
  values: readonly unknown[],
  scored: ReadonlyMap<string, number> = new Map(),
): Promise<Map<string, string>> {
  const score = `case when score between -1.7e308 and 1.7e308 then score end`;
  const scores = await client.query<ScoreRow>(
    `select ${subject} as subject, key, count(*)::int as n, count(score)::int as scores, avg((${score})::numeric)::text as avg,
       stddev_pop((${score})::numeric)::text as stdev, min(${score}) as min, max(${score}) as max
     from feedback where ${condition} group by 1, 2 order by 1, 2`,
    [...values],
  );
  const counted = await client.query<ValueRow>(
    `select ${subject} as subject, key, value, count(*)::int as n from feedback
     where ${condition} and value is not null and length(value) <= ${LONGEST_CATEGORY} and left(value, 1) not in ('{', '[', 'n')
     group by 1, 2, 3 order by 1, 2, 3`,
    [...values],
  );
  const categories = new Map<string, Map<string, number>>();
  for (const { subject: about, key, value, n } of counted.rows) {
    const counts = categories.get(`${about} ${key}`) ?? new Map<string, number>();
    const name = category(value);
    categories.set(`${about} ${key}`, counts.set(name, (counts.get(name) ?? 0) + n));
  }
  const members = new Map<string, string[]>();
  for (const row of scores.rows) {
    const entry = `${JSON.stringify(row.key)}:${keyJson(row, row.subject === 'runs' ? scored.get(row.key) : undefined, categories.get(`${row.subject} ${row.key}`))}`;
    const entries = members.get(row.subject);
    if (entries) entries.push(entry);
    else members.set(row.subject, [entry]);
  }
  return new Map([...members].map(([about, entries]) => [about, `{${entries.join(',')}}`]));
}

function keyJson(row: ScoreRow, scored?: number, counts: ReadonlyMap<string, number> = new Map()): string {
  const values = [...counts].map(([name, count]) => `${JSON.stringify(name)}:${count}`);
  return object({
    n: number(row.n),
    ...(row.avg !== null && row.scores !== row.n && { scores: number(row.scores) }),
    ...(row.avg !== null && scored !== undefined && scored !== row.scores && { scored: number(scored) }),
    avg: number(row.avg === null ? null : Number(row.avg)),
    stdev: number(row.stdev === null ? null : Number(row.stdev)),
    min: number(row.min),
    max: number(row.max),
    values: `{${values.join(',')}}`,
  });
}

function category(token: string): string {
  return token.startsWith('"') ? (JSON.parse(token) as string) : token;
}
