import {
  anyJson,
  anyObject,
  bool,
  int,
  type Schema,
  list,
  literal,
  note,
  nothing,
  nullable,
  num,
  object,
  record,
  str,
  timestamp,
  union,
  unused,
  uuid,
} from '@fairlead/schema';
import { feedback, feedbackStatistics } from '../feedback/feedback.answers.schema';
import { RUN_TYPES } from './run-json';
import { USAGE_MEMBERS } from '../common/run-usage';
import { UNKNOWN_STATS } from './run-stats.queries';

const status = literal(['success', 'error', 'pending']);
const outputs = union(anyObject(), str(), list(anyObject()), nothing);
const tags = nullable(list(str()));
const events = nullable(list(union(anyObject(), str())));

export const runAnswerMembers: Readonly<Record<string, Schema<unknown>>> = {
  name: note(str(), 'Name of the run.'),
  inputs: note(nullable(anyObject()), 'Input, byte for byte as it was sent; null where it is left out.'),
  inputs_preview: note(nullable(str()), 'First kilobyte of the inputs in previews; else null.'),
  run_type: note(str(), `Kind of step: ${RUN_TYPES.join(', ')}, or as it was sent.`),
  start_time: note(timestamp(), 'Start of the run.'),
  end_time: note(nullable(timestamp()), 'End of the run; null while it goes on.'),
  extra: note(nullable(anyObject()), 'Further facts, among them `metadata`; null when there are none.'),
  error: note(nullable(str()), 'Why the run failed; null when it did not.'),
  execution_order: note(int(), 'Always 1.'),
  serialized: note(nullable(anyObject()), 'How the step is configured; null when it was not sent.'),
  outputs: note(outputs, 'Output, byte for byte as it was sent; null without an output.'),
  outputs_preview: note(nullable(str()), 'First kilobyte of the outputs in previews; else null.'),
  parent_run_id: note(nullable(uuid()), 'Run that this run is a step of; null for a root run.'),
  manifest_id: unused,
  manifest_s3_id: unused,
  events: note(events, 'What happened during the run; null when nothing was sent.'),
  tags: note(tags, 'Labels of the run; null without labels.'),
  inputs_s3_urls: unused,
  outputs_s3_urls: unused,
  s3_urls: note(
    nullable(
      record(
        object('RunAttachment', {
          presigned_url: note(str(), 'Address of the attachment, valid for one hour, without a key.'),
          mime_type: note(str(), 'Media type of the attachment.'),
        }),
      ),
    ),
    'Attachments by `attachment.<name>`; null without one.',
  ),
  trace_id: note(uuid(), 'Root run of the trace.'),
  dotted_order: note(str(), 'Path of the run in its trace: time and identifier of each run from the root on.'),
  trace_min_start_time: note(timestamp(), 'Start of the run, as `start_time`.'),
  trace_max_start_time: note(timestamp(), 'Start of the run, as `start_time`.'),
  id: note(uuid(), 'Identifier of the run.'),
  status: note(status, '`error` when it failed, `success` when it ended otherwise, `pending` until it ends.'),
  child_run_ids: note(nullable(list(uuid())), 'All runs below this one; null where it is not selected.'),
  direct_child_run_ids: note(nullable(list(uuid())), 'Runs right below this one; null where it is not selected.'),
  parent_run_ids: note(list(uuid()), 'Runs above this one, from the root on.'),
  feedback_stats: note(
    nullable(feedbackStatistics),
    'Statistics of the feedback on the run, by key; null without feedback.',
  ),
  reference_example_id: note(nullable(uuid()), 'Example that the run was made for; null outside of experiments.'),
  total_tokens: note(nullable(int()), 'Tokens that the run used; null when it does not say.'),
  prompt_tokens: note(nullable(int()), 'Input tokens that the run used; null when it does not say.'),
  completion_tokens: note(nullable(int()), 'Output tokens that the run used; null when it does not say.'),
  prompt_token_details: unused,
  completion_token_details: unused,
  total_cost: note(
    nullable(str()),
    'Cost of the run, as a decimal number in the unit of the client; null when it does not say.',
  ),
  prompt_cost: note(nullable(str()), 'Cost of the input tokens, as a decimal number; null when the run does not say.'),
  completion_cost: note(
    nullable(str()),
    'Cost of the output tokens, as a decimal number; null when the run does not say.',
  ),
  prompt_cost_details: unused,
  completion_cost_details: unused,
  price_model_id: unused,
  first_token_time: unused,
  messages: unused,
  session_id: note(uuid(), 'Session that the run belongs to.'),
  app_path: note(str(), 'Path of the run in the web console.'),
  last_queued_at: unused,
  in_dataset: note(bool(), 'Always false.'),
  share_token: unused,
  trace_tier: note(literal(['longlived', 'shortlived']), 'Always `longlived`.'),
  trace_first_received_at: unused,
  ttl_seconds: unused,
  trace_upgrade: note(bool(), 'Always false.'),
  reference_dataset_id: note(
    nullable(uuid()),
    'Dataset of the example that the run was made for; null outside of experiments.',
  ),
  thread_id: note(nullable(str()), 'Thread that the metadata of the run name; null when they name none.'),
};

const leftOut = note(
  list(str()),
  'Members that were sent and are not stored, because they were too large; absent when there are none.',
);
const REPLACED_BY = 'Run that took the place of this one when its row was filled';
const REPLACED_AT = 'When that was recorded';

export const run = object('Run', {
  ...runAnswerMembers,
  'left_out?': leftOut,
  'replaced_by?': note(uuid(), `${REPLACED_BY}; absent for other runs.`),
  'replaced_at?': note(timestamp(), `${REPLACED_AT}; absent for other runs.`),
});

export const replacedRuns = object('ReplacedRuns', {
  resources: note(
    list(
      object('ReplacedRun', {
        ...runAnswerMembers,
        replaced_by: note(uuid(), `${REPLACED_BY}.`),
        replaced_at: note(timestamp(), `${REPLACED_AT}.`),
        feedback: note(list(feedback), 'Feedback on the run, the oldest first.'),
      }),
    ),
    'Replaced runs, the latest first.',
  ),
  offset: note(int(), 'Value for `offset` to get the next page.'),
});

export const runsPage = object('RunsPage', {
  runs: note(list(run), 'The runs of this page.'),
  cursors: note(
    object('RunCursors', {
      next: note(nullable(str()), 'Value for `cursor` to get the next page; null on the last one.'),
      prev: note(nullable(str()), 'Value for `cursor` to get the previous page; null on the first one.'),
    }),
    'Where further pages are.',
  ),
  search_cursors: unused,
  parsed_query: unused,
});

export const runV2 = object('RunV2', {
  'id?': note(uuid(), 'Identifier of the run.'),
  'name?': note(str(), 'Name of the run.'),
  'run_type?': note(str(), `Kind of step: ${RUN_TYPES.join(', ').toUpperCase()}, or another as it was sent.`),
  'status?': note(
    literal(['SUCCESS', 'ERROR', 'PENDING']),
    '`ERROR` when it failed, `SUCCESS` when it ended otherwise, `PENDING` until it ends.',
  ),
  'start_time?': note(timestamp(), 'Start of the run.'),
  'end_time?': note(timestamp(), 'End of the run.'),
  'latency_seconds?': note(num(), 'Time from start to end, in seconds.'),
  'error?': note(str(), 'Why the run failed.'),
  'error_preview?': note(str(), 'First kilobyte of the error.'),
  'extra?': note(anyObject(), 'Further facts, among them `metadata`.'),
  'metadata?': note(anyJson(), 'The member `metadata` of `extra`.'),
  'events?': note(list(union(anyObject(), str())), 'What happened during the run.'),
  'inputs?': note(anyObject(), 'Input, byte for byte as it was sent.'),
  'inputs_preview?': note(str(), 'First kilobyte of the inputs.'),
  'outputs?': note(union(anyObject(), str(), list(anyObject())), 'Output, byte for byte as it was sent.'),
  'outputs_preview?': note(str(), 'First kilobyte of the outputs.'),
  'parent_run_ids?': note(list(uuid()), 'Runs above this one, from the root on.'),
  'project_id?': note(uuid(), 'Session that the run belongs to.'),
  'trace_id?': note(uuid(), 'Root run of the trace.'),
  'thread_id?': note(str(), 'Thread that the metadata of the run name.'),
  'dotted_order?': note(str(), 'Path of the run in its trace: time and identifier of each run from the root on.'),
  'is_root?': note(bool(), 'Whether the run is the root of its trace.'),
  'reference_example_id?': note(uuid(), 'Example that the run was made for.'),
  'reference_dataset_id?': note(uuid(), 'Dataset of that example.'),
  'total_tokens?': note(int(), 'Tokens that the run used.'),
  'prompt_tokens?': note(int(), 'Input tokens that the run used.'),
  'completion_tokens?': note(int(), 'Output tokens that the run used.'),
  'total_cost?': note(num(), 'Cost of the run, in the unit of the client.'),
  'prompt_cost?': note(num(), 'Cost of the input tokens, in the unit of the client.'),
  'completion_cost?': note(num(), 'Cost of the output tokens, in the unit of the client.'),
  'tags?': note(list(str()), 'Labels of the run.'),
  'app_path?': note(str(), 'Path of the run in the web console.'),
  'attachments?': note(record(str()), 'Addresses of attachments by name, valid for one hour, without a key.'),
  'is_in_dataset?': note(bool(), 'Whether an example was made from the run: always false.'),
  'share_url?': note(str(), 'Where whoever has this address can read the run; absent while it is not shared.'),
  'feedback_stats?': note(feedbackStatistics, 'Statistics of the feedback on the run, by key.'),
  'left_out?': leftOut,
});

export const itemsPage = <T>(title: string, item: Schema<T>) =>
  object(title, {
    items: note(list(item), 'The items of this page.'),
    has_more: note(bool(), 'Whether there is a next page.'),
    'next_cursor?': note(str(), 'Value for `cursor` to get the next page; absent on the last one.'),
  });
export const runsPageV2 = itemsPage('RunsPageV2', runV2);
/** Members that a selection leaves out are absent; tokens and costs are null until a run says them. */
export const runStats = object('RunStats', {
  'run_count?': note(int(), 'Number of runs.'),
  'latency_p50?': note(nullable(num()), 'Median latency of runs that ended, in seconds; null without one.'),
  'latency_p99?': note(
    nullable(num()),
    '99th percentile of the latency of runs that ended, in seconds; null without one.',
  ),
  'latency_avg?': note(nullable(num()), 'Mean latency of runs that ended, in seconds; null without one.'),
  'last_run_start_time?': note(nullable(timestamp()), 'Start of the newest run; null without a run.'),
  'feedback_stats?': note(feedbackStatistics, 'Statistics of the feedback on the runs, by key.'),
  'error_rate?': note(nullable(num()), 'Share of the runs that failed, from 0 to 1; null without a run.'),
  ...Object.fromEntries(
    USAGE_MEMBERS.map((member) => {
      const [kind, unit] = member.split('_') as [string, string];
      const what = { total: '', prompt: ' of inputs', completion: ' of outputs' }[kind];
      const sum = unit === 'tokens' ? `Tokens${what}` : `Cost${what}, in the unit of the client`;
      return [`${member}?`, note(nullable(unit === 'tokens' ? int() : num()), `${sum}; null until a run says it.`)];
    }),
  ),
  ...Object.fromEntries(UNKNOWN_STATS.map((member) => [`${member}?`, unused])),
});
