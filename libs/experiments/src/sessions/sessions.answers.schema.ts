import { shape } from '@fairlead/api';
import { uploadedDatasetMembers } from '../datasets/datasets.answers.schema';
import { feedbackStatistics } from '../feedback/feedback.answers.schema';

const { free, integer, list, map, noted, nullable, number, object, oneOf, text, time, unused, uuid } = shape;

const plainMembers = {
  start_time: noted(time, 'Start of the session.'),
  end_time: noted(nullable(time), 'End of the session; null while it goes on.'),
  extra: noted(
    nullable(free),
    'Further facts; `experiment_metadata` of an upload is its member `metadata`. Null when there are none.',
  ),
  name: noted(text, 'Name of the session, unique in the workspace.'),
  description: noted(nullable(text), 'What the session is about; null when it was not given.'),
  default_dataset_id: noted(nullable(uuid), 'Dataset that examples are added to by clients; null when none was given.'),
  reference_dataset_id: noted(nullable(uuid), 'Dataset that the experiment is on; null for a tracing project.'),
  trace_tier: noted(
    oneOf('longlived', 'shortlived'),
    'How long a hosted service would keep the runs; without effect here.',
  ),
  id: noted(uuid, 'Identifier of the session.'),
  tenant_id: noted(uuid, 'Workspace that owns the session.'),
  last_run_start_time_live: noted(nullable(time), 'Start of the newest run; null without a run.'),
};

export const plainSession = object('SessionWithoutStatistics', plainMembers);

const later = <T>(what: shape.Shape<T>, is: string) => noted(nullable(what), `${is}; null until the runs are stored.`);
const sessionMembers = {
  ...plainMembers,
  run_count: later(integer, 'Number of runs'),
  latency_p50: later(number, 'Median latency of the runs, in seconds'),
  latency_p99: later(number, '99th percentile of the latency of the runs, in seconds'),
  first_token_p50: unused,
  first_token_p99: unused,
  total_tokens: noted(nullable(integer), 'Tokens of all runs; null until a run says how many it used.'),
  prompt_tokens: noted(nullable(integer), 'Input tokens of all runs; null until a run says how many it used.'),
  completion_tokens: noted(nullable(integer), 'Output tokens of all runs; null until a run says how many it used.'),
  total_cost: noted(
    nullable(text),
    'Cost of all runs, as a decimal number in the unit of the client; null until a run says it.',
  ),
  prompt_cost: noted(
    nullable(text),
    'Cost of the input tokens, as a decimal number in the unit of the client; null until a run says it.',
  ),
  completion_cost: noted(
    nullable(text),
    'Cost of the output tokens, as a decimal number in the unit of the client; null until a run says it.',
  ),
  last_run_start_time: later(time, 'Start of the newest run'),
  feedback_stats: later(feedbackStatistics, 'Statistics of the feedback on the runs, by key'),
  session_feedback_stats: noted(
    nullable(feedbackStatistics),
    'Statistics of the feedback on the whole experiment, by key; null until the runs are stored.',
  ),
  run_facets: unused,
  error_rate: later(number, 'Share of the runs that failed, from 0 to 1'),
  streaming_rate: unused,
  test_run_number: noted(
    nullable(integer),
    'Which experiment on its dataset it is, from 1; null for a tracing project.',
  ),
};
export const session = object('Session', sessionMembers);

export const experiments = object('ExperimentsPage', {
  resources: noted(
    list(
      object('ListedExperiment', {
        ...sessionMembers,
        dataset_name: noted(text, 'Name of the dataset that the experiment is on.'),
        against_baseline: noted(
          nullable(
            object('AgainstBaseline', {
              experiment_id: noted(uuid, 'The baseline of the dataset.'),
              differences: noted(
                map(number),
                'By feedback key: the mean score of this experiment minus that of the baseline, of keys that both have; of keys that no run has, the scores of the whole experiments.',
              ),
            }),
          ),
          'Difference from the baseline of the dataset; null without one, for the baseline itself, and until the runs are stored.',
        ),
      }),
    ),
    'Experiments of this page.',
  ),
  next_cursor: noted(nullable(text), 'Value for `cursor` to get the next page; null on the last one.'),
  total: noted(integer, 'Number of experiments on all pages together.'),
  facets: noted(
    object('ExperimentFacets', {
      datasets: noted(
        list(
          object('ExperimentFacet', {
            dataset_id: noted(uuid, 'Identifier of the dataset.'),
            dataset_name: noted(text, 'Name that people see of the dataset.'),
            count: noted(integer, 'Number of experiments on it that were found.'),
          }),
        ),
        'Datasets of the experiments that were found, at most 100, those with the most experiments first.',
      ),
    }),
    'How many experiments were found of what.',
  ),
});

export const uploaded = object('UploadedExperiment', {
  dataset: noted(
    object('UploadedDataset', uploadedDatasetMembers),
    'The dataset, with its values from just before the rows of this upload are stored.',
  ),
  experiment: noted(session, 'The experiment; its statistics are null until the runs are stored, a few seconds later.'),
  'filled_rows?': noted(integer, 'Number of rows that were filled; absent when the upload made the experiment.'),
});
