import { idOf, Inapplicable, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import type { RunAttachment } from '../run/run-change';
import type { RunsReceived } from '../session/experiment';
import { deleteLeftRuns } from '../session/session-rows.queries';
import type { TraceCounts } from '../counts/trace-counts.projection';
import { USAGE_MEMBERS } from '../common/run-usage';
import { countedBytes, type MergedRun, mergedRuns } from './merged-runs';

/** SQL: values of a new run for which none was sent. */
const DEFAULTS: Readonly<Record<string, string>> = {
  name: `coalesce(c.name, 'Unnamed')`,
  run_type: `coalesce(c.run_type, 'chain')`,
  start_time: 'coalesce(c.start_time, c.first_start)',
  inputs: `coalesce(c.inputs, '{}')`,
};

/**
 * Stores the runs of an event of an earlier version, which has them in itself; returns the sessions of these runs.
 */
export async function applyRunsReceived(
  { stream, data, time }: Recorded<RunsReceived>,
  tenant: string | null,
  tx: PoolClient,
  counts: TraceCounts,
): Promise<ReadonlySet<string>> {
  const session = idOf(stream);
  const runs = mergedRuns([{ runs: data.runs, time }]);
  const applied = await applyChanges(tx, tenant, session, runs, counts);
  const differing = (id: string) => applied.get(id)?.differing ?? undefined;
  const bytes = runs.reduce((sum, run) => sum + countedBytes(run, differing(run.change.id)), 0);
  await countBytes(tx, tenant, session, bytes);
  return new Set([session, ...[...applied.values()].map(({ session_id }) => session_id)]);
}

/**
 * Stores new runs and adds to known ones. A run that two requests sent to two sessions at once is in the session that was
 * recorded first, and holds what both said, as when one comes after the other. Repeating it changes nothing.
 */
export async function applyChanges(
  tx: PoolClient,
  tenant: string | null,
  session: string,
  runs: readonly MergedRun[],
  counts: TraceCounts,
): Promise<ReadonlyMap<string, Applied>> {
  const applied = new Map<string, Applied>();
  const missing = () => runs.filter(({ change: { id } }) => !applied.has(id));
  const apply = async (some: readonly MergedRun[]) => {
    const ids = some.map(({ change: { id } }) => id);
    const rows = await counts.around(tx, tenant, ids, () => applyRuns(tenant, session, some, tx));
    for (const row of rows) applied.set(row.id, row);
  };
  await apply(runs);
  if (missing().length > 0 && (await deleteLeftRuns(tx, tenant, idsOf(missing())))) await apply(missing());
  if (missing().length > 0) await applyMissing(tenant, session, idsOf(missing()), tx);
  const attached = runs.flatMap(({ change: { id, attachments = [] } }) =>
    applied.has(id) ? attachments.map((attachment) => ({ run: id, ...attachment })) : [],
  );
  await applyAttachments(tenant, attached, tx);
  return applied;
}

function idsOf(runs: readonly MergedRun[]): string[] {
  return runs.map(({ change: { id } }) => id);
}

/** Adds to what the session and its workspace store; a session that is gone stores nothing. */
export async function countBytes(tx: PoolClient, tenant: string | null, session: string, bytes: number): Promise<void> {
  await tx.query({
    name: 'count run bytes',
    text: `
      with counted as (
        insert into session_run_bytes as b (session_id, tenant_id, bytes)
        select id, tenant_id, $2::bigint from sessions where id = $1 and tenant_id = $3
        on conflict (tenant_id, session_id) do update set bytes = b.bytes + excluded.bytes
        returning tenant_id)
      insert into stored_run_bytes as b (tenant_id, bytes) select tenant_id, $2::bigint from counted
      on conflict (tenant_id) do update set bytes = b.bytes + excluded.bytes`,
    values: [session, bytes, tenant],
  });
}

/**
 * Runs that were not stored, because their session was deleted: feedback on them would wait for ever.
 * @throws Inapplicable when the session is there: then the ids are runs of an upload
 */
async function applyMissing(
  tenant: string | null,
  session: string,
  runs: readonly string[],
  tx: PoolClient,
): Promise<void> {
  const { rowCount } = await tx.query('select 1 from sessions where id = $1 and tenant_id = $2', [session, tenant]);
  if (rowCount) throw new Inapplicable(`The id ${runs[0]} belongs to a run of an upload, which stays as it is.`);
  await tx.query('delete from awaited_feedback where tenant_id = $1 and run_id = any($2::uuid[])', [tenant, runs]);
}

/** Where the changes of a run went, and which members the run had otherwise; null of a new run. */
interface Applied {
  readonly id: string;
  readonly session_id: string;
  readonly differing: ReadonlySet<string> | null;
}

/** Columns that hold the last value that was sent, with their types. */
const LAST = {
  ...{ name: 'text', run_type: 'text', start_time: 'timestamptz', end_time: 'timestamptz', error: 'text' },
  ...{ inputs: 'text', outputs: 'text', extra: 'text', tags: 'text', events: 'text', parent_run_id: 'uuid' },
  ...{ trace_id: 'uuid', dotted_order: 'text', serialized: 'text' },
} as const;
const LAST_NAMES = Object.keys(LAST) as (keyof typeof LAST)[];

/** Columns of the relation of changes, in the order of the parameters from the third on. Lists are JSON text. */
const SENT_COLUMNS = {
  ...{ id: 'uuid', reference_example_id: 'uuid', ...LAST, first_start: 'timestamptz', left_out: 'text', sent: 'text' },
  ...Object.fromEntries(USAGE_MEMBERS.map((name) => [name, 'numeric'])),
};
const SENT_VALUES = Object.values(SENT_COLUMNS).map((type, nth) => `$${nth + 3}::${type}[]`);
const SENT = `unnest(${SENT_VALUES.join(', ')})
  as c (${Object.keys(SENT_COLUMNS).join(', ')})`;
const list = (json: string) => `array(select json_array_elements_text(${json}::json))`;

const differs = (name: string, known: string, said = `c.${name}`) =>
  `case when c.${name} is not null and ${known} is distinct from ${said} then '${name}' end`;
/** SQL for the names of members that a change `c` says otherwise than a run `r` has them. */
const DIFFERING = `array_remove(array[${[
  differs('reference_example_id', 'r.example_id'),
  ...LAST_NAMES.map((name) => differs(name, `r.${name}`)),
  differs('left_out', 'r.left_out', list('c.left_out')),
].join(', ')}], null)`;

/** SQL: a run has failed when it has an error, succeeded when it has ended without one, and is pending until then. */
const statusOf = (error: string, end: string) =>
  `case when ${error} is not null then 'error' when ${end} is not null then 'success' else 'pending' end`;

const OWN = 'r.session_id = s.id';
const APPLY = `
  with c as materialized (select * from ${SENT}),
  s as materialized (select * from sessions where id = $1 and tenant_id = $2),
  known as (
    select r.id, r.session_id, ${DIFFERING} as differing
    from s join c on true join runs r on r.tenant_id = $2 and r.id = c.id
    where ${OWN} or exists (
      select from sessions o where o.tenant_id = $2 and o.id = r.session_id and o.payload_sha256 is null)),
  changed as (
    update runs r set
      dataset_id = case when ${OWN} then coalesce(e.dataset_id, r.dataset_id) else r.dataset_id end,
      example_id = coalesce(c.reference_example_id, r.example_id),
      example_from = case when ${OWN} then coalesce(r.example_from, e.valid_from) else r.example_from end,
      ${LAST_NAMES.map((name) => `${name} = coalesce(c.${name}, r.${name})`).join(', ')},
      status = ${statusOf('coalesce(c.error, r.error)', 'coalesce(c.end_time, r.end_time)')},
      left_out = nullif(array(
        select name from unnest(r.left_out) name where name <> all(${list('c.sent')})
        union select unnest(${list(`coalesce(c.left_out, '[]')`)}) order by 1), '{}'),
      ${USAGE_MEMBERS.map((name) => `${name} = coalesce(c.${name}, r.${name})`).join(', ')}
    from known k join c on c.id = k.id join s on true
      left join examples e on e.dataset_id = s.reference_dataset_id and e.tenant_id = $2
        and e.id = c.reference_example_id and e.valid_to is null
    where r.tenant_id = $2 and r.id = k.id
    returning r.id, r.session_id, k.differing),
  added as (
    insert into runs (id, tenant_id, session_id, dataset_id, example_id, example_from, ${LAST_NAMES.join(', ')},
      status, left_out, ${USAGE_MEMBERS.join(', ')}, row_number)
    select c.id, s.tenant_id, s.id, e.dataset_id, c.reference_example_id, e.valid_from,
      ${LAST_NAMES.map((name) => DEFAULTS[name] ?? `c.${name}`).join(', ')},
      ${statusOf('c.error', 'c.end_time')}, nullif(${list('c.left_out')}, '{}'), ${USAGE_MEMBERS.map((name) => `c.${name}`).join(', ')}, 0
    from s join c on true
      left join examples e on e.dataset_id = s.reference_dataset_id and e.tenant_id = $2
        and e.id = c.reference_example_id and e.valid_to is null
    where not exists (select from runs r where r.tenant_id = $2 and r.id = c.id)
    on conflict do nothing
    returning id, session_id, null::text[] as differing)
  select * from changed union all select * from added`;

async function applyRuns(
  tenant: string | null,
  session: string,
  runs: readonly MergedRun[],
  tx: PoolClient,
): Promise<Applied[]> {
  const rows = runs.map(({ change, start, sent, usage }) => ({
    ...change,
    first_start: start,
    left_out: change.left_out && JSON.stringify(change.left_out),
    sent: JSON.stringify([...sent]),
    ...usage,
  }));
  const columns = Object.keys(SENT_COLUMNS) as (keyof (typeof rows)[number])[];
  const values = columns.map((column) => rows.map((row) => row[column] ?? null));
  const { rows: applied } = await tx.query<Omit<Applied, 'differing'> & { differing: string[] | null }>({
    ...{ name: 'apply live runs', text: APPLY, values: [session, tenant, ...values] },
  });
  return applied.map((row) => ({ ...row, differing: row.differing && new Set(row.differing) }));
}

async function applyAttachments(
  tenant: string | null,
  attachments: readonly (RunAttachment & { readonly run: string })[],
  tx: PoolClient,
): Promise<void> {
  if (attachments.length === 0) return;
  await tx.query({
    name: 'apply attachments',
    text: `
      insert into run_attachments (tenant_id, run_id, name, session_id, type, sha256, bytes)
      select r.tenant_id, r.id, a.name, r.session_id, a.type, a.sha256, a.bytes
      from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::bigint[]) a (run, name, type, sha256, bytes)
        join runs r on r.id = a.run and r.tenant_id = $1
      on conflict (tenant_id, run_id, name) do update
        set session_id = excluded.session_id, type = excluded.type, sha256 = excluded.sha256, bytes = excluded.bytes`,
    values: [
      tenant,
      attachments.map(({ run }) => run),
      attachments.map(({ name }) => name),
      attachments.map(({ type }) => type),
      attachments.map(({ sha256 }) => sha256),
      attachments.map(({ bytes }) => bytes),
    ],
  });
}
