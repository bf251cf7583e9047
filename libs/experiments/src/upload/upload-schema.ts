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

export const FEEDBACK_NOTES = {
  key: 'What is scored, such as `correctness`; feedback with the same key is compared.',
  score: 'The score: a number, or true and false, which count as 1 and 0 in statistics.',
  value: 'Result that is no score, such as a category; given back as it was sent.',
  comment: 'Explanation of the score.',
  correction: 'What the output should have been.',
  created_at: 'When the feedback was given. Default: the time of the request.',
  modified_at: 'When the feedback was last changed. Default: the time of the request.',
  source: 'Who gave the feedback. Default: `api`.',
  sourceType: '`app`: a person in a user interface. `api`: a program. `model`: a model. `auto_eval`: an evaluator.',
  sourceMetadata: 'Further facts about the source; given back as they were sent.',
  config: 'How the scores of the key are to be read.',
  extra: 'Further facts about the feedback; given back as they were sent.',
} as const;
export const CONFIG_NOTES = {
  type: '`continuous`: a number in a range. `categorical`: one of the categories. `freeform`: anything.',
  min: 'Lowest score of the range.',
  max: 'Highest score of the range.',
  categories: 'Scores that are used, for `categorical`.',
  value: 'Score of the category.',
  label: 'Name of the category.',
} as const;

const feedbackConfig = object('UploadedFeedbackConfig', {
  type: note(literal(['continuous', 'categorical', 'freeform']), CONFIG_NOTES.type),
  min: note(optional(num()), CONFIG_NOTES.min),
  max: note(optional(num()), CONFIG_NOTES.max),
  categories: note(
    optional(
      list(
        object('FeedbackCategory', {
          value: note(num(), CONFIG_NOTES.value),
          label: note(optional(str({ min: 1, anyText: true })), CONFIG_NOTES.label),
        }),
      ),
    ),
    CONFIG_NOTES.categories,
  ),
});

/** A number, or true and false for 1 and 0. */
export const scoreSchema = union(num(), int(), bool());

export const feedbackSchema = object('FeedbackCreateCoreSchema', {
  key: note(str({ min: 1, max: 180 }), FEEDBACK_NOTES.key),
  score: note(optional(scoreSchema), FEEDBACK_NOTES.score),
  value: note(optional(union(num(), int(), bool(), anyText(), rawDict())), FEEDBACK_NOTES.value),
  comment: note(optional(anyText()), FEEDBACK_NOTES.comment),
  feedback_source: note(
    optional(
      object('UploadedFeedbackSource', {
        type: note(literal(SOURCES), FEEDBACK_NOTES.sourceType),
        metadata: note(optional(rawDict()), FEEDBACK_NOTES.sourceMetadata),
      }),
    ),
    FEEDBACK_NOTES.source,
  ),
  feedback_config: note(optional(feedbackConfig), FEEDBACK_NOTES.config),
  created_at: note(optional(datetime()), FEEDBACK_NOTES.created_at),
  modified_at: note(optional(datetime()), FEEDBACK_NOTES.modified_at),
  correction: note(optional(union(rawDict(), anyText())), FEEDBACK_NOTES.correction),
  extra: note(optional(rawDict()), FEEDBACK_NOTES.extra),
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
