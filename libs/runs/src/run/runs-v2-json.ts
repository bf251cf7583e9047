import { memberSlices, present } from '@fairlead/blobs';
import { array, object, preview, raw, text } from '../common/platform-json';
import type { AttachmentLink } from '../persist/attachments.service';
import { dottedOrder, leftOutMember, parents, RUN_TYPES, type RunRow } from './run-json';
import { threadOf } from './run-thread';

/** Kinds that the second version writes in upper case. */
const KNOWN_TYPES: ReadonlySet<string> = new Set(RUN_TYPES);

export const V2_SELECTS = [
  'ID',
  'NAME',
  'RUN_TYPE',
  'STATUS',
  'START_TIME',
  'END_TIME',
  'LATENCY_SECONDS',
  'FIRST_TOKEN_TIME',
  'ERROR',
  'ERROR_PREVIEW',
  'EXTRA',
  'METADATA',
  'EVENTS',
  'INPUTS',
  'INPUTS_PREVIEW',
  'OUTPUTS',
  'OUTPUTS_PREVIEW',
  'MANIFEST',
  'PARENT_RUN_IDS',
  'PROJECT_ID',
  'TRACE_ID',
  'THREAD_ID',
  'DOTTED_ORDER',
  'IS_ROOT',
  'REFERENCE_EXAMPLE_ID',
  'REFERENCE_DATASET_ID',
  'TOTAL_TOKENS',
  'PROMPT_TOKENS',
  'COMPLETION_TOKENS',
  'TOTAL_COST',
  'PROMPT_COST',
  'COMPLETION_COST',
  'PROMPT_TOKEN_DETAILS',
  'COMPLETION_TOKEN_DETAILS',
  'PROMPT_COST_DETAILS',
  'COMPLETION_COST_DETAILS',
  'PRICE_MODEL_ID',
  'TAGS',
  'APP_PATH',
  'ATTACHMENTS',
  'THREAD_EVALUATION_TIME',
  'IS_IN_DATASET',
  'LAST_QUEUED_AT',
  'SHARE_URL',
  'FEEDBACK_STATS',
] as const;

export type V2Select = (typeof V2_SELECTS)[number];

/** Members of the first version that have to be read for a selection of the second. */
export const READ_FOR: Partial<Record<V2Select, readonly string[]>> = {
  INPUTS: ['inputs'],
  INPUTS_PREVIEW: ['inputs'],
  OUTPUTS: ['outputs'],
  OUTPUTS_PREVIEW: ['outputs'],
  EXTRA: ['extra'],
  METADATA: ['extra'],
  THREAD_ID: ['extra'],
  TOTAL_TOKENS: ['total_tokens'],
  PROMPT_TOKENS: ['prompt_tokens'],
  COMPLETION_TOKENS: ['completion_tokens'],
  TOTAL_COST: ['total_cost'],
  PROMPT_COST: ['prompt_cost'],
  COMPLETION_COST: ['completion_cost'],
  ATTACHMENTS: ['s3_urls'],
};

const PREVIEW_BYTES = 1024;

/** A run in the second version's names, selected members only. What is not known is left out, never null. */
export function runV2Json(
  row: RunRow,
  selects: ReadonlySet<V2Select>,
  feedbackStats: string | undefined,
  links: ReadonlyMap<string, AttachmentLink>,
  shareUrl?: string,
): string {
  const members: Record<string, string> = {};
  for (const select of selects) {
    const value = select === 'ATTACHMENTS' ? attachments(links) : valueOf(select, row, feedbackStats, shareUrl);
    if (value !== 'null') members[select.toLowerCase()] = value;
  }
  return object({ ...members, ...leftOutMember(row) });
}

function attachments(links: ReadonlyMap<string, AttachmentLink>): string {
  if (links.size === 0) return 'null';
  return object(Object.fromEntries([...links].map(([name, { url }]) => [name, text(url)])));
}

function valueOf(select: V2Select, row: RunRow, feedbackStats: string | undefined, shareUrl?: string): string {
  switch (select) {
    case 'ID':
      return text(row.id);
    case 'NAME':
      return text(row.name);
    case 'RUN_TYPE':
      return text(KNOWN_TYPES.has(row.run_type) ? row.run_type.toUpperCase() : row.run_type);
    case 'STATUS':
      return text(row.status.toUpperCase());
    case 'START_TIME':
      return text(row.start);
    case 'END_TIME':
      return text(row.end);
    case 'LATENCY_SECONDS':
      return row.end === null ? 'null' : String(Math.max(0, micros(row.end) - micros(row.start)) / 1_000_000);
    case 'ERROR':
      return raw(row.error);
    case 'ERROR_PREVIEW':
      return row.error === null ? 'null' : text(preview(String(JSON.parse(row.error)), PREVIEW_BYTES));
    case 'EXTRA':
      return raw(row.extra);
    case 'METADATA':
      return metadataOf(row.extra);
    case 'EVENTS':
      return raw(row.events);
    case 'INPUTS':
      return row.inputs ?? '{}';
    case 'INPUTS_PREVIEW':
      return text(preview(row.inputs ?? '{}', PREVIEW_BYTES));
    case 'OUTPUTS':
      return raw(row.outputs);
    case 'OUTPUTS_PREVIEW':
      return text(preview(row.outputs, PREVIEW_BYTES));
    case 'PARENT_RUN_IDS':
      return array(parents(row).map(text));
    case 'PROJECT_ID':
      return text(row.session_id);
    case 'TRACE_ID':
      return text(row.trace_id ?? row.id);
    case 'THREAD_ID':
      return text(threadOf(row.extra));
    case 'DOTTED_ORDER':
      return text(dottedOrder(row));
    case 'IS_ROOT':
      return String(row.parent_run_id === null);
    case 'REFERENCE_EXAMPLE_ID':
      return text(row.example_id);
    case 'REFERENCE_DATASET_ID':
      return text(row.dataset_id);
    case 'TOTAL_TOKENS':
      return raw(row.total_tokens);
    case 'PROMPT_TOKENS':
      return raw(row.prompt_tokens);
    case 'COMPLETION_TOKENS':
      return raw(row.completion_tokens);
    case 'TOTAL_COST':
      return raw(row.total_cost);
    case 'PROMPT_COST':
      return raw(row.prompt_cost);
    case 'COMPLETION_COST':
      return raw(row.completion_cost);
    case 'TAGS':
      return raw(row.tags);
    case 'APP_PATH':
      return text(`/projects/p/${row.session_id}/r/${row.id}`);
    case 'IS_IN_DATASET':
      return 'false';
    case 'FEEDBACK_STATS':
      return raw(feedbackStats);
    case 'SHARE_URL':
      return text(shareUrl ?? null);
    default:
      return 'null';
  }
}

export function metadataOf(extra: string | null): string {
  const metadata = extra === null ? undefined : present(memberSlices(Buffer.from(extra)).get('metadata'));
  return metadata ? metadata.toString('utf8') : 'null';
}

function micros(iso: string): number {
  return Date.parse(iso.slice(0, 23) + 'Z') * 1000 + Number(iso.slice(23, 26));
}
