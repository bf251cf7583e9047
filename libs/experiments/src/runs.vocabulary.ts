import type { Vocabulary } from './filter.sql';
import { latencyOf } from './sql';

const METADATA = `(searchable_json(r.extra) -> 'metadata')`;

/** Inputs of a run `r`: its own, or those of the example version it was made from. */
export const RUN_INPUTS = `coalesce(r.inputs, (select e.inputs from examples e
  where e.dataset_id = r.dataset_id and e.id = r.example_id and e.valid_from = r.example_from))`;

/**
 * What a filter of runs may speak of. Tokens are those that a run itself says it used, 0 when it says nothing; so are costs. `latency` is in seconds or a text like "1.5s", "200ms", "2m".
 */
export const RUN_VOCABULARY: Vocabulary = {
  fields: {
    id: { sql: 'r.id', type: 'uuid' },
    trace_id: { sql: 'coalesce(r.trace_id, r.id)', type: 'uuid' },
    parent_run_id: { sql: 'r.parent_run_id', type: 'uuid' },
    session_id: { sql: 'r.session_id', type: 'uuid' },
    reference_example_id: { sql: 'r.example_id', type: 'uuid' },
    reference_example: { sql: 'r.example_id', type: 'uuid' },
    reference_dataset_id: { sql: 'r.dataset_id', type: 'uuid' },
    name: { sql: 'r.name', type: 'text' },
    run_type: { sql: 'r.run_type', type: 'text' },
    status: { sql: 'r.status', type: 'text' },
    error: { sql: 'r.error', type: 'text' },
    start_time: { sql: 'r.start_time', type: 'time' },
    end_time: { sql: 'r.end_time', type: 'time' },
    latency: { sql: `(${latencyOf('r.')})`, type: 'duration' },
    is_root: { sql: '(r.parent_run_id is null)', type: 'boolean' },
    execution_order: { sql: '1::float8', type: 'number' },
    total_tokens: { sql: 'coalesce(r.total_tokens, 0)::float8', type: 'number' },
    prompt_tokens: { sql: 'coalesce(r.prompt_tokens, 0)::float8', type: 'number' },
    completion_tokens: { sql: 'coalesce(r.completion_tokens, 0)::float8', type: 'number' },
    total_cost: { sql: 'coalesce(r.total_cost, 0)::float8', type: 'number' },
    prompt_cost: { sql: 'coalesce(r.prompt_cost, 0)::float8', type: 'number' },
    completion_cost: { sql: 'coalesce(r.completion_cost, 0)::float8', type: 'number' },
  },
  families: [
    {
      key: 'feedback_key',
      fields: {
        feedback_key: { sql: 'f.key', type: 'text' },
        feedback_score: { sql: 'f.score', type: 'number' },
        feedback_value: {
          sql: `case when left(f.value, 1) = '"' then searchable_json(f.value) #>> '{}' else f.value end`,
          type: 'text',
        },
        feedback_source: { sql: 'f.source_type', type: 'text' },
      },
      exists: (condition) =>
        `exists (select 1 from feedback f where f.run_id = r.id and f.tenant_id = r.tenant_id and ${condition})`,
    },
    {
      key: 'metadata_key',
      fields: { metadata_key: { sql: 'm.key', type: 'text' }, metadata_value: { sql: 'm.value', type: 'text' } },
      exists: (condition) =>
        `exists (select 1 from jsonb_each_text(case when jsonb_typeof(${METADATA}) = 'object' then ${METADATA} end) m where ${condition})`,
    },
  ],
  json: { metadata: METADATA, tags: `coalesce(searchable_json(r.tags), '[]')` },
  search: ['r.name', 'r.error', RUN_INPUTS, 'r.outputs'],
};
