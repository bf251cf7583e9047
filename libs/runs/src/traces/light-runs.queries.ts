import { check, datetime, Problems } from '@fairlead/schema';
import type { Pool } from 'pg';
import { conversationEnd, lastTurn } from '../common/conversation-turn';
import { time, unquoted } from '../common/platform-json';
import { isoTime, latencyOf } from '../common/sql';
import { runFeedbackStatistics } from '../feedback/feedback-statistics.queries';
import { threadOf } from '../run/run-thread';
import { runUsage, type UsageTexts } from '../common/run-usage';
import { runInputs } from '../run/runs-vocabulary';

const PREVIEW = 300;
/** Longer metadata and tags are not read for a list (bytes). */
const [MOST_EXTRA, MOST_TAGS] = [64 * 1024, 8 * 1024];
/** In longer bodies no turn of a conversation is looked for (bytes): all of a body is read to find its end. */
const MOST_CONVERSATION = 256 * 1024;
/** Characters of the events in which the first token is looked for: it is among the first. */
const MOST_EVENTS = 8 * 1024;

const FIRST_TOKEN = (() => {
  const [name, time] = [String.raw`"name"\s*:\s*"new_token"`, String.raw`"time"\s*:\s*"([^"]{1,40})"`];
  const between = String.raw`\s*,\s*`;
  const of = (pattern: string) => `substring(left(r.events, ${MOST_EVENTS}) from '${pattern}')`;
  return `coalesce(${of(name + between + time)}, ${of(time + between + name)})`;
})();

const LIGHT = `
  select r.id, coalesce(r.trace_id, r.id) as trace_id, r.parent_run_id, left(r.name, ${PREVIEW}) as name, r.run_type, r.status,
    ${isoTime('r.start_time')} as start_time, ${isoTime('r.end_time')} as end_time, ${latencyOf('r.')} as latency,
    ${FIRST_TOKEN} as first_token, left(r.error, ${PREVIEW}) as error, r.example_id, used.*,
    case when octet_length(r.tags) <= ${MOST_TAGS} then r.tags end as tags,
    case when $3 then left(${runInputs('$2')}, ${PREVIEW}) end as inputs,
    case when $3 then left(r.outputs, ${PREVIEW}) end as outputs,
    case when $3 then ${conversationEnd(runInputs('$2'), MOST_CONVERSATION)} end as inputs_end,
    case when $3 then ${conversationEnd('r.outputs', MOST_CONVERSATION)} end as outputs_end,
    case when $3 and octet_length(r.extra) <= ${MOST_EXTRA} then r.extra end as extra
  from unnest($1::uuid[]) with ordinality as k (id, place)
    join runs r on r.id = k.id and r.tenant_id = $2 cross join ${runUsage('$2')}
  order by k.place`;

interface Row extends UsageTexts {
  readonly id: string;
  readonly trace_id: string;
  readonly parent_run_id: string | null;
  readonly name: string;
  readonly run_type: string;
  readonly status: 'success' | 'error' | 'pending';
  readonly start_time: string;
  readonly end_time: string | null;
  readonly latency: number | null;
  readonly first_token: string | null;
  readonly error: string | null;
  readonly example_id: string | null;
  readonly tags: string | null;
  readonly inputs: string | null;
  readonly outputs: string | null;
  readonly inputs_end: string | null;
  readonly outputs_end: string | null;
  readonly extra: string | null;
}

/** Root runs in the order of the ids, with the beginnings of their bodies. */
export async function readTraces(pool: Pool, tenantId: string, ids: readonly string[]) {
  return (await readLight(pool, tenantId, ids, true)).map(({ row, run }) => {
    const [asked, answered] = [lastTurn(row.inputs_end, 'user'), lastTurn(row.outputs_end)];
    return {
      ...run,
      inputs_preview: row.inputs,
      outputs_preview: row.outputs,
      ...(asked && { inputs_turn: { ...asked, text: asked.text.slice(0, PREVIEW) } }),
      ...(answered && { outputs_turn: { ...answered, text: answered.text.slice(0, PREVIEW) } }),
      thread_id: threadOf(row.extra),
    };
  });
}

/** Runs in the order of the ids, without bodies. */
export async function readRunsOfTrace(pool: Pool, tenantId: string, ids: readonly string[]) {
  return (await readLight(pool, tenantId, ids, false)).map(({ row, run }) => ({
    ...run,
    parent_run_id: row.parent_run_id,
  }));
}

async function readLight(pool: Pool, tenantId: string, ids: readonly string[], withBodies: boolean) {
  const [{ rows }, statistics] = await Promise.all([
    pool.query<Row>(LIGHT, [ids, tenantId, withBodies]),
    runFeedbackStatistics(pool, tenantId, ids),
  ]);
  return rows.map((row) => ({ row, run: lightRun(row, statistics.get(row.id)) }));
}

function lightRun(row: Row, statistics: string | undefined) {
  const tokens = (count: string | null) => (count === null ? null : Number(count));
  return {
    ...{ id: row.id, trace_id: row.trace_id, name: row.name, run_type: row.run_type, status: row.status },
    ...{ start_time: row.start_time, end_time: row.end_time, latency: row.latency },
    first_token_time: timeOf(row.first_token),
    error_preview: row.error && unquoted(row.error),
    prompt_tokens: tokens(row.prompt_tokens),
    completion_tokens: tokens(row.completion_tokens),
    total_tokens: tokens(row.total_tokens),
    ...{ prompt_cost: row.prompt_cost, completion_cost: row.completion_cost, total_cost: row.total_cost },
    tags: row.tags === null ? [] : (JSON.parse(row.tags) as string[]),
    reference_example_id: row.example_id,
    feedback: meansOf(statistics),
  };
}

/** The time of an event as its client wrote it, in the spelling of all times; null when it is none. */
function timeOf(sent: string | null): string | null {
  const known = sent === null ? undefined : check(datetime(), sent, [], new Problems());
  return known ? (JSON.parse(time(known.iso)) as string) : null;
}

function meansOf(statistics: string | undefined): Record<string, number | null> {
  const parsed = JSON.parse(statistics ?? '{}') as Readonly<Record<string, { readonly avg: number | null }>>;
  return Object.fromEntries(Object.entries(parsed).map(([key, { avg }]) => [key, avg]));
}
