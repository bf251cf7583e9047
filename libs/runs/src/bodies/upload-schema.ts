import {
  bool,
  datetime,
  type Infer,
  int,
  list,
  literal,
  note,
  num,
  object,
  optional,
  rawDict,
  str,
  union,
  uuid,
} from '@fairlead/schema';

/** Longest name that the index on names can hold. */
const MOST_NAME = 512;
/** Longest identifier of a row in the system of a client. */
const MOST_ROW_NAME = 1000;
const SOURCES = ['app', 'api', 'model', 'auto_eval'] as const;

/** Text that is stored as the JSON token it was sent as. */
const anyText = () => str({ anyText: true });

/** Members of a configuration of feedback, in uploads and in requests of its own. */
export const configMembers = {
  type: note(
    literal(['continuous', 'categorical', 'freeform']),
    '`continuous`: a number in a range. `categorical`: one of the categories. `freeform`: anything.',
  ),
  min: note(optional(num()), 'Lowest score of the range.'),
  max: note(optional(num()), 'Highest score of the range.'),
};
const categoryMembers = {
  value: note(num(), 'Score of the category.'),
  label: note(optional(str({ min: 1, anyText: true })), 'Name of the category.'),
};

/** Returns the member `categories` of a configuration; `title` names a category in the OpenAPI document. */
export function categories(title?: string) {
  const category = title === undefined ? object(categoryMembers) : object(title, categoryMembers);
  return note(optional(list(category)), 'Scores that are used, for `categorical`.');
}

/** A number, or true and false for 1 and 0. */
export const scoreSchema = union(num(), int(), bool());

/** Members of feedback, in uploads and in requests of its own. */
export const feedbackMembers = {
  key: note(
    str({ min: 1, max: 180 }),
    'What is scored, such as `correctness`; feedback with the same key is compared.',
  ),
  score: note(optional(scoreSchema), 'The score: a number, or true and false, which count as 1 and 0 in statistics.'),
  value: note(
    optional(union(num(), int(), bool(), anyText(), rawDict())),
    'Result that is no score, such as a category; given back as it was sent.',
  ),
  comment: note(optional(anyText()), 'Explanation of the score.'),
  correction: note(optional(union(rawDict(), anyText())), 'What the output should have been.'),
  created_at: note(optional(datetime()), 'When the feedback was given. Default: the time of the request.'),
  modified_at: note(optional(datetime()), 'When the feedback was last changed. Default: the time of the request.'),
  extra: note(optional(rawDict()), 'Further facts about the feedback; given back as they were sent.'),
};
export const FEEDBACK_NOTES = {
  source: 'Who gave the feedback. Default: `api`.',
  sourceType: '`app`: a person in a user interface. `api`: a program. `model`: a model. `auto_eval`: an evaluator.',
  config: 'How the scores of the key are to be read.',
} as const;
export const sourceMetadata = note(
  optional(rawDict()),
  'Further facts about the source; given back as they were sent.',
);

const { key, score, value, comment, correction, created_at, modified_at, extra } = feedbackMembers;
export const feedbackSchema = object('FeedbackCreateCoreSchema', {
  key,
  score,
  value,
  comment,
  feedback_source: note(
    optional(
      object('UploadedFeedbackSource', {
        type: note(literal(SOURCES), FEEDBACK_NOTES.sourceType),
        metadata: sourceMetadata,
      }),
    ),
    FEEDBACK_NOTES.source,
  ),
  feedback_config: note(
    optional(object('UploadedFeedbackConfig', { ...configMembers, categories: categories('FeedbackCategory') })),
    FEEDBACK_NOTES.config,
  ),
  created_at,
  modified_at,
  correction,
  extra,
});

export const rowSchema = object('ExperimentResultRow', {
  row_id: note(
    uuid(),
    'Identifier of the example, chosen by the client: the same `row_id` in a later upload is the same example, and twice in one upload it is a repetition.',
  ),
  row_name: note(
    optional(str({ min: 1, max: MOST_ROW_NAME })),
    'The identifier of the row in the system of the client where that is no UUID: the name of the example, and `row_id` in its metadata and in exports.',
  ),
  inputs: note(rawDict(), 'Input of the run and of the example; any members, given back byte for byte.'),
  expected_outputs: note(optional(rawDict()), 'Reference output of the example; any members.'),
  actual_outputs: note(optional(rawDict()), 'Output of the run; any members.'),
  evaluation_scores: note(optional(list(feedbackSchema)), 'Feedback on the run.'),
  start_time: note(datetime(), 'Start of the run, within the times of the experiment; without an offset it is in UTC.'),
  end_time: note(
    datetime(),
    'End of the run, within the times of the experiment; the latency is `end_time` minus `start_time`.',
  ),
  run_name: note(optional(str()), 'Name of the run. Default: `experiment_name`.'),
  error: note(optional(anyText()), 'Why the run failed; its `status` is then `error`, else `success`.'),
  run_metadata: note(optional(rawDict()), 'Further facts about the run; any members.'),
});

export const headerMembers = {
  experiment_name: note(str({ min: 1, max: MOST_NAME }), 'Name of the experiment, unique in the workspace (409).'),
  experiment_description: note(optional(str()), 'What the experiment is about.'),
  experiment_start_time: note(datetime(), 'Start of the experiment; without an offset it is in UTC.'),
  experiment_end_time: note(datetime(), 'End of the experiment, not before its start.'),
  dataset_id: note(
    optional(uuid()),
    'Identifier of the dataset in the system of the client; required without `dataset_name`. An unknown one makes a dataset.',
  ),
  dataset_name: note(
    optional(str({ min: 1, max: MOST_NAME })),
    'Name of the dataset; required without `dataset_id`. An unknown one makes a dataset; default for a new dataset: generated.',
  ),
  dataset_description: note(optional(str()), 'What a new dataset is about.'),
  experiment_metadata: note(
    optional(rawDict()),
    'Further facts about the experiment: the member `metadata` of its `extra`.',
  ),
};
export const headerSchema = object(headerMembers);

export const uploadSchema = object('ExperimentResultsUpload', {
  ...headerMembers,
  summary_experiment_scores: note(
    optional(list(feedbackSchema)),
    'Feedback on the whole experiment, which `session_feedback_stats` sums up.',
  ),
  results: note(list(rowSchema), 'The rows: each is an example of the dataset with its run. At most 16 MiB a row.'),
});

export type Header = Infer<typeof headerSchema>;
