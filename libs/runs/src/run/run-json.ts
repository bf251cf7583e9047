import { array, raw, text } from '../common/platform-json';
import { threadOf } from './run-thread';
import type { USAGE_MEMBERS } from '../common/run-usage';
import type { RunEntity } from './run.entity';

export function appPath(tenantId: string, sessionId: string, id: string): string {
  return `/o/${tenantId}/projects/p/${sessionId}/r/${id}`;
}

type Used = Pick<RunEntity, (typeof USAGE_MEMBERS)[number]>;
type Shown = Omit<RunEntity, 'example_from' | 'start_time' | 'end_time' | 'row_number' | 'left_out' | keyof Used>;

/** A run as its row gives it; times are ISO texts with microseconds, the opaque members raw JSON. */
export interface RunRow extends Shown, Partial<Used & Pick<RunEntity, 'left_out'>> {
  readonly start: string;
  readonly end: string | null;
  readonly attachments?: readonly { readonly name: string; readonly type: string }[] | null;
  /** Ids of the runs below it, and of those right below it, as JSON. Null for a run that stands alone. */
  readonly children?: string | null;
  readonly direct_children?: string | null;
}

export const RUN_PLACE = 'r.parent_run_id, r.trace_id, r.dotted_order, r.tags, r.events, r.serialized, r.left_out';

/** Kinds of runs that all clients know; others are kept as they are sent. */
export const RUN_TYPES = ['tool', 'chain', 'llm', 'retriever', 'embedding', 'prompt', 'parser'] as const;

/** Members that clients need a value of, whatever they select. */
export const ALWAYS_SHOWN: readonly string[] = [
  'id',
  'name',
  'run_type',
  'start_time',
  'status',
  'session_id',
  'trace_id',
  'dotted_order',
  'app_path',
];

/** Further members that no client takes null for. Inputs that were not selected are an empty object. */
export const NEVER_NULL = [
  ...['inputs', 'execution_order', 'parent_run_ids', 'trace_min_start_time', 'trace_max_start_time'],
  ...['in_dataset', 'trace_tier', 'trace_upgrade'],
];

/** Names that can be selected but stand for other members, or for none. */
export const SELECTED_AS: Readonly<Record<string, readonly string[]>> = {
  trace_min_max_start_time: ['trace_min_start_time', 'trace_max_start_time'],
  inputs_or_signed_url: ['inputs'],
  outputs_or_signed_url: ['outputs'],
  error_or_signed_url: ['error'],
  events_or_signed_url: ['events'],
  extra_or_signed_url: ['extra'],
  serialized_or_signed_url: ['serialized'],
  child_run_ids: ['child_run_ids', 'direct_child_run_ids'],
};

/** All members of a run, each as JSON text; `s3Urls` as `attachmentUrls` gives it. */
export function runMembers(row: RunRow, feedbackStats: string | undefined, s3Urls = 'null'): Record<string, string> {
  return {
    name: text(row.name),
    inputs: row.inputs ?? '{}',
    inputs_preview: 'null',
    run_type: text(row.run_type),
    start_time: text(row.start),
    end_time: text(row.end),
    extra: raw(row.extra),
    error: raw(row.error),
    execution_order: '1',
    serialized: raw(row.serialized),
    outputs: raw(row.outputs),
    outputs_preview: 'null',
    parent_run_id: text(row.parent_run_id),
    manifest_id: 'null',
    manifest_s3_id: 'null',
    events: raw(row.events),
    tags: raw(row.tags),
    inputs_s3_urls: 'null',
    outputs_s3_urls: 'null',
    s3_urls: s3Urls,
    trace_id: text(row.trace_id ?? row.id),
    dotted_order: text(dottedOrder(row)),
    trace_min_start_time: text(row.start),
    trace_max_start_time: text(row.start),
    id: text(row.id),
    status: text(row.status),
    child_run_ids: row.children ?? '[]',
    direct_child_run_ids: row.direct_children ?? '[]',
    parent_run_ids: array(parents(row).map(text)),
    feedback_stats: raw(feedbackStats),
    reference_example_id: text(row.example_id),
    total_tokens: raw(row.total_tokens),
    prompt_tokens: raw(row.prompt_tokens),
    completion_tokens: raw(row.completion_tokens),
    prompt_token_details: 'null',
    completion_token_details: 'null',
    total_cost: text(row.total_cost),
    prompt_cost: text(row.prompt_cost),
    completion_cost: text(row.completion_cost),
    prompt_cost_details: 'null',
    completion_cost_details: 'null',
    price_model_id: 'null',
    first_token_time: 'null',
    messages: 'null',
    session_id: text(row.session_id),
    app_path: text(appPath(row.tenant_id, row.session_id, row.id)),
    last_queued_at: 'null',
    in_dataset: 'false',
    share_token: 'null',
    trace_tier: text('longlived'),
    trace_first_received_at: 'null',
    ttl_seconds: 'null',
    trace_upgrade: 'false',
    reference_dataset_id: text(row.dataset_id),
    thread_id: text(threadOf(row.extra)),
  };
}

export function leftOutMember({ left_out }: RunRow): Record<string, string> {
  return left_out ? { left_out: array(left_out.map(text)) } : {};
}

export function dottedOrder(row: RunRow): string {
  return row.dotted_order ?? `${row.start.replace(/[-:.]|\+.*$/g, '')}Z${row.id}`;
}

/** Ids of the runs above a run, the root first: those that its dotted order names before its own. */
export function parents(row: RunRow): string[] {
  if (row.parent_run_id === null) return [];
  const above = (row.dotted_order ?? '').split('.').slice(0, -1);
  const ids = above.flatMap((part) => /Z([0-9a-f-]{36})$/.exec(part)?.[1] ?? []);
  return ids.length > 0 ? ids : [row.parent_run_id];
}

export const RUN_SELECT = [
  'id',
  'name',
  'run_type',
  'start_time',
  'end_time',
  'status',
  'error',
  'extra',
  'events',
  'inputs',
  'inputs_preview',
  'inputs_s3_urls',
  'inputs_or_signed_url',
  'outputs',
  'outputs_preview',
  'outputs_s3_urls',
  'outputs_or_signed_url',
  's3_urls',
  'error_or_signed_url',
  'events_or_signed_url',
  'extra_or_signed_url',
  'serialized_or_signed_url',
  'parent_run_id',
  'manifest_id',
  'manifest_s3_id',
  'manifest',
  'session_id',
  'serialized',
  'reference_example_id',
  'reference_dataset_id',
  'total_tokens',
  'prompt_tokens',
  'prompt_token_details',
  'completion_tokens',
  'completion_token_details',
  'total_cost',
  'prompt_cost',
  'prompt_cost_details',
  'completion_cost',
  'completion_cost_details',
  'price_model_id',
  'first_token_time',
  'trace_id',
  'dotted_order',
  'last_queued_at',
  'feedback_stats',
  'child_run_ids',
  'parent_run_ids',
  'tags',
  'in_dataset',
  'app_path',
  'share_token',
  'trace_tier',
  'trace_first_received_at',
  'ttl_seconds',
  'trace_upgrade',
  'thread_id',
  'trace_min_max_start_time',
  'messages',
  'inserted_at',
] as const;
