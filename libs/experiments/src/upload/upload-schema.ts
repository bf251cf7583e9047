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
const SOURCES = ['app', 'api', 'model', 'auto_eval'] as const;

/** Text that is stored as the JSON token it was sent as. */
const anyText = () => str({ anyText: true });

const feedbackConfig = object(
  {
    type: literal(['continuous', 'categorical', 'freeform']),
    min: optional(num()),
    max: optional(num()),
    categories: optional(
      list(object({ value: num(), label: optional(str({ min: 1, anyText: true })) }, 'FeedbackCategory')),
    ),
  },
  'UploadedFeedbackConfig',
);

/** A number, or true and false for 1 and 0. */
export const scoreSchema = union(num(), int(), bool());

/** A score of a run or of a whole experiment. */
export const feedbackSchema = object(
  {
    key: str({ min: 1, max: 180 }),
    score: optional(scoreSchema),
    value: optional(union(num(), int(), bool(), anyText(), rawDict())),
    comment: optional(anyText()),
    feedback_source: optional(
      object({ type: literal(SOURCES), metadata: optional(rawDict()) }, 'UploadedFeedbackSource'),
    ),
    feedback_config: optional(feedbackConfig),
    created_at: optional(datetime()),
    modified_at: optional(datetime()),
    correction: optional(union(rawDict(), anyText())),
    extra: optional(rawDict()),
  },
  'FeedbackCreateCoreSchema',
);

/** One element of `results`: a dataset example with its run. */
export const rowSchema = object(
  {
    row_id: uuid(),
    inputs: rawDict(),
    expected_outputs: optional(rawDict()),
    actual_outputs: optional(rawDict()),
    evaluation_scores: optional(list(feedbackSchema)),
    start_time: datetime(),
    end_time: datetime(),
    run_name: optional(str()),
    error: optional(anyText()),
    run_metadata: optional(rawDict()),
  },
  'ExperimentResultRow',
);

/** The members of an upload apart from its two long lists. */
export const headerMembers = {
  experiment_name: str({ min: 1, max: MOST_NAME }),
  experiment_description: optional(str()),
  experiment_start_time: datetime(),
  experiment_end_time: datetime(),
  dataset_id: optional(note(uuid(), 'Needed when there is no dataset_name.')),
  dataset_name: optional(note(str({ min: 1, max: MOST_NAME }), 'Needed when there is no dataset_id.')),
  dataset_description: optional(str()),
  experiment_metadata: optional(rawDict()),
};
export const headerSchema = object(headerMembers);

/** The whole body of an upload. */
export const uploadSchema = object(
  { ...headerMembers, summary_experiment_scores: optional(list(feedbackSchema)), results: list(rowSchema) },
  'ExperimentResultsUpload',
);

export type Feedback = Infer<typeof feedbackSchema>;
export type Row = Infer<typeof rowSchema>;
export type Header = Infer<typeof headerSchema>;
