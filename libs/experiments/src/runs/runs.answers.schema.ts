import { shape } from '@fairlead/api';
import { type JsonSchema } from '@fairlead/schema';
import { exampleMembers } from '../datasets/datasets.answers.schema';
import { feedback, feedbackStatistics } from '../feedback/feedback.answers.schema';
import { ALWAYS_SHOWN, RUN_TYPES } from './run-json';
import { USAGE_MEMBERS } from './run-usage';
import { UNKNOWN_STATS } from './run-stats.queries';
import { LEFT_OUT } from '../compare/comparison-view.render';

const { any, boolean, either, free, integer, list, map, nothing, nullable, number, object, oneOf, text, time, uuid } =
  shape;

const status = oneOf('success', 'error', 'pending');
const outputs = either(free, text, list(free), nothing);
const tags = nullable(list(text));
const events = nullable(list(either(free, text)));

const runMembers: Readonly<Record<string, JsonSchema>> = {
  name: text,
  inputs: nullable(free),
  inputs_preview: nullable(text),
  run_type: oneOf(...RUN_TYPES),
  start_time: time,
  end_time: nullable(time),
  extra: nullable(free),
  error: nullable(text),
  execution_order: integer,
  serialized: nullable(free),
  outputs,
  outputs_preview: nullable(text),
  parent_run_id: nullable(uuid),
  manifest_id: nothing,
  manifest_s3_id: nothing,
  events,
  tags,
  inputs_s3_urls: nothing,
  outputs_s3_urls: nothing,
  s3_urls: nullable(map(object('RunAttachment', { presigned_url: text, mime_type: text }))),
  trace_id: uuid,
  dotted_order: text,
  trace_min_start_time: time,
  trace_max_start_time: time,
  id: uuid,
  status,
  child_run_ids: list(uuid),
  direct_child_run_ids: list(uuid),
  parent_run_ids: list(uuid),
  feedback_stats: nullable(feedbackStatistics),
  reference_example_id: nullable(uuid),
  total_tokens: nullable(integer),
  prompt_tokens: nullable(integer),
  completion_tokens: nullable(integer),
  prompt_token_details: nothing,
  completion_token_details: nothing,
  total_cost: nullable(text),
  prompt_cost: nullable(text),
  completion_cost: nullable(text),
  prompt_cost_details: nothing,
  completion_cost_details: nothing,
  price_model_id: nothing,
  first_token_time: nothing,
  messages: nothing,
  session_id: uuid,
  app_path: text,
  last_queued_at: nothing,
  in_dataset: boolean,
  share_token: nothing,
  trace_tier: oneOf('longlived', 'shortlived'),
  trace_first_received_at: nothing,
  ttl_seconds: nothing,
  trace_upgrade: boolean,
  reference_dataset_id: nullable(uuid),
  thread_id: nothing,
};

export const run = object(
  'Run',
  Object.fromEntries(
    Object.entries(runMembers).map(([name, member]) => [ALWAYS_SHOWN.includes(name) ? name : `${name}?`, member]),
  ),
);

export const runsPage = object('RunsPage', {
  runs: list(run),
  cursors: object('RunCursors', { next: nullable(text), prev: nullable(text) }),
  search_cursors: nothing,
  parsed_query: nothing,
});

const comparedRun = object('RunInComparison', {
  ...Object.fromEntries(Object.entries(runMembers).filter(([name]) => !LEFT_OUT.includes(name))),
  feedbacks: list(feedback),
});
/** An example with its runs side by side, from the first one's session to the last one's. */
export const exampleWithRuns = object('ExampleWithRuns', {
  ...exampleMembers,
  inputs: either(free, object('Preview', { preview: text })),
  runs: list(comparedRun),
});

/** A run in the second version: what was not selected, or is not known, is absent. */
export const runV2 = object('RunV2', {
  'id?': uuid,
  'name?': text,
  'run_type?': oneOf(...RUN_TYPES.map((type) => type.toUpperCase())),
  'status?': oneOf('SUCCESS', 'ERROR', 'PENDING'),
  'start_time?': time,
  'end_time?': time,
  'latency_seconds?': number,
  'error?': text,
  'error_preview?': text,
  'extra?': free,
  'metadata?': any,
  'events?': list(either(free, text)),
  'inputs?': free,
  'inputs_preview?': text,
  'outputs?': either(free, text, list(free)),
  'outputs_preview?': text,
  'parent_run_ids?': list(uuid),
  'project_id?': uuid,
  'trace_id?': uuid,
  'dotted_order?': text,
  'is_root?': boolean,
  'reference_example_id?': uuid,
  'reference_dataset_id?': uuid,
  'total_tokens?': integer,
  'prompt_tokens?': integer,
  'completion_tokens?': integer,
  'total_cost?': number,
  'prompt_cost?': number,
  'completion_cost?': number,
  'tags?': list(text),
  'app_path?': text,
  'attachments?': map(text),
  'is_in_dataset?': boolean,
  'feedback_stats?': feedbackStatistics,
});

const items = (title: string, item: JsonSchema) =>
  object(title, { items: list(item), has_more: boolean, 'next_cursor?': text });
export const runsPageV2 = items('RunsPageV2', runV2);
export const experimentRuns = items(
  'ExperimentRunsPage',
  object('ExampleWithRunsV2', { ...exampleMembers, runs: list(runV2) }),
);

/** By session: the examples that got better and worse. */
export const feedbackDelta = object('FeedbackDeltas', {
  feedback_deltas: map(object('FeedbackDelta', { improved_examples: list(uuid), regressed_examples: list(uuid) })),
});

/** Members that a selection leaves out are absent; tokens and costs are null until a run says them. */
export const runStats = object('RunStats', {
  'run_count?': integer,
  'latency_p50?': nullable(number),
  'latency_p99?': nullable(number),
  'latency_avg?': nullable(number),
  'last_run_start_time?': nullable(time),
  'feedback_stats?': feedbackStatistics,
  'error_rate?': nullable(number),
  ...Object.fromEntries(
    USAGE_MEMBERS.map((member) => [`${member}?`, nullable(member.endsWith('tokens') ? integer : number)]),
  ),
  ...Object.fromEntries(UNKNOWN_STATS.map((member) => [`${member}?`, nothing])),
});
