import { shape } from '@fairlead/api';
import { feedbackStatistics } from '../feedback/feedback.answers.schema';

const { boolean, free, integer, list, map, noted, nullable, number, object, oneOf, text, time, uuid } = shape;

const direction = oneOf('higher is better', 'lower is better');
const verdict = noted(
  oneOf('better', 'worse', 'not clear'),
  '`better` or `worse` when the interval excludes 0 and `p` is below 0.05, else `not clear`.',
);
const warning = object('ComparisonWarning', {
  code: noted(
    oneOf(
      ...['rows being stored', 'example versions differ', 'row sets differ', 'score kinds differ'],
      ...['score sources differ', 'key not scored', 'scores outside configuration', 'keys left out'],
      ...['several scores on a run', 'labels without a value', 'values not compared', 'warnings left out'],
    ),
    'What makes the comparison less sound.',
  ),
  message: noted(text, 'The same in one sentence.'),
  'experiment?': noted(uuid, 'Experiment that it is about.'),
  'key?': noted(text, 'Feedback key that it is about.'),
  'rows?': noted(integer, 'Number of rows that it is about.'),
});

const counts = object('ComparisonCounts', {
  rows: noted(integer, 'Rows that either of the two has: the sum of all others.'),
  better: noted(integer, 'Rows with a better score than in the baseline.'),
  worse: noted(integer, 'Rows with a worse score than in the baseline.'),
  same: noted(integer, 'Rows with the same score as in the baseline.'),
  missing: noted(integer, 'Only the baseline has the row.'),
  extra: noted(integer, 'Only the experiment has the row.'),
  errored: noted(integer, 'One of them failed and has no score.'),
  unscored: noted(integer, 'One of them has no score.'),
});
const test = object('ComparisonTest', {
  interval_method: noted(
    oneOf('bonett-price', 'paired bootstrap, percentile', 'paired bootstrap, normal'),
    'How the interval was computed.',
  ),
  interval: noted(
    nullable(
      object('Interval', {
        low: noted(number, 'Lower end of the interval.'),
        high: noted(number, 'Upper end of the interval.'),
      }),
    ),
    '95 % confidence interval of the difference; null with too few pairs.',
  ),
  method: noted(oneOf('exact sign test', 'paired bootstrap'), 'How `p` was computed.'),
  p: noted(nullable(number), 'Two-sided probability of such a difference by chance; null with too few pairs.'),
  n: noted(integer, 'Number of pairs: rows that both experiments scored.'),
  resamples: noted(nullable(integer), 'Number of resamples of the bootstrap; null when none were drawn.'),
});
const result = object('KeyResult', {
  experiment: noted(uuid, 'Experiment that the result is about.'),
  mean: noted(nullable(number), 'Mean over the rows with a score; null without a score.'),
  scored: noted(integer, 'Number of rows with a score.'),
  runs: noted(integer, 'Number of runs with a score, of the `run_count` of the experiment.'),
  'scores?': noted(
    integer,
    'Number of scores; absent when each scored run has one. A run with several counts with their mean.',
  ),
  'spread?': noted(
    number,
    'Mean standard deviation of the runs of a row, over the rows that were run and scored several times; absent without any.',
  ),
  'difference?': noted(
    nullable(number),
    'Mean of the paired differences to the baseline: positive when the experiment is higher; null without a pair, absent for the baseline.',
  ),
  'test?': noted(test, 'Statistical test of the difference; absent for the baseline.'),
  'verdict?': verdict,
  'counts?': noted(counts, 'How the rows compare with the baseline; absent for it.'),
});
const labelVerdict = oneOf('changed', 'not clear');
const categoryResult = object('CategoryResult', {
  experiment: noted(uuid, 'Experiment that the result is about.'),
  scored: noted(integer, 'Number of rows with a label.'),
  runs: noted(integer, 'Number of runs with a label, of the `run_count` of the experiment.'),
  counts: noted(
    list(number),
    'Number of rows with each label, in the order of `values`. A row that was run three times, twice with one label and once with another, counts ⅔ and ⅓.',
  ),
  other: noted(number, 'Number of rows with any other label.'),
  'row_counts?': noted(
    object('LabelCounts', {
      rows: noted(integer, 'Rows that either of the two has: the sum of all others.'),
      same: noted(integer, 'Rows whose labels have the same shares as in the baseline.'),
      changed: noted(integer, 'Rows with other labels than in the baseline, or with other shares of them.'),
      missing: noted(integer, 'Only the baseline has the row.'),
      extra: noted(integer, 'Only the experiment has the row.'),
      errored: noted(integer, 'One of them failed and has no label.'),
      unscored: noted(integer, 'One of them has no label.'),
    }),
    'What became of the rows; absent for the baseline, like all below.',
  ),
  'shares?': noted(
    nullable(
      list(
        object('LabelShare', {
          difference: noted(
            number,
            'Share of the label minus that in the baseline, over the rows that both have labelled.',
          ),
          more: noted(integer, 'Rows that have more of the label than in the baseline.'),
          fewer: noted(integer, 'Rows that have less of the label than in the baseline.'),
          p: noted(number, 'Probability of such a change by chance: exact sign test of `more` and `fewer`, two-sided.'),
        }),
      ),
    ),
    'How the share of each of `values` changed; null when no row has a label in both.',
  ),
  'p?': noted(
    nullable(number),
    'The smallest `p` of all labels, corrected for their number (Bonferroni); null when no row has a label in both.',
  ),
  'verdict?': noted(labelVerdict, '`changed` when `p` is below 0.05. It does not say which is better.'),
  'changes?': noted(
    list(
      object('LabelTransition', {
        from: noted(nullable(text), 'Label in the baseline; null for one that is not among `values`.'),
        to: noted(nullable(text), 'Label in the experiment; null for one that is not among `values`.'),
        rows: noted(
          number,
          'Number of rows; every run of a row in the baseline is held against every run of it in the experiment.',
        ),
      }),
    ),
    'From which label to which other one rows went, the most frequent first, at most 20.',
  ),
});
const latency = object('LatencyResult', {
  p50: noted(nullable(number), 'Median latency, in seconds; null without a run that ended.'),
  p99: noted(nullable(number), '99th percentile of the latency, in seconds; null without a run that ended.'),
  'p50_difference?': noted(nullable(number), 'Seconds more than the baseline; null where one of the two is not known.'),
  'p99_difference?': noted(nullable(number), 'Seconds more than the baseline; null where one of the two is not known.'),
});
const cell = object('ComparisonCell', {
  run_id: noted(uuid, 'The newest run of the row.'),
  runs: noted(integer, 'Number of runs of the row.'),
  status: noted(text, 'Status of the run: `success`, `error` or `pending`.'),
  latency_seconds: noted(nullable(number), 'Latency of the run, in seconds; null until it ends.'),
  error_preview: noted(nullable(text), 'First kilobyte of the error; null without an error.'),
  outputs_preview: noted(nullable(text), 'First kilobyte of the outputs; null without outputs.'),
  scores: noted(list(nullable(number)), 'Scores in the order of `keys`; null where the row has none.'),
  labels: noted(
    map(map(number)),
    'Labels of the row by key of `categories`, each with its share of the runs of the row: 1 where all of them have it.',
  ),
});
const row = object('ComparisonRow', {
  example_id: noted(uuid, 'Example that the row is about.'),
  name: noted(nullable(text), 'Name of the example; null when it has none.'),
  inputs_preview: noted(nullable(text), 'First kilobyte of the inputs; null when the example is gone.'),
  reference_outputs_preview: noted(nullable(text), 'First kilobyte of the expected outputs; null when there are none.'),
  regression: noted(
    nullable(number),
    'How much worse it got at most, as a share of the range of scores of the key; null when it got nowhere worse.',
  ),
  cells: noted(list(nullable(cell)), 'Runs in the order of `experiments`; null where an experiment lacks the row.'),
});

const comparedMembers = {
  dataset_id: noted(uuid, 'Dataset of the experiments.'),
  baseline: noted(uuid, 'Experiment that the others are measured against.'),
  rows: noted(integer, 'Number of rows that any of the experiments has.'),
};
export const comparison = object('Comparison', {
  ...comparedMembers,
  experiments: noted(
    list(
      object('ComparedExperiment', {
        id: noted(uuid, 'Identifier of the experiment.'),
        name: noted(text, 'Name of the experiment.'),
        run_count: noted(integer, 'Number of its runs.'),
        error_count: noted(integer, 'Number of its runs that failed.'),
        error_rate: noted(nullable(number), 'Share of its runs that failed, from 0 to 1; null without a run.'),
        latency: noted(latency, 'Latency of its runs.'),
      }),
    ),
    'The experiments, the baseline among them.',
  ),
  keys: noted(
    list(
      object('KeyComparison', {
        key: noted(text, 'Feedback key.'),
        kind: noted(oneOf('pass/fail', 'numeric'), '`pass/fail` when all scores are 0 or 1.'),
        direction: noted(direction, 'Which scores are better.'),
        'label_values?': noted(map(number), 'The number that stands for each label; absent when labels have none.'),
        results: noted(list(result), 'One result for each experiment, in the order of `experiments`.'),
      }),
    ),
    'The comparison by feedback key.',
  ),
  categories: noted(
    list(
      object('CategoryComparison', {
        key: noted(text, 'Feedback key.'),
        kind: noted(oneOf('category'), 'Values that are no scores.'),
        values: noted(
          list(text),
          'The most frequent labels, at most 20, cut to 100 characters. Those that have values come first, the highest value first.',
        ),
        'label_values?': noted(
          list(nullable(number)),
          'The number that stands for each of `values`, null for one without; absent when labels of the key have none.',
        ),
        results: noted(list(categoryResult), 'One result for each experiment, in the order of `experiments`.'),
      }),
    ),
    'Feedback keys with values that are no scores, such as `"friendly"`; at most 20.',
  ),
  experiment_scores: noted(
    list(
      object('ExperimentScore', {
        key: noted(text, 'Feedback key.'),
        direction: noted(direction, 'Which scores are better.'),
        results: noted(
          list(
            object('ExperimentScoreResult', {
              experiment: noted(uuid, 'Experiment that the result is about.'),
              value: noted(nullable(number), 'The score, the mean of several of the key; null without one.'),
              scored: noted(integer, 'Number of scores that `value` is the mean of.'),
              values: noted(map(integer), 'How often it has each value that is no score.'),
              'structured?': noted(
                boolean,
                'True when it has a value that is an object, a list or a long text, which is not compared; else absent.',
              ),
              'difference?': noted(
                nullable(number),
                '`value` minus that of the baseline; null where one of the two has none, absent for the baseline. One number each is not tested.',
              ),
            }),
          ),
          'One result for each experiment, in the order of `experiments`.',
        ),
      }),
    ),
    'Scores of the experiments as a whole (`summary_experiment_scores`), not of rows.',
  ),
  warnings: noted(list(warning), 'What makes the comparison less sound.'),
  page: noted(
    object('ComparisonPage', {
      offset: noted(integer, 'Number of rows before this page.'),
      next_offset: noted(nullable(integer), 'Value for `offset` to get the next page; null on the last one.'),
      total: noted(integer, 'Number of rows that pass the filters.'),
      filters: noted(list(text), 'The parameters `rows` of the request.'),
      q: noted(nullable(text), 'The parameter `q` of the request; null without it.'),
      sort: noted(text, 'How the rows are sorted: the parameter `sort` of the request, or its default.'),
      place: noted(
        nullable(integer),
        'Place of the row of `around` among all that pass the filters; null when it is not among them.',
      ),
      rows: noted(list(row), 'Rows of this page, the worst regressions first, unless `sort` says otherwise.'),
    }),
    'A page of rows.',
  ),
});

export const comparisonSummary = object('ComparisonSummary', {
  ...comparedMembers,
  experiments: noted(
    list(
      object('SummarizedExperiment', {
        id: noted(uuid, 'Identifier of the experiment.'),
        name: noted(nullable(text), 'Name of the experiment; null where it did not fit.'),
        errors: noted(integer, 'Number of its runs that failed.'),
        runs: noted(integer, 'Number of its runs.'),
        p50: noted(nullable(number), 'Median latency, in seconds; null without a run that ended.'),
        p99: noted(nullable(number), '99th percentile of the latency, in seconds; null without a run that ended.'),
      }),
    ),
    'The experiments, the baseline among them.',
  ),
  keys: noted(
    list(
      object('SummarizedKey', {
        key: noted(nullable(text), 'Feedback key; null where it did not fit.'),
        direction: noted(direction, 'Which scores are better.'),
        results: noted(
          list(
            object('SummarizedResult', {
              experiment: noted(integer, 'Place of the experiment in `experiments`, from 0.'),
              mean: noted(nullable(number), 'Mean over the rows with a score; null without a score.'),
              'difference?': noted(
                nullable(number),
                'Mean of the paired differences to the baseline; null without a pair.',
              ),
              'low?': noted(
                nullable(number),
                'Lower end of the 95 % interval of the difference; null with too few pairs.',
              ),
              'high?': noted(
                nullable(number),
                'Upper end of the 95 % interval of the difference; null with too few pairs.',
              ),
              'p?': noted(
                nullable(number),
                'Two-sided probability of such a difference by chance; null with too few pairs.',
              ),
              'n?': noted(integer, 'Number of pairs: rows that both experiments scored.'),
              'verdict?': verdict,
              'better?': noted(integer, 'Rows with a better score than in the baseline.'),
              'worse?': noted(integer, 'Rows with a worse score than in the baseline.'),
            }),
          ),
          'Results of the experiments.',
        ),
      }),
    ),
    'The comparison by feedback key, rounded.',
  ),
  categories: noted(
    list(
      object('SummarizedCategory', {
        key: noted(nullable(text), 'Feedback key; null where it did not fit.'),
        results: noted(
          list(
            object('SummarizedLabels', {
              experiment: noted(integer, 'Place of the experiment in `experiments`, from 0.'),
              same: noted(integer, 'Rows whose labels have the same shares as in the baseline.'),
              changed: noted(integer, 'Rows with other labels than in the baseline, or with other shares of them.'),
              p: noted(
                nullable(number),
                'The smallest `p` of all labels, corrected for their number; null when no row has a label in both.',
              ),
              verdict: noted(labelVerdict, '`changed` when `p` is below 0.05.'),
            }),
          ),
          'Results of the experiments, without the baseline.',
        ),
      }),
    ),
    'Feedback keys with labels, rounded.',
  ),
  experiment_scores: noted(
    list(
      object('SummarizedExperimentScore', {
        key: noted(nullable(text), 'Feedback key; null where it did not fit.'),
        values: noted(list(nullable(number)), 'The score of each experiment as a whole; null without one.'),
      }),
    ),
    'Scores of the experiments as a whole, rounded.',
  ),
  warnings: noted(list(text), 'What makes the comparison less sound, a sentence each.'),
  omitted: noted(integer, 'Number of keys that did not fit into the answer.'),
});

export const distributions = object('Distributions', {
  dataset_id: comparedMembers.dataset_id,
  baseline: comparedMembers.baseline,
  key: noted(text, 'Feedback key.'),
  kind: noted(
    oneOf('pass/fail', 'numeric', 'category'),
    '`pass/fail` when all scores are 0 or 1, `category` when the feedback has values that are no scores.',
  ),
  edges: noted(
    nullable(list(number)),
    'Edges of the bins, one more than there are bins; a score on an edge is in the bin above it. Null for a category.',
  ),
  grid_edges: noted(nullable(list(number)), 'Edges of the bins of `grid`; null for a category.'),
  values: noted(
    nullable(list(text)),
    'The most frequent values, at most 20, cut to 100 characters; null for a key with scores.',
  ),
  fractions: noted(list(number), 'Fractions of the runs, from 0 to 1, that `latency` is about.'),
  results: noted(
    list(
      object('Distribution', {
        experiment: noted(uuid, 'Experiment that the result is about.'),
        counts: noted(
          list(integer),
          'Number of rows in each bin; for a category with each value, then with any other.',
        ),
        grid: noted(
          nullable(list(list(integer))),
          'Number of rows by their bin in the baseline (outer list) and in the experiment. For a category by their value, after the values one place for any other value and one for none, of the rows that both have. Null for the baseline.',
        ),
        latency: noted(
          list(nullable(number)),
          'Latency of the runs at each of `fractions`, in seconds; null without a run that ended.',
        ),
      }),
    ),
    'One result for each experiment, the baseline first.',
  ),
});

export const verdictOfGate = object('GateResult', {
  outcome: noted(
    oneOf('pass', 'fail', 'undecided'),
    '`fail`: what was compared breaks a limit. `undecided`: it breaks none, but not everything could be compared.',
  ),
  pass: noted(boolean, 'Whether `outcome` is `pass`.'),
  reasons: noted(
    list(text),
    'Why it does not pass, a sentence each: limits that are broken, then what could not be compared; at most 500, the last one then says how many are left out.',
  ),
  warnings: noted(list(warning), 'What makes the comparison less sound.'),
});

const comparativeMembers = {
  id: noted(uuid, 'Identifier of the comparison.'),
  name: noted(nullable(text), 'Name of the comparison; null when it was not given.'),
  description: noted(nullable(text), 'What the comparison is about; null when it was not given.'),
  tenant_id: noted(uuid, 'Workspace that owns the comparison.'),
  created_at: noted(time, 'When it was created.'),
  modified_at: noted(time, 'When it last changed.'),
  reference_dataset_id: noted(uuid, 'Dataset of the experiments.'),
  extra: noted(nullable(free), 'Further facts; null when there are none.'),
};
export const comparativeExperiment = object('ComparativeExperiment', comparativeMembers);
export const listedComparativeExperiment = object('ListedComparativeExperiment', {
  ...comparativeMembers,
  experiments_info: noted(
    list(
      object('ExperimentName', {
        id: noted(uuid, 'Identifier of the experiment.'),
        name: noted(text, 'Name of the experiment.'),
      }),
    ),
    'Experiments that it compares.',
  ),
  feedback_stats: noted(
    nullable(feedbackStatistics),
    'Statistics of the feedback that belongs to it, by key; null without feedback.',
  ),
});
