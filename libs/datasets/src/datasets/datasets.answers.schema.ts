import {
  anyObject,
  bool,
  int,
  list,
  literal,
  note,
  nullable,
  object,
  str,
  timestamp,
  unused,
  uuid,
} from '@fairlead/schema';

/** Members that the answer to an upload has too. */
export const uploadedDatasetMembers = {
  name: note(str(), 'Name of the dataset, unique in the workspace.'),
  description: note(nullable(str()), 'What the dataset is about; null when it was not given.'),
  created_at: note(timestamp(), 'When the dataset was created.'),
  data_type: note(literal(['kv', 'llm', 'chat']), 'Kind of inputs and outputs; `kv`: objects with any members.'),
  inputs_schema_definition: note(nullable(anyObject()), 'JSON Schema of inputs; null when it was not given.'),
  outputs_schema_definition: note(nullable(anyObject()), 'JSON Schema of outputs; null when it was not given.'),
  externally_managed: note(
    bool(),
    'True when uploads of experiments fill the dataset, false when clients write its examples.',
  ),
  id: note(uuid(), 'Identifier of the dataset.'),
  tenant_id: note(uuid(), 'Workspace that owns the dataset.'),
  example_count: note(nullable(int()), 'Number of its examples; null when the request excluded it.'),
  session_count: note(int(), 'Number of experiments on it.'),
  modified_at: note(timestamp(), 'When the dataset or its examples last changed.'),
  last_session_start_time: note(nullable(timestamp()), 'Start of its newest experiment; null without an experiment.'),
};

export const dataset = object('Dataset', {
  ...uploadedDatasetMembers,
  transformations: unused,
  metadata: note(nullable(anyObject()), 'Further facts about the dataset; null when there are none.'),
  baseline_experiment_id: note(
    nullable(uuid()),
    'Experiment that the others on the dataset are compared with; null when none was chosen, or it was deleted.',
  ),
});

export const datasetBaseline = object('DatasetBaseline', {
  experiment_id: note(nullable(uuid()), 'Experiment that the others are compared with; null for none.'),
});

export const datasetVersion = object('DatasetVersion', {
  tags: note(
    nullable(list(str())),
    'Tags of the version: `latest` on the newest, and those that clients set; null without a tag.',
  ),
  as_of: note(timestamp(), 'Time of the version, in microseconds; names it wherever `as_of` is taken.'),
});

export const removed = object('Removed', { message: note(str(), 'That it was deleted, in one sentence.') });

export const exampleAnswerMembers = {
  id: note(uuid(), 'Identifier of the example.'),
  dataset_id: note(uuid(), 'Dataset that the example belongs to.'),
  name: note(str(), 'Name of the example.'),
  inputs: note(anyObject(), 'Input, byte for byte as it was sent.'),
  created_at: note(timestamp(), 'When the example was created.'),
  outputs: note(nullable(anyObject()), 'Expected output, byte for byte as it was sent; null when there is none.'),
  source_run_id: note(nullable(uuid()), 'Run that the example was made from; null for others.'),
  metadata: note(
    nullable(anyObject()),
    'Further facts about the example, its splits in `dataset_split`: `["base"]` when it is in no other; null where it is not selected.',
  ),
  modified_at: note(timestamp(), 'When the example last changed.'),
  attachment_urls: note(
    nullable(anyObject()),
    'By `attachment.<name>` the `presigned_url` and the `mime_type` of each attachment, null without one; in lists only when it is selected.',
  ),
};
export const example = object('Example', exampleAnswerMembers);

export const versionsDiff = object('DatasetVersionsDiff', {
  examples_added: note(list(uuid()), 'Examples that only the later version has.'),
  examples_modified: note(list(uuid()), 'Examples that differ.'),
  examples_removed: note(list(uuid()), 'Examples that only the earlier version has.'),
});

export const changedExamples = object('ChangedExamples', {
  count: note(int(), 'Number of examples that were made or changed.'),
  example_ids: note(list(uuid()), 'Their identifiers, in the order of the request.'),
  as_of: note(timestamp(), 'Version of the dataset that holds the change.'),
});

export const scoreDirections = object('DatasetScoreDirections', {
  lower_is_better: note(list(str()), 'Feedback keys whose lower scores are better.'),
  higher_is_better: note(list(str()), 'Feedback keys whose higher scores are better.'),
});
