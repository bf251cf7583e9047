import { type Installation, readModels as allReadModels } from '@fairlead/admin';
import type { Client } from 'pg';

/** Not compared: each start is in it, with the link to the console that it prints. */
const AUDIT = 'audit-log';
/** Read models, for the names of their tables only: nothing is projected by them. */
const MODELS = allReadModels({} as Installation);
const TABLES = MODELS.flatMap(({ name, tables }) => (name === AUDIT ? [] : tables));
/** Tables in which followers note their own work. */
const NOTES = [...MODELS.flatMap(({ notes = [] }) => notes), 'audit_log', 'log_hashes', 'checkpoints'];

/** Forgets every read model and how far all followers had come, so that every event is delivered again. */
export async function forgetReadModels(db: Client): Promise<void> {
  await db.query(`truncate ${[...TABLES, ...NOTES].join(', ')}`);
  await db.query(`delete from inbox where consumer like 'standalone.%'`);
}

/** All rows of all read models, as text. */
export async function readModels(db: Client): Promise<Record<string, string[]>> {
  const models: Record<string, string[]> = {};
  for (const table of TABLES) {
    const { rows } = await db.query<{ row: string }>(`select row_to_json(t)::text as row from ${table} t order by 1`);
    models[table] = rows.map(({ row }) => row);
  }
  return models;
}

/** The rows that only one of two states of the read models has; nothing when they are equal. */
export function differences(
  before: Readonly<Record<string, readonly string[]>>,
  after: Readonly<Record<string, readonly string[]>>,
): string[] {
  const beyond = (rows: readonly string[] = [], others: readonly string[] = []) => {
    const known = new Set(others);
    return rows.filter((row) => !known.has(row));
  };
  return Object.keys(before).flatMap((table) => [
    ...beyond(before[table], after[table]).map((row) => `${table} lacks ${row}`),
    ...beyond(after[table], before[table]).map((row) => `${table} gained ${row}`),
  ]);
}

/**
 * Descriptions of streams that a read model is behind on, or whose events still wait for what the service answers them with, rollouts
 * under way and streams that are set aside: none of them once everything has settled.
 */
export async function unsettled(db: Client): Promise<string[]> {
  const { rows } = await db.query<{ stream: string }>(`
    with streams as (
      select stream, split_part(stream, '-', 1) as category, substr(stream, strpos(stream, '-') + 1) as id,
        max(version) as version, array_agg(type order by version) as types
      from events group by stream
    ), wanting as (
      select *, case category
        when 'deployment' then types && '{DeploymentProvisioned,DeploymentDeleted}'
          and exists (select from inbox where subject = stream and consumer not like 'standalone.%')
        when 'experiment' then 'SessionCreated' = any(types) or 'RunsPersisted' = any(types)
          and exists (select from persisted_experiments p where p.session_id::text = streams.id)
        else true end as answered,
      case category
        when 'deployment' then (select d.version from deployment_documents d where d.id::text = streams.id)
        when 'experiment' then (select s.version from sessions s where s.id::text = streams.id)
        when 'dataset' then (select d.version from datasets d where d.id::text = streams.id)
        when 'tenant' then (select t.version from tenants t where t.id::text = streams.id)
        when 'apiKey' then (select k.version from api_keys k where k.id::text = streams.id)
        when 'consoleSession' then (select s.version from console_sessions s where s.id::text = streams.id)
        else version end as shown
      from streams
    )
    select stream || ' (' || case when answered then '' else 'not answered, ' end || 'shown ' || coalesce(shown::text, 'nowhere')
      || ' of ' || version || ', the last: ' || types[array_length(types, 1)] || ')' as stream
    from wanting where not answered or case
      when 'DeploymentDeletionRequested' = any(types) then shown is not null or not 'DeploymentDeleted' = any(types)
      else shown is distinct from version end
    union all select 'rollouts of ' || deployment_id from rollout_duties
    union all select consumer || ' waits at ' || subject || ': ' || reason from parked_subjects`);
  return rows.map(({ stream }) => stream);
}
