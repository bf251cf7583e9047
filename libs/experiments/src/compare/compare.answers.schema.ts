import { shape } from '@fairlead/api';
import { feedbackStatistics } from '../feedback/feedback.answers.schema';

const { boolean, free, integer, list, noted, nullable, number, object, oneOf, text, time, uuid } = shape;

const direction = oneOf('higher is better', 'lower is better');
const verdict = noted(
  oneOf('better', 'worse', 'not clear'),
  '`better` or `worse` when the interval excludes 0 and p is below 0.05.',
);
const warning = object('ComparisonWarning', {
  code: oneOf(
    ...['rows being stored', 'example versions differ', 'row sets differ', 'score kinds differ'],
    ...['score sources differ', 'key not scored', 'scores outside configuration', 'keys left out'],
  ),
  message: text,
  'experiment?': uuid,
  'key?': text,
  'rows?': integer,
});

const counts = object('ComparisonCounts', {
  rows: noted(integer, 'Rows that either of the two has: the sum of all others.'),
  better: integer,
  worse: integer,
  same: integer,
  missing: noted(integer, 'Only the baseline has the row.'),
  extra: noted(integer, 'Only the experiment has the row.'),
  errored: noted(integer, 'One of them failed and has no score.'),
  unscored: noted(integer, 'One of them has no score.'),
});
const test = object('ComparisonTest', {
  interval_method: oneOf('bonett-price', 'paired bootstrap, percentile', 'paired bootstrap, normal'),
  interval: nullable(object('Interval', { low: number, high: number })),
  method: oneOf('exact sign test', 'paired bootstrap'),
  p: nullable(number),
  n: integer,
  resamples: nullable(integer),
});
const result = object('KeyResult', {
  experiment: uuid,
  mean: nullable(number),
  scored: integer,
  'difference?': noted(nullable(number), 'Mean of the paired differences; the baseline has none, like all below.'),
  'test?': test,
  'verdict?': verdict,
  'counts?': counts,
});
const latency = object('LatencyResult', {
  p50: nullable(number),
  p99: nullable(number),
  'p50_difference?': noted(nullable(number), 'Seconds more than the baseline.'),
  'p99_difference?': nullable(number),
});
const cell = object('ComparisonCell', {
  run_id: uuid,
  runs: integer,
  status: text,
  latency_seconds: nullable(number),
  error_preview: nullable(text),
  outputs_preview: nullable(text),
  scores: noted(list(nullable(number)), 'In the order of `keys`.'),
});
const row = object('ComparisonRow', {
  example_id: uuid,
  name: nullable(text),
  inputs_preview: nullable(text),
  reference_outputs_preview: nullable(text),
  regression: noted(nullable(number), 'How much worse it got at most, as a share of the range of the key.'),
  cells: noted(list(nullable(cell)), 'In the order of `experiments`.'),
});

export const comparison = object('Comparison', {
  dataset_id: uuid,
  baseline: uuid,
  rows: integer,
  experiments: list(
    object('ComparedExperiment', {
      id: uuid,
      name: text,
      run_count: integer,
      error_count: integer,
      error_rate: nullable(number),
      latency,
    }),
  ),
  keys: list(
    object('KeyComparison', { key: text, kind: oneOf('pass/fail', 'numeric'), direction, results: list(result) }),
  ),
  warnings: list(warning),
  page: object('ComparisonPage', {
    offset: integer,
    next_offset: nullable(integer),
    rows: noted(list(row), 'The worst regressions first.'),
  }),
});

export const comparisonSummary = object('ComparisonSummary', {
  dataset_id: uuid,
  baseline: uuid,
  rows: integer,
  experiments: list(
    object('SummarizedExperiment', {
      id: uuid,
      name: nullable(text),
      errors: integer,
      runs: integer,
      p50: nullable(number),
      p99: nullable(number),
    }),
  ),
  keys: list(
    object('SummarizedKey', {
      key: nullable(text),
      direction,
      results: list(
        object('SummarizedResult', {
          experiment: noted(integer, 'Its place in `experiments`.'),
          mean: nullable(number),
          'difference?': nullable(number),
          'low?': nullable(number),
          'high?': nullable(number),
          'p?': nullable(number),
          'n?': integer,
          'verdict?': verdict,
          'better?': integer,
          'worse?': integer,
        }),
      ),
    }),
  ),
  warnings: list(text),
  omitted: noted(integer, 'Keys that did not fit.'),
});

export const verdictOfGate = object('GateResult', {
  pass: boolean,
  reasons: noted(list(text), 'Why it does not pass, a sentence each.'),
  warnings: list(warning),
});

const comparativeMembers = {
  id: uuid,
  name: nullable(text),
  description: nullable(text),
  tenant_id: uuid,
  created_at: time,
  modified_at: time,
  reference_dataset_id: uuid,
  extra: nullable(free),
};
export const comparativeExperiment = object('ComparativeExperiment', comparativeMembers);
export const listedComparativeExperiment = object('ListedComparativeExperiment', {
  ...comparativeMembers,
  experiments_info: list(object('ExperimentName', { id: uuid, name: text })),
  feedback_stats: nullable(feedbackStatistics),
});
