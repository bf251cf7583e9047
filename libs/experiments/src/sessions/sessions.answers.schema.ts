import {
  anyObject,
  int,
  list,
  literal,
  note,
  nullable,
  num,
  object,
  record,
  type Schema,
  str,
  timestamp,
  unused,
  uuid,
} from '@fairlead/schema';
import { feedbackStatistics } from '@fairlead/runs';
import { uploadedDatasetMembers } from '@fairlead/datasets';

const plainMembers = {
  start_time: note(timestamp(), 'Start of the session.'),
  end_time: note(nullable(timestamp()), 'End of the session; null while it goes on.'),
  extra: note(
    nullable(anyObject()),
    'Further facts; `experiment_metadata` of an upload is its member `metadata`. Null when there are none.',
  ),
  name: note(str(), 'Name of the session, unique in the workspace.'),
  description: note(nullable(str()), 'What the session is about; null when it was not given.'),
  default_dataset_id: note(
    nullable(uuid()),
    'Dataset that examples are added to by clients; null when none was given.',
  ),
  reference_dataset_id: note(nullable(uuid()), 'Dataset that the experiment is on; null for a tracing project.'),
  trace_tier: note(
    literal(['longlived', 'shortlived']),
    'How long a hosted service would keep the runs; without effect here.',
  ),
  id: note(uuid(), 'Identifier of the session.'),
  tenant_id: note(uuid(), 'Workspace that owns the session.'),
  last_run_start_time_live: note(nullable(timestamp()), 'Start of the newest run; null without a run.'),
};

export const plainSession = object('SessionWithoutStatistics', plainMembers);

const later = <T>(what: Schema<T>, is: string) => note(nullable(what), `${is}; null until the runs are stored.`);
const sessionMembers = {
  ...plainMembers,
  run_count: later(int(), 'Number of runs'),
  latency_p50: later(num(), 'Median latency of the runs, in seconds'),
  latency_p99: later(num(), '99th percentile of the latency of the runs, in seconds'),
  first_token_p50: unused,
  first_token_p99: unused,
  total_tokens: note(nullable(int()), 'Tokens of all runs; null until a run says how many it used.'),
  prompt_tokens: note(nullable(int()), 'Input tokens of all runs; null until a run says how many it used.'),
  completion_tokens: note(nullable(int()), 'Output tokens of all runs; null until a run says how many it used.'),
  total_cost: note(
    nullable(str()),
    'Cost of all runs, as a decimal number in the unit of the client; null until a run says it.',
  ),
  prompt_cost: note(
    nullable(str()),
    'Cost of the input tokens, as a decimal number in the unit of the client; null until a run says it.',
  ),
  completion_cost: note(
    nullable(str()),
    'Cost of the output tokens, as a decimal number in the unit of the client; null until a run says it.',
  ),
  last_run_start_time: later(timestamp(), 'Start of the newest run'),
  feedback_stats: later(feedbackStatistics, 'Statistics of the feedback on the runs, by key'),
  session_feedback_stats: note(
    nullable(feedbackStatistics),
    'Statistics of the feedback on the whole experiment, by key; null until the runs are stored.',
  ),
  run_facets: unused,
  error_rate: later(num(), 'Share of the runs that failed, from 0 to 1'),
  streaming_rate: unused,
  test_run_number: note(nullable(int()), 'Which experiment on its dataset it is, from 1; null for a tracing project.'),
};
export const session = object('Session', sessionMembers);

export const experiments = object('ExperimentsPage', {
  resources: note(
    list(
      object('ListedExperiment', {
        ...sessionMembers,
        dataset_name: note(str(), 'Name of the dataset that the experiment is on.'),
        against_baseline: note(
          nullable(
            object('AgainstBaseline', {
              experiment_id: note(uuid(), 'The baseline of the dataset.'),
              differences: note(
                record(num()),
                'By feedback key: the mean score of this experiment minus that of the baseline, of keys that both have; of keys that no run has, the scores of the whole experiments.',
              ),
              verdicts: note(
                record(literal(['better', 'worse', 'not clear', 'same'])),
                'By feedback key: which one is better, where the means and the spread of the scores alone show it with 95 % confidence. A comparison, which holds row against row, shows smaller differences.',
              ),
              lower_is_better: note(list(str()), 'Those of the keys of which lower scores are better.'),
            }),
          ),
          'Difference from the baseline of the dataset; null without one, for the baseline itself, and until the runs are stored.',
        ),
      }),
    ),
    'Experiments of this page.',
  ),
  next_cursor: note(nullable(str()), 'Value for `cursor` to get the next page; null on the last one.'),
  total: note(int(), 'Number of experiments on all pages together.'),
  facets: note(
    object('ExperimentFacets', {
      datasets: note(
        list(
          object('ExperimentFacet', {
            dataset_id: note(uuid(), 'Identifier of the dataset.'),
            dataset_name: note(str(), 'Name that people see of the dataset.'),
            count: note(int(), 'Number of experiments on it that were found.'),
          }),
        ),
        'Datasets of the experiments that were found, at most 100, those with the most experiments first.',
      ),
    }),
    'How many experiments were found of what.',
  ),
});

export const uploaded = object('UploadedExperiment', {
  dataset: note(
    object('UploadedDataset', uploadedDatasetMembers),
    'The dataset, with its values from just before the rows of this upload are stored.',
  ),
  experiment: note(session, 'The experiment; its statistics are null until the runs are stored, a few seconds later.'),
  'filled_rows?': note(int(), 'Number of rows that were filled; absent when the upload made the experiment.'),
});
