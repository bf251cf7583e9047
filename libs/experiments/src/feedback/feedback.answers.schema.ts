import { shape } from '@fairlead/api';

const { any, boolean, either, free, integer, map, noted, nothing, nullable, number, object, oneOf, text, time, uuid } =
  shape;

/** By key: how its scores are spread, and how often each value was given. */
export const feedbackStatistics = map(
  object('FeedbackStatistics', {
    n: integer,
    avg: nullable(number),
    stdev: nullable(number),
    min: nullable(number),
    max: nullable(number),
    values: map(integer),
  }),
);

export const feedback = object('Feedback', {
  created_at: time,
  modified_at: time,
  key: text,
  score: noted(either(number, boolean, nothing), 'As sent; true and false count as 1 and 0 in statistics and filters.'),
  value: noted(any, 'As sent.'),
  comment: nullable(text),
  correction: either(free, text, nothing),
  feedback_group_id: nothing,
  comparative_experiment_id: nullable(uuid),
  run_id: noted(nullable(uuid), 'Null for feedback on a whole session.'),
  session_id: uuid,
  id: uuid,
  trace_id: nullable(uuid),
  start_time: noted(nullable(time), 'Of the run.'),
  is_root: boolean,
  feedback_source: object('StoredFeedbackSource', {
    type: oneOf('app', 'api', 'model', 'auto_eval'),
    metadata: nullable(free),
    user_id: nothing,
    ls_user_id: nothing,
    user_name: nothing,
  }),
  extra: nullable(free),
  feedback_thread_id: nothing,
});
