import { shape } from '@fairlead/api';

const { boolean, free, integer, list, noted, nothing, nullable, object, oneOf, text, time, uuid } = shape;

/** Members that the answer to an upload has too. */
export const uploadedDatasetMembers = {
  name: text,
  description: nullable(text),
  created_at: time,
  data_type: oneOf('kv', 'llm', 'chat'),
  inputs_schema_definition: nullable(free),
  outputs_schema_definition: nullable(free),
  externally_managed: boolean,
  id: uuid,
  tenant_id: uuid,
  example_count: nullable(integer),
  session_count: integer,
  modified_at: time,
  last_session_start_time: nullable(time),
};

export const dataset = object('Dataset', {
  ...uploadedDatasetMembers,
  transformations: nothing,
  metadata: nullable(free),
  baseline_experiment_id: nothing,
});

export const datasetVersion = object('DatasetVersion', {
  tags: noted(nullable(list(text)), '`latest` on the newest, and the tags that were given.'),
  as_of: time,
});

export const removed = object('Removed', { message: text });

/** Members of an example; those that a selection can leave out are optional. */
export const exampleMembers = {
  id: uuid,
  dataset_id: uuid,
  name: text,
  inputs: free,
  created_at: time,
  'outputs?': nullable(free),
  'source_run_id?': nullable(uuid),
  'metadata?': nullable(free),
  'modified_at?': time,
  'attachment_urls?': noted(
    nullable(free),
    'By `attachment.<name>` the `presigned_url` and the `mime_type` of each attachment; in lists only when it is selected.',
  ),
};
export const example = object('Example', exampleMembers);

/** Examples by what became of them between two versions. */
export const versionsDiff = object('DatasetVersionsDiff', {
  examples_added: list(uuid),
  examples_modified: list(uuid),
  examples_removed: list(uuid),
});

/** Examples that a request made or changed, and the version that holds the change. */
export const changedExamples = object('ChangedExamples', { count: integer, example_ids: list(uuid), as_of: time });

export const scoreDirections = object('DatasetScoreDirections', {
  lower_is_better: list(text),
  higher_is_better: list(text),
});
