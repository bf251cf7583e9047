import { exampleAnswerMembers } from '@fairlead/datasets';
import { feedback, itemsPage, runAnswerMembers, runV2 } from '@fairlead/runs';
import { anyObject, list, note, object, record, str, union, uuid } from '@fairlead/schema';

/** Members of RunSchemaComparisonView that other views of a run do not have, or have otherwise. */
export const LEFT_OUT: readonly string[] = [
  'child_run_ids',
  'direct_child_run_ids',
  'parent_run_ids',
  'prompt_token_details',
  'completion_token_details',
  'prompt_cost_details',
  'completion_cost_details',
  'price_model_id',
  'first_token_time',
  'messages',
  'last_queued_at',
  'in_dataset',
  'share_token',
  'trace_tier',
  'trace_first_received_at',
  'ttl_seconds',
  'trace_upgrade',
  'reference_dataset_id',
  'thread_id',
];

const comparedRun = object('RunInComparison', {
  ...Object.fromEntries(Object.entries(runAnswerMembers).filter(([name]) => !LEFT_OUT.includes(name))),
  feedbacks: note(list(feedback), 'Feedback on the run.'),
});
/** An example with its runs side by side, from the first one's session to the last one's. */
export const exampleWithRuns = object('ExampleWithRuns', {
  ...exampleAnswerMembers,
  inputs: note(
    union(anyObject(), object('Preview', { preview: note(str(), 'First kilobyte of the text.') })),
    'Input of the example, or a preview of it.',
  ),
  runs: note(list(comparedRun), 'Runs for the example, in the order of the sessions.'),
});

export const experimentRuns = itemsPage(
  'ExperimentRunsPage',
  object('ExampleWithRunsV2', {
    ...exampleAnswerMembers,
    runs: note(list(runV2), 'Runs for the example, in the order of the experiments.'),
  }),
);

export const feedbackDelta = object('FeedbackDeltas', {
  feedback_deltas: note(
    record(
      object('FeedbackDelta', {
        improved_examples: note(
          list(uuid()),
          'Examples with a better score than in the baseline, the largest changes first.',
        ),
        regressed_examples: note(
          list(uuid()),
          'Examples with a worse score than in the baseline, the largest changes first.',
        ),
      }),
    ),
    'Changes by session.',
  ),
});
