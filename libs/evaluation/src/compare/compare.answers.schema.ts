import {
  anyObject,
  bool,
  type Infer,
  int,
  list,
  literal,
  note,
  nullable,
  num,
  object,
  record,
  str,
  timestamp,
  uuid,
} from '@fairlead/schema';
import { feedbackStatistics } from '@fairlead/runs';
import { judgeType } from '../row/row-runs.schema';
import { MEASURES } from './score-table';

export const direction = literal(['higher is better', 'lower is better']);
export type Direction = Infer<typeof direction>;
const verdict = note(
  literal(['better', 'worse', 'not clear']),
  '`better` or `worse` when the interval excludes 0 and `p` is below 0.05, else `not clear`.',
);
const warning = object('ComparisonWarning', {
  code: note(
    literal([
      ...['rows being stored', 'example versions differ', 'row sets differ', 'score kinds differ'],
      ...['score sources differ', 'key not scored', 'scores outside configuration', 'keys left out'],
      ...['several scores on a run', 'labels without a value', 'values not compared', 'warnings left out'],
    ]),
    'What makes the comparison less sound.',
  ),
  message: note(str(), 'The same in one sentence.'),
  'experiment?': note(uuid(), 'Experiment that it is about.'),
  'key?': note(str(), 'Feedback key that it is about.'),
  'rows?': note(int(), 'Number of rows that it is about.'),
});
export type Warning = Infer<typeof warning>;

const counts = object('ComparisonCounts', {
  rows: note(int(), 'Rows that either of the two has: the sum of all others.'),
  better: note(int(), 'Rows with a better score than in the baseline.'),
  worse: note(int(), 'Rows with a worse score than in the baseline.'),
  same: note(int(), 'Rows with the same score as in the baseline.'),
  missing: note(int(), 'Only the baseline has the row.'),
  extra: note(int(), 'Only the experiment has the row.'),
  errored: note(int(), 'One of them failed and has no score.'),
  unscored: note(int(), 'One of them has no score.'),
});
export const interval = object('Interval', {
  low: note(num(), 'Lower end of the interval.'),
  high: note(num(), 'Upper end of the interval.'),
});
const test = object('ComparisonTest', {
  interval_method: note(
    literal(['bonett-price', 'paired bootstrap, percentile', 'paired bootstrap, normal']),
    'How the interval was computed.',
  ),
  interval: note(nullable(interval), '95 % confidence interval of the difference; null with too few pairs.'),
  method: note(literal(['exact sign test', 'paired bootstrap']), 'How `p` was computed.'),
  p: note(nullable(num()), 'Two-sided probability of such a difference by chance; null with too few pairs.'),
  n: note(int(), 'Number of pairs: rows that both experiments scored.'),
  resamples: note(nullable(int()), 'Number of resamples of the bootstrap; null when none were drawn.'),
});
export type Test = Infer<typeof test>;
const result = object('KeyResult', {
  experiment: note(uuid(), 'Experiment that the result is about.'),
  mean: note(nullable(num()), 'Mean over the rows with a score; null without a score.'),
  scored: note(int(), 'Number of rows with a score.'),
  runs: note(int(), 'Number of runs with a score, of the `run_count` of the experiment.'),
  'scores?': note(
    int(),
    'Number of scores; absent when each scored run has one. A run with several counts with their mean.',
  ),
  'spread?': note(
    num(),
    'Mean standard deviation of the runs of a row, over the rows that were run and scored several times; absent without any.',
  ),
  'difference?': note(
    nullable(num()),
    'Mean of the paired differences to the baseline: positive when the experiment is higher; null without a pair, absent for the baseline.',
  ),
  'test?': note(test, 'Statistical test of the difference; absent for the baseline.'),
  'verdict?': verdict,
  'counts?': note(counts, 'How the rows compare with the baseline; absent for it.'),
});
export type KeyResult = Infer<typeof result>;
const labelVerdict = literal(['changed', 'not clear']);
const labelShare = object('LabelShare', {
  difference: note(num(), 'Share of the label minus that in the baseline, over the rows that both have labelled.'),
  more: note(int(), 'Rows that have more of the label than in the baseline.'),
  fewer: note(int(), 'Rows that have less of the label than in the baseline.'),
  p: note(num(), 'Probability of such a change by chance: exact sign test of `more` and `fewer`, two-sided.'),
});
export type LabelShare = Infer<typeof labelShare>;
const labelTransition = object('LabelTransition', {
  from: note(nullable(str()), 'Label in the baseline; null for one that is not among `values`.'),
  to: note(nullable(str()), 'Label in the experiment; null for one that is not among `values`.'),
  rows: note(
    num(),
    'Number of rows; every run of a row in the baseline is held against every run of it in the experiment.',
  ),
});
const labelCounts = object('LabelCounts', {
  rows: note(int(), 'Rows that either of the two has: the sum of all others.'),
  same: note(int(), 'Rows whose labels have the same shares as in the baseline.'),
  changed: note(int(), 'Rows with other labels than in the baseline, or with other shares of them.'),
  missing: note(int(), 'Only the baseline has the row.'),
  extra: note(int(), 'Only the experiment has the row.'),
  errored: note(int(), 'One of them failed and has no label.'),
  unscored: note(int(), 'One of them has no label.'),
});
const categoryResult = object('CategoryResult', {
  experiment: note(uuid(), 'Experiment that the result is about.'),
  scored: note(int(), 'Number of rows with a label.'),
  runs: note(int(), 'Number of runs with a label, of the `run_count` of the experiment.'),
  counts: note(
    list(num()),
    'Number of rows with each label, in the order of `values`. A row that was run three times, twice with one label and once with another, counts ⅔ and ⅓.',
  ),
  other: note(num(), 'Number of rows with any other label.'),
  'row_counts?': note(labelCounts, 'What became of the rows; absent for the baseline, like all below.'),
  'shares?': note(
    nullable(list(labelShare)),
    'How the share of each of `values` changed; null when no row has a label in both.',
  ),
  'p?': note(
    nullable(num()),
    'The smallest `p` of all labels, corrected for their number (Bonferroni); null when no row has a label in both.',
  ),
  'verdict?': note(labelVerdict, '`changed` when `p` is below 0.05. It does not say which is better.'),
  'changes?': note(
    list(labelTransition),
    'From which label to which other one rows went, the most frequent first, at most 20.',
  ),
});
export type CategoryResult = Infer<typeof categoryResult>;
const percentiles = {
  p50: note(nullable(num()), 'Median latency, in seconds; null without a run that ended.'),
  p99: note(nullable(num()), '99th percentile of the latency, in seconds; null without a run that ended.'),
};
const latency = object('LatencyResult', {
  ...percentiles,
  'p50_difference?': note(nullable(num()), 'Seconds more than the baseline; null where one of the two is not known.'),
  'p99_difference?': note(nullable(num()), 'Seconds more than the baseline; null where one of the two is not known.'),
});
export type LatencyResult = Infer<typeof latency>;
const turn = object('ConversationTurn', {
  role: note(str(), 'Role of the turn, such as `user`.'),
  text: note(str(), 'First kilobyte of its text.'),
});
const cell = object('ComparisonCell', {
  run_id: note(uuid(), 'The newest run of the row.'),
  runs: note(int(), 'Number of runs of the row.'),
  status: note(str(), 'Status of the run: `success`, `error` or `pending`.'),
  latency_seconds: note(nullable(num()), 'Latency of the run, in seconds; null until it ends.'),
  error_preview: note(nullable(str()), 'First kilobyte of the error; null without an error.'),
  total_tokens: note(nullable(int()), 'Tokens of the run; null when it says none.'),
  total_cost: note(
    nullable(str()),
    'Cost of the run, as a decimal number in the unit of the client; null when it says none.',
  ),
  outputs_preview: note(nullable(str()), 'First kilobyte of the outputs; null without outputs.'),
  scores: note(list(nullable(num())), 'Scores in the order of `keys`; null where the row has none.'),
  labels: note(
    record(record(num())),
    'Labels of the row by key of `categories`, each with its share of the runs of the row: 1 where all of them have it.',
  ),
  'comments?': note(
    record(str()),
    'Beginnings of the newest comments on the run, by the keys of the parameter `comments`; absent without it.',
  ),
  'judges?': note(
    record(
      object('CellJudge', {
        type: judgeType,
        run_id: note(nullable(uuid()), 'The run in which it was given; null when its client named none.'),
        session_id: note(nullable(uuid()), 'Session of that run; null when the workspace has no such run.'),
      }),
    ),
    'Who gave the newest feedback on the run, by the keys of the parameter `comments`; absent without it.',
  ),
  'outputs_turn?': note(turn, 'The last turn of outputs that are a conversation; absent for others.'),
});
const row = object('ComparisonRow', {
  example_id: note(uuid(), 'Example that the row is about.'),
  name: note(nullable(str()), 'Name of the example; null when it has none.'),
  inputs_preview: note(nullable(str()), 'First kilobyte of the inputs; null when the example is gone.'),
  reference_outputs_preview: note(nullable(str()), 'First kilobyte of the expected outputs; null when there are none.'),
  'inputs_turn?': note(turn, 'The last turn of a user in inputs that are a conversation; absent for others.'),
  'reference_outputs_turn?': note(
    turn,
    'The last turn of expected outputs that are a conversation; absent for others.',
  ),
  regression: note(
    nullable(num()),
    'How much worse it got at most, as a share of the range of scores of the key; null when it got nowhere worse.',
  ),
  cells: note(list(nullable(cell)), 'Runs in the order of `experiments`; null where an experiment lacks the row.'),
});

const comparedMembers = {
  dataset_id: note(uuid(), 'Dataset of the experiments.'),
  baseline: note(uuid(), 'Experiment that the others are measured against.'),
  rows: note(int(), 'Number of rows that any of the experiments has.'),
};
const keyComparison = object('KeyComparison', {
  key: note(str(), 'Feedback key.'),
  kind: note(literal(['pass/fail', 'numeric']), '`pass/fail` when all scores are 0 or 1.'),
  direction: note(direction, 'Which scores are better.'),
  'label_values?': note(record(num()), 'The number that stands for each label; absent when labels have none.'),
  results: note(list(result), 'One result for each experiment, in the order of `experiments`.'),
});
export type KeyComparison = Infer<typeof keyComparison>;
export const measure = literal(MEASURES);
const measureComparison = object('MeasureComparison', {
  measure: note(measure, '`latency` in seconds, `tokens` in all, or `cost` in the unit of the client, of a run.'),
  direction: note(literal(['lower is better']), 'Which values are better.'),
  results: note(
    list(result),
    'One result for each experiment, in the order of `experiments`. What is said of scores holds for the values.',
  ),
});
export type MeasureComparison = Infer<typeof measureComparison>;
const categoryComparison = object('CategoryComparison', {
  key: note(str(), 'Feedback key.'),
  kind: note(literal(['category']), 'Values that are no scores.'),
  values: note(
    list(str()),
    'The most frequent labels, at most 20, cut to 100 characters. Those that have values come first, the highest value first.',
  ),
  'label_values?': note(
    list(nullable(num())),
    'The number that stands for each of `values`, null for one without; absent when labels of the key have none.',
  ),
  results: note(list(categoryResult), 'One result for each experiment, in the order of `experiments`.'),
});
export type CategoryComparison = Infer<typeof categoryComparison>;
const experimentScoreResult = object('ExperimentScoreResult', {
  experiment: note(uuid(), 'Experiment that the result is about.'),
  value: note(nullable(num()), 'The score, the mean of several of the key; null without one.'),
  scored: note(int(), 'Number of scores that `value` is the mean of.'),
  values: note(record(int()), 'How often it has each value that is no score.'),
  'structured?': note(
    bool(),
    'True when it has a value that is an object, a list or a long text, which is not compared; else absent.',
  ),
  'difference?': note(
    nullable(num()),
    '`value` minus that of the baseline; null where one of the two has none, absent for the baseline. One number each is not tested.',
  ),
});
const experimentScore = object('ExperimentScore', {
  key: note(str(), 'Feedback key.'),
  direction: note(direction, 'Which scores are better.'),
  results: note(list(experimentScoreResult), 'One result for each experiment, in the order of `experiments`.'),
});
export type ExperimentScores = Infer<typeof experimentScore>;
const comparisonPage = object('ComparisonPage', {
  offset: note(int(), 'Number of rows before this page.'),
  next_offset: note(nullable(int()), 'Value for `offset` to get the next page; null on the last one.'),
  total: note(int(), 'Number of rows that pass the filters.'),
  filters: note(list(str()), 'The parameters `rows` of the request.'),
  q: note(nullable(str()), 'The parameter `q` of the request; null without it.'),
  slice: note(nullable(str()), 'The parameter `slice` of the request; null without it.'),
  sort: note(str(), 'How the rows are sorted: the parameter `sort` of the request, or its default.'),
  place: note(
    nullable(int()),
    'Place of the row of `around` among all that pass the filters; null when it is not among them.',
  ),
  rows_before: note(
    nullable(int()),
    'Number of rows that pass the filters and stand before the row of `around`, which need not pass them; null without such a row.',
  ),
  rows: note(list(row), 'Rows of this page, the worst regressions first, unless `sort` says otherwise.'),
});
const comparedExperiment = object('ComparedExperiment', {
  id: note(uuid(), 'Identifier of the experiment.'),
  name: note(str(), 'Name of the experiment.'),
  run_count: note(int(), 'Number of its runs.'),
  error_count: note(int(), 'Number of its runs that failed.'),
  error_rate: note(nullable(num()), 'Share of its runs that failed, from 0 to 1; null without a run.'),
  latency: note(latency, 'Latency of its runs.'),
});
export const comparison = object('Comparison', {
  ...comparedMembers,
  experiments: note(list(comparedExperiment), 'The experiments, the baseline among them.'),
  keys: note(list(keyComparison), 'The comparison by feedback key.'),
  measures: note(
    list(measureComparison),
    'The comparison of latency, tokens and cost, each where a run of any experiment has it.',
  ),
  categories: note(
    list(categoryComparison),
    'Feedback keys with values that are no scores, such as `"friendly"`; at most 20.',
  ),
  experiment_scores: note(
    list(experimentScore),
    'Scores of the experiments as a whole (`summary_experiment_scores`), not of rows.',
  ),
  warnings: note(list(warning), 'What makes the comparison less sound.'),
  page: note(comparisonPage, 'A page of rows.'),
});

const summarizedExperimentScore = object('SummarizedExperimentScore', {
  key: note(nullable(str()), 'Feedback key; null where it did not fit.'),
  values: note(list(nullable(num())), 'The score of each experiment as a whole; null without one.'),
});
const summarizedLabels = object('SummarizedLabels', {
  experiment: note(int(), 'Place of the experiment in `experiments`, from 0.'),
  same: note(int(), 'Rows whose labels have the same shares as in the baseline.'),
  changed: note(int(), 'Rows with other labels than in the baseline, or with other shares of them.'),
  p: note(
    nullable(num()),
    'The smallest `p` of all labels, corrected for their number; null when no row has a label in both.',
  ),
  verdict: note(labelVerdict, '`changed` when `p` is below 0.05.'),
});
const summarizedCategory = object('SummarizedCategory', {
  key: note(nullable(str()), 'Feedback key; null where it did not fit.'),
  results: note(list(summarizedLabels), 'Results of the experiments, without the baseline.'),
});
const summarizedResult = object('SummarizedResult', {
  experiment: note(int(), 'Place of the experiment in `experiments`, from 0.'),
  mean: note(nullable(num()), 'Mean over the rows with a score; null without a score.'),
  'difference?': note(nullable(num()), 'Mean of the paired differences to the baseline; null without a pair.'),
  'low?': note(nullable(num()), 'Lower end of the 95 % interval of the difference; null with too few pairs.'),
  'high?': note(nullable(num()), 'Upper end of the 95 % interval of the difference; null with too few pairs.'),
  'p?': note(nullable(num()), 'Two-sided probability of such a difference by chance; null with too few pairs.'),
  'n?': note(int(), 'Number of pairs: rows that both experiments scored.'),
  'verdict?': verdict,
  'better?': note(int(), 'Rows with a better score than in the baseline.'),
  'worse?': note(int(), 'Rows with a worse score than in the baseline.'),
});
const summarizedKey = object('SummarizedKey', {
  key: note(nullable(str()), 'Feedback key; null where it did not fit.'),
  direction: note(direction, 'Which scores are better.'),
  results: note(list(summarizedResult), 'Results of the experiments.'),
});
const summarizedMeasure = object('SummarizedMeasure', {
  measure: note(measure, 'What is measured.'),
  results: note(list(summarizedResult), 'Results of the experiments.'),
});
const summarizedExperiment = object('SummarizedExperiment', {
  id: note(uuid(), 'Identifier of the experiment.'),
  name: note(nullable(str()), 'Name of the experiment; null where it did not fit.'),
  errors: note(int(), 'Number of its runs that failed.'),
  runs: note(int(), 'Number of its runs.'),
  ...percentiles,
});
export const comparisonSummary = object('ComparisonSummary', {
  ...comparedMembers,
  experiments: note(list(summarizedExperiment), 'The experiments, the baseline among them.'),
  keys: note(list(summarizedKey), 'The comparison by feedback key, rounded.'),
  categories: note(list(summarizedCategory), 'Feedback keys with labels, rounded.'),
  experiment_scores: note(list(summarizedExperimentScore), 'Scores of the experiments as a whole, rounded.'),
  measures: note(list(summarizedMeasure), 'Latency, tokens and cost, rounded.'),
  warnings: note(list(str()), 'What makes the comparison less sound, a sentence each.'),
  omitted: note(int(), 'Number of keys and measures that did not fit into the answer.'),
});

const distribution = object('Distribution', {
  experiment: note(uuid(), 'Experiment that the result is about.'),
  counts: note(list(int()), 'Number of rows in each bin; for a category with each value, then with any other.'),
  grid: note(
    nullable(list(list(int()))),
    'Number of rows by their bin in the baseline (outer list) and in the experiment. For a category by their value, after the values one place for any other value and one for none, of the rows that both have. Null for the baseline.',
  ),
  latency: note(
    list(nullable(num())),
    'Latency of the runs at each of `fractions`, in seconds; null without a run that ended.',
  ),
});
export const distributions = object('Distributions', {
  dataset_id: comparedMembers.dataset_id,
  baseline: comparedMembers.baseline,
  key: note(str(), 'Feedback key.'),
  kind: note(
    literal(['pass/fail', 'numeric', 'category']),
    '`pass/fail` when all scores are 0 or 1, `category` when the feedback has values that are no scores.',
  ),
  edges: note(
    nullable(list(num())),
    'Edges of the bins, one more than there are bins; a score on an edge is in the bin above it. Null for a category.',
  ),
  grid_edges: note(nullable(list(num())), 'Edges of the bins of `grid`; null for a category.'),
  values: note(
    nullable(list(str())),
    'The most frequent values, at most 20, cut to 100 characters; null for a key with scores.',
  ),
  fractions: note(list(num()), 'Fractions of the runs, from 0 to 1, that `latency` is about.'),
  results: note(list(distribution), 'One result for each experiment, the baseline first.'),
});

export const verdictOfGate = object('GateResult', {
  outcome: note(
    literal(['pass', 'fail', 'undecided']),
    '`fail`: what was compared breaks a limit. `undecided`: it breaks none, but not everything could be compared.',
  ),
  pass: note(bool(), 'Whether `outcome` is `pass`.'),
  reasons: note(
    list(str()),
    'Why it does not pass, a sentence each: limits that are broken, then what could not be compared; at most 500, the last one then says how many are left out.',
  ),
  warnings: note(list(warning), 'What makes the comparison less sound.'),
});

const comparativeMembers = {
  id: note(uuid(), 'Identifier of the comparison.'),
  name: note(nullable(str()), 'Name of the comparison; null when it was not given.'),
  description: note(nullable(str()), 'What the comparison is about; null when it was not given.'),
  tenant_id: note(uuid(), 'Workspace that owns the comparison.'),
  created_at: note(timestamp(), 'When it was created.'),
  modified_at: note(timestamp(), 'When it last changed.'),
  reference_dataset_id: note(uuid(), 'Dataset of the experiments.'),
  extra: note(nullable(anyObject()), 'Further facts; null when there are none.'),
};
export const comparativeExperiment = object('ComparativeExperiment', comparativeMembers);
const experimentName = object('ExperimentName', {
  id: note(uuid(), 'Identifier of the experiment.'),
  name: note(str(), 'Name of the experiment.'),
});
export const listedComparativeExperiment = object('ListedComparativeExperiment', {
  ...comparativeMembers,
  experiments_info: note(list(experimentName), 'Experiments that it compares.'),
  feedback_stats: note(
    nullable(feedbackStatistics),
    'Statistics of the feedback that belongs to it, by key; null without feedback.',
  ),
});
