import { type Infer, int, list, literal, note, nullable, num, object, str, timestamp, uuid } from '@fairlead/schema';
import { direction, interval } from '../compare/compare.answers.schema';
import { MEASURES } from '../compare/score-table';

export const trendMeasure = literal([...MEASURES, 'errors']);
export type TrendMeasure = Infer<typeof trendMeasure>;

/** Members of a point of a trend that say how sure its mean is. */
export const uncertainty = {
  scored: note(int(), 'Number of these rows; 0 for scores of whole experiments.'),
  runs: note(int(), 'Number of the runs of these rows that have it.'),
  interval: note(
    nullable(interval),
    '95 % confidence interval of the mean, for rows of this kind: Student, or Wilson where all rows are 0 or 1. Null for one row alone.',
  ),
  rerun: note(
    nullable(interval),
    'Where the mean lies in 95 % of the cases when the same rows are run again, as far as the runs of a row tell it. Null where no row was run several times.',
  ),
  spread: note(
    nullable(num()),
    'Mean standard deviation of the runs of a row; null where no row was run several times.',
  ),
};

const point = object('TrendPoint', {
  experiment_id: note(uuid(), 'Identifier of the experiment.'),
  name: note(str(), 'Name of the experiment.'),
  test_run_number: note(
    nullable(int()),
    'Its number among the experiments on the dataset; null for one that has none.',
  ),
  start_time: note(timestamp(), 'When it began.'),
  revision_id: note(nullable(str()), '`revision_id` of its metadata; null without one.'),
  run_count: note(nullable(int()), 'Number of its runs; null while they are being stored.'),
  mean: note(
    nullable(num()),
    'Mean over the rows that have the score or measure; without such a row the score of the whole experiment, null without one.',
  ),
  ...uncertainty,
});
export type TrendPoint = Infer<typeof point>;

/** Members of a trend that name the score or measure. */
export const followed = {
  dataset_id: note(uuid(), 'Dataset of the experiments.'),
  key: note(nullable(str()), 'Feedback key of the score; null for a measure.'),
  measure: note(nullable(trendMeasure), 'What is measured; null for a score.'),
  direction: note(direction, 'Which values are better.'),
};

export const trend = object('Trend', {
  ...followed,
  resources: note(list(point), 'The experiments, the newest first.'),
  next_cursor: note(nullable(str()), 'Value for `cursor` to get earlier experiments; null when there are none.'),
});
