import {
  anyJson,
  bool,
  fixed,
  type Infer,
  list,
  literal,
  note,
  object,
  optional,
  rawDict,
  str,
  uuid,
} from '@fairlead/schema';
import { counting } from '@fairlead/api';
import { oneOrMany, pageOf100 } from '@fairlead/runs';

const DATA_TYPES = ['kv', 'llm', 'chat'] as const;
const MOST_NAME = 512;
const MOST_DESCRIPTION = 10_000;

const definitions = {
  metadata: note(optional(rawDict()), 'Further facts about the dataset; any members.'),
  inputs_schema_definition: note(
    optional(rawDict()),
    'JSON Schema of inputs; kept and answered, examples are not checked against it.',
  ),
  outputs_schema_definition: note(
    optional(rawDict()),
    'JSON Schema of outputs; kept and answered, examples are not checked against it.',
  ),
  transformations: note(optional(list(anyJson())), 'Not supported: anything but an empty list is answered 501.'),
};
const datasetExtra = object('DatasetExtra', {
  metadata: note(optional(rawDict()), 'Further facts about the dataset, used when `metadata` is absent.'),
});
const older = {
  extra: note(optional(datasetExtra), 'Older place of `metadata`.'),
  tag_value_ids: note(optional(list(uuid())), 'Not supported: anything but an empty list is answered 501.'),
};
export const datasetCreate = object('DatasetCreate', {
  name: note(str({ min: 1, max: MOST_NAME }), 'Name of the dataset, unique in the workspace (409).'),
  description: note(optional(str({ max: MOST_DESCRIPTION })), 'What the dataset is about.'),
  data_type: note(
    optional(literal(DATA_TYPES), 'kv'),
    '`kv`: objects with any members. `llm`, `chat`: inputs and outputs of models; kept and answered.',
  ),
  id: note(optional(uuid()), 'Identifier that the dataset gets, unused so far (409); absent: the service makes one.'),
  ...older,
  ...definitions,
});
export const datasetUpdate = object('DatasetUpdate', {
  name: note(optional(str({ min: 1, max: MOST_NAME })), 'Name of the dataset, unique in the workspace (409).'),
  description: note(optional(str({ max: MOST_DESCRIPTION })), 'What the dataset is about.'),
  baseline_experiment_id: note(
    optional(uuid()),
    'Experiment on the dataset that the others are compared with; `PUT …/baseline` can also choose none.',
  ),
  ...older,
  ...definitions,
  id: fixed(uuid()),
  data_type: fixed(literal(DATA_TYPES)),
  externally_managed: fixed(bool()),
});
export const datasetCopy = object('DatasetCopy', {
  name: note(str({ min: 1, max: MOST_NAME }), 'Name of the copy, unique in the workspace (409).'),
  description: note(optional(str({ max: MOST_DESCRIPTION })), 'What it is about; absent: what the copied one says.'),
  as_of: note(optional(str(), 'latest'), 'The version that is copied: a time, a tag, or `latest`.'),
  splits: note(
    optional(list(str({ min: 1, max: MOST_NAME }), { min: 1, max: 100 })),
    'Only examples in one of these splits.',
  ),
});
export const csvFields = object('DatasetUpload', {
  name: optional(str({ min: 1, max: MOST_NAME })),
  description: optional(str({ max: MOST_DESCRIPTION })),
  data_type: optional(literal(DATA_TYPES), 'kv'),
  id: optional(uuid()),
  input_keys: list(str({ min: 1 }), { min: 1, max: 1000 }),
  output_keys: optional(list(str({ min: 1 }), { max: 1000 }), []),
  metadata_keys: optional(list(str({ min: 1 }), { max: 1000 }), []),
});
export type CsvFields = Infer<typeof csvFields>;

const SORTS = [
  'name',
  'created_at',
  'last_session_start_time',
  'example_count',
  'session_count',
  'modified_at',
] as const;

export const datasetsQuery = object({
  id: note(optional(oneOrMany(uuid())), 'Only these datasets; repeatable.'),
  data_type: note(optional(oneOrMany(literal(['kv', 'llm', 'chat']))), 'Only datasets of these types; repeatable.'),
  name: note(optional(str()), 'Only the dataset of exactly this name.'),
  name_contains: note(optional(str()), 'Only datasets whose name contains this text, in upper or lower case.'),
  metadata: note(optional(str()), 'Only datasets whose metadata contain this JSON object.'),
  offset: pageOf100.offset,
  limit: pageOf100.limit,
  sort_by: note(optional(literal(SORTS), 'last_session_start_time'), 'What the list is sorted by.'),
  sort_by_desc: note(optional(bool(), true), 'True: the largest or newest first.'),
  tag_value_id: note(
    optional(oneOrMany(uuid())),
    'Only datasets with one of these tags: none, because datasets have no such tags here.',
  ),
  exclude_corrections_datasets: note(
    optional(bool(), false),
    'Accepted because clients send it; there are no such datasets, so that nothing changes.',
  ),
  exclude: note(optional(oneOrMany(literal(['example_count']))), 'Members to leave out of the answer; repeatable.'),
  ...counting,
});
export type DatasetsQuery = Infer<typeof datasetsQuery>;
