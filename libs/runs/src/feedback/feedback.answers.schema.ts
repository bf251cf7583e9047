import {
  anyJson,
  anyObject,
  bool,
  int,
  literal,
  note,
  nothing,
  nullable,
  num,
  object,
  record,
  str,
  timestamp,
  union,
  unused,
  uuid,
} from '@fairlead/schema';

const feedbackStatisticsObject = object('FeedbackStatistics', {
  n: note(int(), 'Number of scores and values.'),
  'scores?': note(int(), 'Number of scores; absent when it is `n`, and without a score.'),
  'scored?': note(
    int(),
    'Of an experiment: number of runs with a score; absent when each score is on a run of its own.',
  ),
  avg: note(nullable(num()), 'Mean of the scores; null without a score.'),
  stdev: note(nullable(num()), 'Standard deviation of the scores; null without a score.'),
  min: note(nullable(num()), 'Lowest score; null without a score.'),
  max: note(nullable(num()), 'Highest score; null without a score.'),
  values: note(record(int()), 'How often each value was given.'),
});
export const feedbackStatistics = record(feedbackStatisticsObject);

const storedFeedbackSource = object('StoredFeedbackSource', {
  type: note(
    literal(['app', 'api', 'model', 'auto_eval']),
    'Who gave it: a person (`app`), a program (`api`), a model, or an evaluator.',
  ),
  metadata: note(nullable(anyObject()), 'Further facts about the source; null when there are none.'),
  user_id: unused,
  ls_user_id: unused,
  user_name: unused,
});
export const feedback = object('Feedback', {
  created_at: note(timestamp(), 'When the feedback was given.'),
  modified_at: note(timestamp(), 'When the feedback was last changed.'),
  key: note(str(), 'What is scored, such as `correctness`.'),
  score: note(
    union(num(), bool(), nothing),
    'Score as it was sent; true and false count as 1 and 0 in statistics and filters. Null without a score.',
  ),
  value: note(anyJson(), 'Result that is no score, as it was sent; null when there is none.'),
  comment: note(nullable(str()), 'Explanation of the score; null when there is none.'),
  correction: note(union(anyObject(), str(), nothing), 'What the output should have been; null when it was not given.'),
  feedback_group_id: unused,
  comparative_experiment_id: note(
    nullable(uuid()),
    'Comparative experiment that it belongs to; null when it belongs to none.',
  ),
  run_id: note(nullable(uuid()), 'Run that the feedback is on; null for feedback on a whole session.'),
  session_id: note(uuid(), 'Session that the feedback, or its run, belongs to.'),
  id: note(uuid(), 'Identifier of the feedback.'),
  trace_id: note(nullable(uuid()), 'Trace of the run; null for feedback on a whole session.'),
  start_time: note(nullable(timestamp()), 'Start of the run; null for feedback on a whole session.'),
  is_root: note(bool(), 'True for feedback on a run, false for feedback on a whole session.'),
  feedback_source: note(storedFeedbackSource, 'Who gave the feedback.'),
  extra: note(nullable(anyObject()), 'Further facts about the feedback; null when there are none.'),
  feedback_thread_id: unused,
});
