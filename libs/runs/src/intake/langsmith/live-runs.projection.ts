import { idOf, Inapplicable, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import type { RunAttachment, RunChange } from '../../run/run-change';
import type { RunsReceived } from '../../session/experiment';
import { lockStored, storeFeedbackStats } from '../../feedback/feedback.projection';
import { counted, USAGE_MEMBERS, USAGE_SUMS, usageOf } from '../../run/run-usage';
import { latencyOf } from '../../common/sql';
import { bytesOfRuns } from '../../run/run-bytes';

/** Name that is stored of a run without one. */
const UNNAMED = 'Unnamed';

/**
 * Stores new runs and adds to known ones, in the order they were sent; answers the sessions of these runs. A run that two
 * requests sent to two sessions at once is in the session that was recorded first, and holds what both said, as when one
 * comes after the other. Repeating it changes nothing.
 */
export async function applyRunsReceived(
  event: Recorded<RunsReceived>,
  tenant: string | null,
  tx: PoolClient,
): Promise<ReadonlySet<string>> {
  const named = idOf(event.stream);
  const sessions = new Set([named]);
  const counted: RunChange[] = [];
  for (const run of event.data.runs) {
    const { session_id: session, repeated } = (await applyRun(tenant, named, run, event.time, tx)) ?? {};
    if (!repeated) counted.push(run);
    if (session === undefined) {
      await requireGone(tenant, named, run.id, tx);
      // Feedback on it would wait for ever.
      await tx.query('delete from awaited_feedback where tenant_id = $1 and run_id = $2', [tenant, run.id]);
      continue;
    }
    sessions.add(session);
    if (run.attachments) await applyAttachments(tenant, session, run.id, run.attachments, tx);
  }
  await countBytes(tenant, named, bytesOfRuns(counted), tx);
  return sessions;
}

/** Adds to what the session and its workspace store; a session that is gone stores nothing. */
async function countBytes(tenant: string | null, session: string, bytes: number, tx: PoolClient): Promise<void> {
  await tx.query({
    name: 'count run bytes',
    text: `
      with counted as (
        insert into session_run_bytes as b (session_id, tenant_id, bytes)
        select id, tenant_id, $2::bigint from sessions where id = $1 and tenant_id = $3
        on conflict (session_id) do update set bytes = b.bytes + excluded.bytes
        returning tenant_id)
      insert into stored_run_bytes as b (tenant_id, bytes) select tenant_id, $2::bigint from counted
      on conflict (tenant_id) do update set bytes = b.bytes + excluded.bytes`,
    values: [session, bytes, tenant],
  });
}

/** Why a run was not stored: its session was deleted. @throws Inapplicable when its id is a run of an upload */
async function requireGone(tenant: string | null, session: string, run: string, tx: PoolClient): Promise<void> {
  const { rowCount } = await tx.query('select 1 from sessions where id = $1 and tenant_id = $2', [session, tenant]);
  if (rowCount) throw new Inapplicable(`The id ${run} belongs to a run of an upload, which stays as it is.`);
}

/** Where a change of a run went. */
interface Applied {
  readonly session_id: string;
  readonly repeated: boolean;
}

/** SQL that is true for a run that already has what a change says. Parameters of absent members are null. */
const SAYS = [
  ...['example_id = $3::uuid', 'name = $4::text', 'run_type = $5::text', 'start_time = $6::timestamptz'],
  ...['end_time = $7::timestamptz', 'error = $9::text', 'inputs = $10::text', 'outputs = $11::text'],
  ...['extra = $12::text', 'tags = $13::text', 'events = $14::text', 'parent_run_id = $15::uuid'],
  ...['trace_id = $16::uuid', 'dotted_order = $17::text', 'serialized = $18::text', 'left_out = $19::text[]'],
]
  .map((same) => `(${same.replace(/.* = /, '')} is null or coalesce(${same}, false))`)
  .join(' and ');

/** Answers the session of the run, if it was stored, and whether it said already what the change says. A run has failed when it has an error, succeeded when it has ended without one, and is pending until then. */
async function applyRun(
  tenant: string | null,
  session: string,
  run: RunChange,
  time: string,
  tx: PoolClient,
): Promise<Applied | undefined> {
  const usage = usageOf(run);
  const workspace = `$${21 + USAGE_MEMBERS.length}`;
  const { rows } = await tx.query<Applied>({
    name: 'apply live run',
    text: `
      with known as (
        select r.* from sessions s join runs r on r.tenant_id = s.tenant_id and r.id = $1
        where s.id = $2 and s.tenant_id = ${workspace})
      insert into runs as r (id, tenant_id, session_id, dataset_id, example_id, example_from, name, run_type, start_time,
        end_time, status, error, inputs, outputs, extra, tags, events, parent_run_id, trace_id, dotted_order, serialized,
        left_out, ${USAGE_MEMBERS.join(', ')}, row_number)
      select $1, s.tenant_id, s.id, e.dataset_id, $3::uuid, e.valid_from, coalesce($4::text, '${UNNAMED}'),
        coalesce($5::text, 'chain'), coalesce($6::timestamptz, $7::timestamptz, $8::timestamptz), $7::timestamptz,
        case when $9::text is not null then 'error' when $7 is not null then 'success' else 'pending' end,
        $9::text, coalesce($10::text, '{}'), $11::text, $12::text, $13::text, $14::text, $15::uuid, $16::uuid, $17::text,
        $18::text, $19::text[], ${USAGE_MEMBERS.map((_, nth) => `$${21 + nth}::numeric`).join(', ')}, 0
      from sessions s left join examples e
        on e.dataset_id = s.reference_dataset_id and e.tenant_id = s.tenant_id and e.id = $3::uuid and e.valid_to is null
      where s.id = $2 and s.tenant_id = ${workspace}
      on conflict (id, tenant_id) do update set
        dataset_id = case when r.session_id = excluded.session_id then coalesce(excluded.dataset_id, r.dataset_id) else r.dataset_id end,
        example_id = coalesce($3::uuid, r.example_id),
        example_from = case when r.session_id = excluded.session_id then coalesce(r.example_from, excluded.example_from) else r.example_from end,
        name = coalesce($4, r.name),
        run_type = coalesce($5, r.run_type), start_time = coalesce($6::timestamptz, r.start_time),
        end_time = coalesce($7::timestamptz, r.end_time), error = coalesce($9, r.error),
        status = case when coalesce($9, r.error) is not null then 'error'
                      when coalesce($7::timestamptz, r.end_time) is not null then 'success' else 'pending' end,
        inputs = coalesce($10, r.inputs), outputs = coalesce($11, r.outputs), extra = coalesce($12, r.extra),
        tags = coalesce($13, r.tags), events = coalesce($14, r.events),
        parent_run_id = coalesce($15::uuid, r.parent_run_id), trace_id = coalesce($16::uuid, r.trace_id),
        dotted_order = coalesce($17, r.dotted_order), serialized = coalesce($18, r.serialized),
        left_out = nullif(array(
          select distinct name from unnest(r.left_out || $19::text[]) name where name <> all($20::text[]) order by name), '{}'),
        ${USAGE_MEMBERS.map((name) => `${name} = coalesce(excluded.${name}, r.${name})`).join(', ')}
      where r.session_id = excluded.session_id
        or exists (
          select from sessions o where o.tenant_id = ${workspace} and o.id = r.session_id and o.payload_sha256 is null)
      returning r.session_id, coalesce((select ${SAYS} from known), false) as repeated`,
    values: [
      run.id,
      session,
      run.reference_example_id,
      run.name,
      run.run_type,
      run.start_time,
      run.end_time,
      time,
      run.error,
      run.inputs,
      run.outputs,
      run.extra,
      run.tags,
      run.events,
      run.parent_run_id,
      run.trace_id,
      run.dotted_order,
      run.serialized,
      run.left_out && [...run.left_out].sort(),
      // A member that comes later is there after all.
      Object.keys(run).filter((name) => run[name as keyof RunChange] !== undefined),
      ...USAGE_MEMBERS.map((name) => usage[name]),
      tenant,
    ],
  });
  return rows[0];
}

async function applyAttachments(
  tenant: string | null,
  session: string,
  run: string,
  attachments: readonly RunAttachment[],
  tx: PoolClient,
): Promise<void> {
  await tx.query({
    name: 'apply attachments',
    text: `
      insert into run_attachments (tenant_id, run_id, name, session_id, type, sha256, bytes)
      select r.tenant_id, r.id, a.name, r.session_id, a.type, a.sha256, a.bytes
      from sessions s join runs r on r.session_id = s.id and r.tenant_id = s.tenant_id and r.id = $2
        cross join unnest($3::text[], $4::text[], $5::text[], $6::bigint[]) a (name, type, sha256, bytes)
      where s.id = $1 and s.tenant_id = $7
      on conflict (tenant_id, run_id, name) do update
        set type = excluded.type, sha256 = excluded.sha256, bytes = excluded.bytes`,
    values: [
      session,
      run,
      attachments.map(({ name }) => name),
      attachments.map(({ type }) => type),
      attachments.map(({ sha256 }) => sha256),
      attachments.map(({ bytes }) => bytes),
      tenant,
    ],
  });
}

/** Computes the statistics of a live session over the roots of its traces; an upload's come with its runs. */
export async function refreshRunStats(tx: PoolClient, tenant: string | null, session: string): Promise<void> {
  if (!(await lockStored(tx, tenant, session))) return;
  const latency = latencyOf('');
  await tx.query(
    `update sessions set (run_count, latency_p50, latency_p99, error_rate, last_run_start_time) = (
       select count(*)::int, percentile_cont(0.5) within group (order by ${latency}),
         percentile_cont(0.99) within group (order by ${latency}), avg((status = 'error')::int)::float8, max(start_time)
       from runs where session_id = $1 and tenant_id = $2 and parent_run_id is null)
     where id = $1 and tenant_id = $2`,
    [session, tenant],
  );
  await tx.query(
    `update sessions set (${USAGE_MEMBERS.join(', ')}) = (
       select ${USAGE_SUMS} from runs u where u.session_id = $1 and u.tenant_id = $2 and ${counted('$2')})
     where id = $1 and tenant_id = $2`,
    [session, tenant],
  );
  await storeFeedbackStats(tx, tenant, session);
}
