import { type Infer, int, list, literal, note, nullable, num, object, str, uuid } from '@fairlead/schema';
import { direction, interval } from '../compare/compare.answers.schema';
import { MEASURES } from '../compare/score-table';

const slice = object('ComparisonSlice', {
  by: note(str(), 'Member that the rows share a value of: `split`, `metadata.<member>` or `inputs.<member>`.'),
  value: note(str(), 'The value, as text.'),
  slice: note(str(), 'The same as the parameter `slice` of the other routes takes it.'),
  experiment: note(uuid(), 'Experiment that is compared with the baseline.'),
  measure: note(
    literal(['score', 'errors', ...MEASURES]),
    '`errors`: the share of failed runs of a row. Latency (in seconds), tokens and cost are those of a run, and only tested when `measures` asks for them.',
  ),
  key: note(nullable(str()), 'Feedback key of a score; null for other measures.'),
  direction: note(direction, 'The side on which the measure is better.'),
  rows: note(int(), 'Number of pairs: rows of the slice that both experiments scored.'),
  baseline_mean: note(
    nullable(num()),
    'Mean of the baseline over these rows; null when their sum is too large for a number.',
  ),
  mean: note(nullable(num()), 'Mean of the experiment over these rows; null when their sum is too large for a number.'),
  difference: note(
    nullable(num()),
    'Mean of the differences: positive when the experiment is higher; null when their sum is too large for a number.',
  ),
  interval: note(
    nullable(interval),
    '95 % confidence interval of the difference, not corrected; null with too few pairs.',
  ),
  p: note(num(), 'Two-sided probability of such a difference by chance: paired permutation test.'),
  adjusted_p: note(num(), '`p` after the correction for all tests of this answer (Holm).'),
  verdict: note(literal(['worse', 'better', 'not clear']), 'Clear when `adjusted_p` is below 0.05.'),
  counts: note(
    object('SliceCounts', {
      better: note(int(), 'Rows that are better than in the baseline.'),
      worse: note(int(), 'Rows that are worse than in the baseline.'),
      same: note(int(), 'Rows that are the same.'),
    }),
    'How the rows compare with the baseline; their sum is `rows`.',
  ),
});
export type ComparisonSlice = Infer<typeof slice>;

export const slices = object('ComparisonSlices', {
  dataset_id: note(uuid(), 'Dataset of the experiments.'),
  baseline: note(uuid(), 'Experiment that the others are compared with.'),
  groups: note(int(), 'Number of slices that were compared, each with at least 6 rows.'),
  groups_left_out: note(int(), 'Number of further slices that were not compared, because there are too many.'),
  tests: note(
    int(),
    'Number of tests that verdicts are corrected for: slices × experiments × measures in which at least 6 rows differ.',
  ),
  total: note(int(), 'Number of results that the parameters select.'),
  slices: note(list(slice), 'Clear losses first, the largest before the others; then clear gains; then the rest.'),
});
