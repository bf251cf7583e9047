import {
  bool,
  type Infer,
  int,
  list,
  note,
  nullable,
  num,
  object,
  record,
  str,
  timestamp,
  uuid,
} from '@fairlead/schema';
import { followed, uncertainty } from '../trend/trend.answers.schema';

const score = object('RevisionScore', {
  mean: note(num(), 'Mean of the scores.'),
  n: note(int(), 'Number of scores.'),
});

const statistics = {
  runs: note(int(), 'Number of runs.'),
  error_rate: note(nullable(num()), 'Share of them that failed; null without a run.'),
  latency_p50: note(
    nullable(num()),
    'Median of their latency in seconds; of several experiments the mean of their medians, each weighted by its runs. Null when it is not known.',
  ),
  total_tokens: note(nullable(int()), 'Tokens that they say they used, together; null when none says it.'),
  total_cost: note(nullable(num()), 'Cost that they say, together; null when none says it.'),
  scores: note(record(score), 'Scores by feedback key, at most 50: those with the most scores.'),
  scores_left_out: note(int(), 'Number of further feedback keys.'),
};

const experiment = object('RevisionExperiment', {
  id: note(uuid(), 'Identifier of the experiment.'),
  name: note(str(), 'Name of the experiment.'),
  dataset_id: note(uuid(), 'Dataset that it ran on.'),
  start_time: note(timestamp(), 'When it began.'),
  persisted: note(bool(), 'False while its rows are being stored; until then it counts nowhere.'),
  ...statistics,
});
export type RevisionExperiment = Infer<typeof experiment>;

const revisionScores = object('RevisionScores', {
  revision_id: note(uuid(), 'Identifier of the revision, as it was asked for.'),
  evaluated: note(
    object('EvaluatedRevision', {
      experiments: note(int(), 'Number of experiments that are counted: the newest 20 at most.'),
      more: note(bool(), 'True when there are further experiments, which are not counted.'),
      ...statistics,
    }),
    'Experiments whose metadata name the revision as `revision_id`, together.',
  ),
  newest: note(list(experiment), 'The newest of these experiments.'),
  live: note(
    object('LiveRevision', {
      more: note(bool(), 'True when there are earlier runs, which are not counted.'),
      first_start: note(nullable(timestamp()), 'Start of the earliest run that is counted; null without a run.'),
      last_start: note(nullable(timestamp()), 'Start of the newest run; null without a run.'),
      project_id: note(nullable(uuid()), 'Tracing project of the newest run; null without a run.'),
      ...statistics,
    }),
    'Its live root runs, whose metadata name it as `revision_id`: the newest 1,000 at most.',
  ),
});
export type RevisionScores = Infer<typeof revisionScores>;
export type RevisionStatistics = Omit<RevisionScores['evaluated'], 'experiments' | 'more'>;

export const scoresOfRevisions = object('ScoresOfRevisions', {
  resources: note(list(revisionScores), 'The revisions in the order in which they were asked for.'),
});

const point = object('RevisionTrendPoint', {
  revision_id: note(uuid(), 'Identifier of the revision.'),
  experiments: note(list(uuid()), 'Its experiments on the dataset, the newest first: runs of one row are repetitions.'),
  storing: note(int(), 'Number of its experiments whose rows are still being stored, which do not count yet.'),
  more: note(bool(), 'True when there are earlier experiments, which do not count.'),
  run_count: note(int(), 'Number of the runs of these experiments.'),
  mean: note(
    nullable(num()),
    'Mean over the rows that have the score or measure; without such a row the mean of the scores of whole experiments, null without one.',
  ),
  ...uncertainty,
});
export type RevisionTrendPoint = Infer<typeof point>;

export const revisionTrend = object('RevisionTrend', {
  ...followed,
  resources: note(
    list(point),
    'The revisions that have an experiment on the dataset, in the order in which they were asked for.',
  ),
  unread: note(
    list(uuid()),
    'Revisions that were not read, because their experiments have too many runs together; another request reads them.',
  ),
});
