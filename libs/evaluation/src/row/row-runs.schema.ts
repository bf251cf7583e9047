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
  str,
  timestamp,
  uuid,
} from '@fairlead/schema';

export const judgeType = note(
  literal(['app', 'api', 'model', 'auto_eval']),
  'Who gave the feedback: a person (`app`), a program (`api`), a model, or an evaluator.',
);
const judge = object('FeedbackJudge', {
  type: judgeType,
  metadata: note(
    nullable(anyObject()),
    'Further facts about who gave it; null without any, and when they take more than 4 KB.',
  ),
  run_id: note(nullable(uuid()), 'The run in which it was given, as its client named it; null when it named none.'),
  session_id: note(nullable(uuid()), 'Session of that run; null when the workspace has no such run.'),
});
const given = object('RowFeedback', {
  id: note(uuid(), 'Identifier of the feedback.'),
  key: note(str(), 'What is scored.'),
  score: note(nullable(num()), 'Score; null without one.'),
  value_preview: note(nullable(str()), 'First kilobyte of a result that is no score; null without one.'),
  comment_preview: note(nullable(str()), 'First 4 KB of the comment; null without one.'),
  correction_preview: note(
    nullable(str()),
    'First 4 KB of what the output should have been: text, or JSON as it was sent; null without it.',
  ),
  judge: note(judge, 'Who gave the feedback.'),
  created_at: note(timestamp(), 'When it was given.'),
});
const run = object('RowRun', {
  run_id: note(uuid(), 'Identifier of the run.'),
  status: note(str(), 'Status of the run: `success`, `error` or `pending`.'),
  start_time: note(timestamp(), 'When it began.'),
  latency_seconds: note(nullable(num()), 'Latency of the run, in seconds; null until it ends.'),
  error_preview: note(nullable(str()), 'First kilobyte of the error; null without an error.'),
  outputs_preview: note(nullable(str()), 'First kilobyte of the outputs; null without outputs.'),
  feedback: note(list(given), 'Feedback on the run, the newest first.'),
});
const ofExperiment = object('RowOfExperiment', {
  experiment: note(uuid(), 'Experiment of the runs.'),
  run_count: note(int(), 'Number of its runs of the row.'),
  runs: note(
    list(run),
    'Its runs of the row, at most 100: the one that a comparison shows first, then its repetitions.',
  ),
});
export const rowRuns = object('RowRuns', {
  example_id: note(uuid(), 'Example that the row is about.'),
  experiments: note(list(ofExperiment), 'What each experiment has of the row, in the order of the request.'),
  left_out: note(bool(), 'True when the runs have more than 1,000 items of feedback: only the newest 1,000 are given.'),
});
export type RowRuns = Infer<typeof rowRuns>;
