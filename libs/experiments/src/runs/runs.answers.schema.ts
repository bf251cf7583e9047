import { shape } from '@fairlead/api';
import { type JsonSchema } from '@fairlead/schema';
import { exampleMembers } from '../datasets/datasets.answers.schema';
import { feedback, feedbackStatistics } from '../feedback/feedback.answers.schema';
import { RUN_TYPES } from './run-json';
import { USAGE_MEMBERS } from './run-usage';
import { UNKNOWN_STATS } from './run-stats.queries';
import { LEFT_OUT } from '../compare/comparison-view-rows.queries';

const { any, boolean, either, free, integer, list, map, noted, nothing } = shape;
const { nullable, number, object, oneOf, text, time, unused, uuid } = shape;

const status = oneOf('success', 'error', 'pending');
const outputs = either(free, text, list(free), nothing);
const tags = nullable(list(text));
const events = nullable(list(either(free, text)));

const runMembers: Readonly<Record<string, JsonSchema>> = {
  name: noted(text, 'Name of the run.'),
  inputs: noted(nullable(free), 'Input, byte for byte as it was sent; null where it is left out.'),
  inputs_preview: noted(nullable(text), 'First kilobyte of the inputs in previews; else null.'),
  run_type: noted(text, `Kind of step: ${RUN_TYPES.join(', ')}, or as it was sent.`),
  start_time: noted(time, 'Start of the run.'),
  end_time: noted(nullable(time), 'End of the run; null while it goes on.'),
  extra: noted(nullable(free), 'Further facts, among them `metadata`; null when there are none.'),
  error: noted(nullable(text), 'Why the run failed; null when it did not.'),
  execution_order: noted(integer, 'Always 1.'),
  serialized: noted(nullable(free), 'How the step is configured; null when it was not sent.'),
  outputs: noted(outputs, 'Output, byte for byte as it was sent; null without an output.'),
  outputs_preview: noted(nullable(text), 'First kilobyte of the outputs in previews; else null.'),
  parent_run_id: noted(nullable(uuid), 'Run that this run is a step of; null for a root run.'),
  manifest_id: unused,
  manifest_s3_id: unused,
  events: noted(events, 'What happened during the run; null when nothing was sent.'),
  tags: noted(tags, 'Labels of the run; null without labels.'),
  inputs_s3_urls: unused,
  outputs_s3_urls: unused,
  s3_urls: noted(
    nullable(
      map(
        object('RunAttachment', {
          presigned_url: noted(text, 'Address of the attachment, valid for one hour, without a key.'),
          mime_type: noted(text, 'Media type of the attachment.'),
        }),
      ),
    ),
    'Attachments by `attachment.<name>`; null without one.',
  ),
  trace_id: noted(uuid, 'Root run of the trace.'),
  dotted_order: noted(text, 'Path of the run in its trace: time and identifier of each run from the root on.'),
  trace_min_start_time: noted(time, 'Start of the run, as `start_time`.'),
  trace_max_start_time: noted(time, 'Start of the run, as `start_time`.'),
  id: noted(uuid, 'Identifier of the run.'),
  status: noted(status, '`error` when it failed, `success` when it ended otherwise, `pending` until it ends.'),
  child_run_ids: noted(nullable(list(uuid)), 'All runs below this one; null where it is not selected.'),
  direct_child_run_ids: noted(nullable(list(uuid)), 'Runs right below this one; null where it is not selected.'),
  parent_run_ids: noted(list(uuid), 'Runs above this one, from the root on.'),
  feedback_stats: noted(
    nullable(feedbackStatistics),
    'Statistics of the feedback on the run, by key; null without feedback.',
  ),
  reference_example_id: noted(nullable(uuid), 'Example that the run was made for; null outside of experiments.'),
  total_tokens: noted(nullable(integer), 'Tokens that the run used; null when it does not say.'),
  prompt_tokens: noted(nullable(integer), 'Input tokens that the run used; null when it does not say.'),
  completion_tokens: noted(nullable(integer), 'Output tokens that the run used; null when it does not say.'),
  prompt_token_details: unused,
  completion_token_details: unused,
  total_cost: noted(
    nullable(text),
    'Cost of the run, as a decimal number in the unit of the client; null when it does not say.',
  ),
  prompt_cost: noted(nullable(text), 'Cost of the input tokens, as a decimal number; null when the run does not say.'),
  completion_cost: noted(
    nullable(text),
    'Cost of the output tokens, as a decimal number; null when the run does not say.',
  ),
  prompt_cost_details: unused,
  completion_cost_details: unused,
  price_model_id: unused,
  first_token_time: unused,
  messages: unused,
  session_id: noted(uuid, 'Session that the run belongs to.'),
  app_path: noted(text, 'Path of the run in the web console.'),
  last_queued_at: unused,
  in_dataset: noted(boolean, 'Always false.'),
  share_token: unused,
  trace_tier: noted(oneOf('longlived', 'shortlived'), 'Always `longlived`.'),
  trace_first_received_at: unused,
  ttl_seconds: unused,
  trace_upgrade: noted(boolean, 'Always false.'),
  reference_dataset_id: noted(
    nullable(uuid),
    'Dataset of the example that the run was made for; null outside of experiments.',
  ),
  thread_id: noted(nullable(text), 'Thread that the metadata of the run name; null when they name none.'),
};

const leftOut = noted(
  list(text),
  'Members that were sent and are not stored, because they were too large; absent when there are none.',
);
const REPLACED_BY = 'Run that took the place of this one when its row was filled';
const REPLACED_AT = 'When that was recorded';

export const run = object('Run', {
  ...runMembers,
  'left_out?': leftOut,
  'replaced_by?': noted(uuid, `${REPLACED_BY}; absent for other runs.`),
  'replaced_at?': noted(time, `${REPLACED_AT}; absent for other runs.`),
});

export const replacedRuns = object('ReplacedRuns', {
  resources: noted(
    list(
      object('ReplacedRun', {
        ...runMembers,
        replaced_by: noted(uuid, `${REPLACED_BY}.`),
        replaced_at: noted(time, `${REPLACED_AT}.`),
        feedback: noted(list(feedback), 'Feedback on the run, the oldest first.'),
      }),
    ),
    'Replaced runs, the latest first.',
  ),
  offset: noted(integer, 'Value for `offset` to get the next page.'),
});

export const runsPage = object('RunsPage', {
  runs: noted(list(run), 'The runs of this page.'),
  cursors: noted(
    object('RunCursors', {
      next: noted(nullable(text), 'Value for `cursor` to get the next page; null on the last one.'),
      prev: noted(nullable(text), 'Value for `cursor` to get the previous page; null on the first one.'),
    }),
    'Where further pages are.',
  ),
  search_cursors: unused,
  parsed_query: unused,
});

const comparedRun = object('RunInComparison', {
  ...Object.fromEntries(Object.entries(runMembers).filter(([name]) => !LEFT_OUT.includes(name))),
  feedbacks: noted(list(feedback), 'Feedback on the run.'),
});
/** An example with its runs side by side, from the first one's session to the last one's. */
export const exampleWithRuns = object('ExampleWithRuns', {
  ...exampleMembers,
  inputs: noted(
    either(free, object('Preview', { preview: noted(text, 'First kilobyte of the text.') })),
    'Input of the example, or a preview of it.',
  ),
  runs: noted(list(comparedRun), 'Runs for the example, in the order of the sessions.'),
});

export const runV2 = object('RunV2', {
  'id?': noted(uuid, 'Identifier of the run.'),
  'name?': noted(text, 'Name of the run.'),
  'run_type?': noted(text, `Kind of step: ${RUN_TYPES.join(', ').toUpperCase()}, or another as it was sent.`),
  'status?': noted(
    oneOf('SUCCESS', 'ERROR', 'PENDING'),
    '`ERROR` when it failed, `SUCCESS` when it ended otherwise, `PENDING` until it ends.',
  ),
  'start_time?': noted(time, 'Start of the run.'),
  'end_time?': noted(time, 'End of the run.'),
  'latency_seconds?': noted(number, 'Time from start to end, in seconds.'),
  'error?': noted(text, 'Why the run failed.'),
  'error_preview?': noted(text, 'First kilobyte of the error.'),
  'extra?': noted(free, 'Further facts, among them `metadata`.'),
  'metadata?': noted(any, 'The member `metadata` of `extra`.'),
  'events?': noted(list(either(free, text)), 'What happened during the run.'),
  'inputs?': noted(free, 'Input, byte for byte as it was sent.'),
  'inputs_preview?': noted(text, 'First kilobyte of the inputs.'),
  'outputs?': noted(either(free, text, list(free)), 'Output, byte for byte as it was sent.'),
  'outputs_preview?': noted(text, 'First kilobyte of the outputs.'),
  'parent_run_ids?': noted(list(uuid), 'Runs above this one, from the root on.'),
  'project_id?': noted(uuid, 'Session that the run belongs to.'),
  'trace_id?': noted(uuid, 'Root run of the trace.'),
  'thread_id?': noted(text, 'Thread that the metadata of the run name.'),
  'dotted_order?': noted(text, 'Path of the run in its trace: time and identifier of each run from the root on.'),
  'is_root?': noted(boolean, 'Whether the run is the root of its trace.'),
  'reference_example_id?': noted(uuid, 'Example that the run was made for.'),
  'reference_dataset_id?': noted(uuid, 'Dataset of that example.'),
  'total_tokens?': noted(integer, 'Tokens that the run used.'),
  'prompt_tokens?': noted(integer, 'Input tokens that the run used.'),
  'completion_tokens?': noted(integer, 'Output tokens that the run used.'),
  'total_cost?': noted(number, 'Cost of the run, in the unit of the client.'),
  'prompt_cost?': noted(number, 'Cost of the input tokens, in the unit of the client.'),
  'completion_cost?': noted(number, 'Cost of the output tokens, in the unit of the client.'),
  'tags?': noted(list(text), 'Labels of the run.'),
  'app_path?': noted(text, 'Path of the run in the web console.'),
  'attachments?': noted(map(text), 'Addresses of attachments by name, valid for one hour, without a key.'),
  'is_in_dataset?': noted(boolean, 'Whether an example was made from the run: always false.'),
  'share_url?': noted(text, 'Where whoever has this address can read the run; absent while it is not shared.'),
  'feedback_stats?': noted(feedbackStatistics, 'Statistics of the feedback on the run, by key.'),
  'left_out?': leftOut,
});

const items = (title: string, item: JsonSchema) =>
  object(title, {
    items: noted(list(item), 'The items of this page.'),
    has_more: noted(boolean, 'Whether there is a next page.'),
    'next_cursor?': noted(text, 'Value for `cursor` to get the next page; absent on the last one.'),
  });
export const runsPageV2 = items('RunsPageV2', runV2);
export const experimentRuns = items(
  'ExperimentRunsPage',
  object('ExampleWithRunsV2', {
    ...exampleMembers,
    runs: noted(list(runV2), 'Runs for the example, in the order of the experiments.'),
  }),
);

export const feedbackDelta = object('FeedbackDeltas', {
  feedback_deltas: noted(
    map(
      object('FeedbackDelta', {
        improved_examples: noted(
          list(uuid),
          'Examples with a better score than in the baseline, the largest changes first.',
        ),
        regressed_examples: noted(
          list(uuid),
          'Examples with a worse score than in the baseline, the largest changes first.',
        ),
      }),
    ),
    'Changes by session.',
  ),
});

/** Members that a selection leaves out are absent; tokens and costs are null until a run says them. */
export const runStats = object('RunStats', {
  'run_count?': noted(integer, 'Number of runs.'),
  'latency_p50?': noted(nullable(number), 'Median latency of runs that ended, in seconds; null without one.'),
  'latency_p99?': noted(
    nullable(number),
    '99th percentile of the latency of runs that ended, in seconds; null without one.',
  ),
  'latency_avg?': noted(nullable(number), 'Mean latency of runs that ended, in seconds; null without one.'),
  'last_run_start_time?': noted(nullable(time), 'Start of the newest run; null without a run.'),
  'feedback_stats?': noted(feedbackStatistics, 'Statistics of the feedback on the runs, by key.'),
  'error_rate?': noted(nullable(number), 'Share of the runs that failed, from 0 to 1; null without a run.'),
  ...Object.fromEntries(
    USAGE_MEMBERS.map((member) => {
      const [kind, unit] = member.split('_') as [string, string];
      const what = { total: '', prompt: ' of inputs', completion: ' of outputs' }[kind];
      const sum = unit === 'tokens' ? `Tokens${what}` : `Cost${what}, in the unit of the client`;
      return [`${member}?`, noted(nullable(unit === 'tokens' ? integer : number), `${sum}; null until a run says it.`)];
    }),
  ),
  ...Object.fromEntries(UNKNOWN_STATS.map((member) => [`${member}?`, unused])),
});
