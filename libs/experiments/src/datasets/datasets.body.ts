import { anyJson, type Infer, list, literal, object, optional, rawDict, str, uuid } from '@fairlead/schema';

export const DATA_TYPES = ['kv', 'llm', 'chat'] as const;
export const MOST_NAME = 512;
const MOST_DESCRIPTION = 10_000;

const definitions = {
  metadata: optional(rawDict()),
  inputs_schema_definition: optional(rawDict()),
  outputs_schema_definition: optional(rawDict()),
  transformations: optional(list(anyJson())),
};
/** Body of POST /datasets. */
export const datasetCreate = object(
  {
    name: str({ min: 1, max: MOST_NAME }),
    description: optional(str({ max: MOST_DESCRIPTION })),
    data_type: optional(literal(DATA_TYPES), 'kv'),
    id: optional(uuid()),
    extra: optional(object({ metadata: optional(rawDict()) }, 'DatasetExtra')),
    tag_value_ids: optional(list(uuid())),
    ...definitions,
  },
  'DatasetCreate',
);
/** Body of PATCH /datasets/{dataset_id}. */
export const datasetUpdate = object(
  {
    name: optional(str({ min: 1, max: MOST_NAME })),
    description: optional(str({ max: MOST_DESCRIPTION })),
    baseline_experiment_id: optional(uuid()),
    ...definitions,
  },
  'DatasetUpdate',
);
/** The fields of POST /datasets/upload, a form, besides its file. */
export const csvFields = object(
  {
    name: optional(str({ min: 1, max: MOST_NAME })),
    description: optional(str({ max: MOST_DESCRIPTION })),
    data_type: optional(literal(DATA_TYPES), 'kv'),
    id: optional(uuid()),
    input_keys: list(str({ min: 1 }), { min: 1, max: 1000 }),
    output_keys: optional(list(str({ min: 1 }), { max: 1000 }), []),
    metadata_keys: optional(list(str({ min: 1 }), { max: 1000 }), []),
  },
  'DatasetUpload',
);
export type CsvFields = Infer<typeof csvFields>;
