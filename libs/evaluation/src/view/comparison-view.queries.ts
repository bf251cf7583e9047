import type { Pool } from 'pg';
import { requireDataset } from '@fairlead/datasets';
import { all, compileFilter, found, Parameters, runVocabulary } from '@fairlead/runs';

export interface ViewFilter {
  readonly datasetId: string;
  readonly sessionIds: readonly string[];
  readonly exampleIds?: readonly string[];
  /** By session: filters that one and the same run of that session has to meet. */
  readonly filters: Readonly<Record<string, readonly string[]>>;
}

interface ViewPage {
  /** Order by the scores of a feedback key in the first session; else examples come as their rows were sent. */
  readonly sortKey?: string;
  readonly descending: boolean;
  readonly offset: number;
  readonly limit?: number;
}

/** Returns a view of sessions on a dataset, with those of the filters that are for them. @throws NotFound */
export async function findView(
  pool: Pool,
  tenantId: string,
  datasetId: string,
  sessionIds: readonly string[],
  bySession: ViewFilter['filters'],
  exampleIds?: readonly string[],
): Promise<ViewFilter> {
  await requireDataset(pool, tenantId, datasetId);
  const sessions = await sessionsOn(pool, tenantId, datasetId, sessionIds);
  const known = Object.entries(bySession).filter(([session]) => sessions.includes(session));
  return { datasetId, sessionIds: sessions, exampleIds, filters: Object.fromEntries(known) };
}

/** `key`: a feedback key, with or without `feedback.` in front. */
export function orderOf(key: string | undefined, order: 'ASC' | 'DESC' | undefined) {
  return { sortKey: key?.replace(/^feedback\./, ''), descending: order !== 'ASC' };
}

/** These sessions, each once. @throws NotFound for one that is not on the dataset */
export async function sessionsOn(
  pool: Pool,
  tenantId: string,
  datasetId: string,
  ids: readonly string[],
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    'select id from sessions where tenant_id = $1 and reference_dataset_id = $2 and id = any($3::uuid[])',
    [tenantId, datasetId, ids],
  );
  const onDataset = new Set(rows.map(({ id }) => id));
  for (const id of ids) found(onDataset.has(id) ? id : undefined, 'Session ID', id);
  return [...new Set(ids)];
}

/** Ids of the workspace's examples on a page, and how large the texts of each and of its runs are. @throws FilterError */
export async function findViewExamples(
  pool: Pool,
  tenantId: string,
  filter: ViewFilter,
  page: ViewPage,
): Promise<{ id: string; size: number }[]> {
  const parameters = new Parameters();
  const tenant = parameters.add(tenantId, 'uuid');
  const sessions = parameters.add(filter.sessionIds, 'uuid[]');
  const first = parameters.add(filter.sessionIds[0] ?? null, 'uuid');
  const conditions = [
    ...[`r.tenant_id = ${tenant}`, `r.session_id = any(${sessions})`],
    ...['r.example_id is not null', 'r.parent_run_id is null'],
  ];
  if (filter.exampleIds) conditions.push(`r.example_id = any(${parameters.add(filter.exampleIds, 'uuid[]')})`);
  const having: string[] = [];
  for (const [session, sources] of Object.entries(filter.filters)) {
    if (sources.length === 0) continue;
    const meets = sources.map((source) => compileFilter(source, runVocabulary(tenant), parameters));
    having.push(`bool_or(r.session_id = ${parameters.add(session, 'uuid')} and ${all(meets)})`);
  }
  const direction = page.descending ? 'desc' : 'asc';
  const order: string[] = [];
  if (page.sortKey !== undefined) {
    const key = parameters.add(page.sortKey, 'text');
    order.push(`avg((select avg(f.score) from feedback f where f.run_id = r.id and f.tenant_id = ${tenant} and f.key = ${key}
      and f.comparative_experiment_id is null)) filter (where r.session_id = ${first}) ${direction} nulls last`);
  }
  order.push(
    `min(r.row_number) filter (where r.session_id = ${first}) nulls last`,
    'min(r.start_time)',
    'r.example_id',
  );
  const { rows } = await pool.query<{ id: string; size: number }>(
    `select p.id, coalesce((select octet_length(e.inputs) + coalesce(octet_length(e.outputs), 0) from examples e
        where e.tenant_id = ${tenant} and e.dataset_id = ${parameters.add(filter.datasetId, 'uuid')} and e.id = p.id and e.valid_to is null), 0)
      + (select least(coalesce(sum(coalesce(octet_length(r.inputs), 0) + coalesce(octet_length(r.outputs), 0) + 4096), 0), 1e9)
        from runs r where r.tenant_id = ${tenant} and r.example_id = p.id and r.session_id = any(${sessions}))::int as size
     from (select r.example_id as id, row_number() over (order by ${order.join(', ')}) as place
       from runs r where ${all(conditions)} group by r.example_id
       ${having.length ? `having ${all(having)}` : ''}
       order by place offset ${parameters.add(page.offset)} limit ${parameters.add(page.limit ?? null, 'bigint')}) p
     order by p.place`,
    parameters.values,
  );
  return rows;
}
