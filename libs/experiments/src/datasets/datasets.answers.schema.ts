import { shape } from '@fairlead/api';

const { boolean, free, integer, list, noted, nullable, object, oneOf, text, time, unused, uuid } = shape;

/** Members that the answer to an upload has too. */
export const uploadedDatasetMembers = {
  name: noted(text, 'Name of the dataset, unique in the workspace.'),
  description: noted(nullable(text), 'What the dataset is about; null when it was not given.'),
  created_at: noted(time, 'When the dataset was created.'),
  data_type: noted(oneOf('kv', 'llm', 'chat'), 'Kind of inputs and outputs; `kv`: objects with any members.'),
  inputs_schema_definition: noted(nullable(free), 'JSON Schema of inputs; null when it was not given.'),
  outputs_schema_definition: noted(nullable(free), 'JSON Schema of outputs; null when it was not given.'),
  externally_managed: noted(
    boolean,
    'True when uploads of experiments fill the dataset, false when clients write its examples.',
  ),
  id: noted(uuid, 'Identifier of the dataset.'),
  tenant_id: noted(uuid, 'Workspace that owns the dataset.'),
  example_count: noted(nullable(integer), 'Number of its examples; null when the request excluded it.'),
  session_count: noted(integer, 'Number of experiments on it.'),
  modified_at: noted(time, 'When the dataset or its examples last changed.'),
  last_session_start_time: noted(nullable(time), 'Start of its newest experiment; null without an experiment.'),
};

export const dataset = object('Dataset', {
  ...uploadedDatasetMembers,
  transformations: unused,
  metadata: noted(nullable(free), 'Further facts about the dataset; null when there are none.'),
  baseline_experiment_id: noted(
    nullable(uuid),
    'Experiment that the others on the dataset are compared with; null when none was chosen, or it was deleted.',
  ),
});

export const datasetBaseline = object('DatasetBaseline', {
  experiment_id: noted(nullable(uuid), 'Experiment that the others are compared with; null for none.'),
});

export const datasetVersion = object('DatasetVersion', {
  tags: noted(
    nullable(list(text)),
    'Tags of the version: `latest` on the newest, and those that clients set; null without a tag.',
  ),
  as_of: noted(time, 'Time of the version, in microseconds; names it wherever `as_of` is taken.'),
});

export const removed = object('Removed', { message: noted(text, 'That it was deleted, in one sentence.') });

export const exampleMembers = {
  id: noted(uuid, 'Identifier of the example.'),
  dataset_id: noted(uuid, 'Dataset that the example belongs to.'),
  name: noted(text, 'Name of the example.'),
  inputs: noted(free, 'Input, byte for byte as it was sent.'),
  created_at: noted(time, 'When the example was created.'),
  outputs: noted(nullable(free), 'Expected output, byte for byte as it was sent; null when there is none.'),
  source_run_id: noted(nullable(uuid), 'Run that the example was made from; null for others.'),
  metadata: noted(
    nullable(free),
    'Further facts about the example, its splits in `dataset_split`: `["base"]` when it is in no other; null where it is not selected.',
  ),
  modified_at: noted(time, 'When the example last changed.'),
  attachment_urls: noted(
    nullable(free),
    'By `attachment.<name>` the `presigned_url` and the `mime_type` of each attachment, null without one; in lists only when it is selected.',
  ),
};
export const example = object('Example', exampleMembers);

export const versionsDiff = object('DatasetVersionsDiff', {
  examples_added: noted(list(uuid), 'Examples that only the later version has.'),
  examples_modified: noted(list(uuid), 'Examples that differ.'),
  examples_removed: noted(list(uuid), 'Examples that only the earlier version has.'),
});

export const changedExamples = object('ChangedExamples', {
  count: noted(integer, 'Number of examples that were made or changed.'),
  example_ids: noted(list(uuid), 'Their identifiers, in the order of the request.'),
  as_of: noted(time, 'Version of the dataset that holds the change.'),
});

export const scoreDirections = object('DatasetScoreDirections', {
  lower_is_better: noted(list(text), 'Feedback keys whose lower scores are better.'),
  higher_is_better: noted(list(text), 'Feedback keys whose higher scores are better.'),
});
