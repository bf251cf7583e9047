import { shape } from '@fairlead/api';

const { any, boolean, either, free, integer, map, noted, nothing } = shape;
const { nullable, number, object, oneOf, text, time, unused, uuid } = shape;

export const feedbackStatistics = map(
  object('FeedbackStatistics', {
    n: noted(integer, 'Number of scores and values.'),
    'scores?': noted(integer, 'Number of scores; absent when it is `n`, and without a score.'),
    'scored?': noted(
      integer,
      'Of an experiment: number of runs with a score; absent when each score is on a run of its own.',
    ),
    avg: noted(nullable(number), 'Mean of the scores; null without a score.'),
    stdev: noted(nullable(number), 'Standard deviation of the scores; null without a score.'),
    min: noted(nullable(number), 'Lowest score; null without a score.'),
    max: noted(nullable(number), 'Highest score; null without a score.'),
    values: noted(map(integer), 'How often each value was given.'),
  }),
);

export const feedback = object('Feedback', {
  created_at: noted(time, 'When the feedback was given.'),
  modified_at: noted(time, 'When the feedback was last changed.'),
  key: noted(text, 'What is scored, such as `correctness`.'),
  score: noted(
    either(number, boolean, nothing),
    'Score as it was sent; true and false count as 1 and 0 in statistics and filters. Null without a score.',
  ),
  value: noted(any, 'Result that is no score, as it was sent; null when there is none.'),
  comment: noted(nullable(text), 'Explanation of the score; null when there is none.'),
  correction: noted(either(free, text, nothing), 'What the output should have been; null when it was not given.'),
  feedback_group_id: unused,
  comparative_experiment_id: noted(
    nullable(uuid),
    'Comparative experiment that it belongs to; null when it belongs to none.',
  ),
  run_id: noted(nullable(uuid), 'Run that the feedback is on; null for feedback on a whole session.'),
  session_id: noted(uuid, 'Session that the feedback, or its run, belongs to.'),
  id: noted(uuid, 'Identifier of the feedback.'),
  trace_id: noted(nullable(uuid), 'Trace of the run; null for feedback on a whole session.'),
  start_time: noted(nullable(time), 'Start of the run; null for feedback on a whole session.'),
  is_root: noted(boolean, 'True for feedback on a run, false for feedback on a whole session.'),
  feedback_source: noted(
    object('StoredFeedbackSource', {
      type: noted(
        oneOf('app', 'api', 'model', 'auto_eval'),
        'Who gave it: a person (`app`), a program (`api`), a model, or an evaluator.',
      ),
      metadata: noted(nullable(free), 'Further facts about the source; null when there are none.'),
      user_id: unused,
      ls_user_id: unused,
      user_name: unused,
    }),
    'Who gave the feedback.',
  ),
  extra: noted(nullable(free), 'Further facts about the feedback; null when there are none.'),
  feedback_thread_id: unused,
});
