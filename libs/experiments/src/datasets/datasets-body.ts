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
const older = {
  extra: note(
    optional(
      object('DatasetExtra', {
        metadata: note(optional(rawDict()), 'Further facts about the dataset, used when `metadata` is absent.'),
      }),
    ),
    'Older place of `metadata`.',
  ),
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
