import { metadataFamily, type Vocabulary } from '../common/filter-sql';
import { latencyOf } from '../common/sql';

const METADATA = `(searchable_json(r.extra) -> 'metadata')`;

/** The thread that a run says it is of, by one of the names that the SDKs use. */
const THREAD = 'thread_of(r.extra)';
/** Characters of a thread's name that the index of threads has. */
const INDEXED = 200;

/** SQL: the inputs of a run `r` of the workspace, its own or those of the example version it was made from. */
export function runInputs(tenant: string): string {
  return `coalesce(r.inputs, (select e.inputs from examples e where e.tenant_id = ${tenant}
    and e.dataset_id = r.dataset_id and e.id = r.example_id and e.valid_from = r.example_from))`;
}

/** The text of a JSON string that is kept as it was sent, without its quotation marks; what is no string as it is. */
const plainText = (column: string) =>
  `case when left(${column}, 1) = '"' then searchable_json(${column}) #>> '{}' else ${column} end`;

/** That a member of a JSON object meets a condition, which calls it `m`. */
function amongMembers(json: string, condition: string): string {
  return `exists (select 1 from (select searchable_json(${json}) as o) as sent,
    jsonb_each_text(case when jsonb_typeof(sent.o) = 'object' then sent.o end) m where ${condition})`;
}

/**
 * Names that a filter of runs of a workspace may use. `tenant` is SQL for the id of the workspace. Tokens are those that a run itself says it used, 0 when it says nothing; so are
 * costs. `latency` is in seconds or a text like "1.5s", "200ms", "2m".
 */
export const runVocabulary = (tenant: string): Vocabulary => ({
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
    error: { sql: `(${plainText('r.error')})`, type: 'text' },
    start_time: { sql: 'r.start_time', type: 'time' },
    end_time: { sql: 'r.end_time', type: 'time' },
    latency: { sql: `(${latencyOf('r.')})`, type: 'duration' },
    is_root: { sql: '(r.parent_run_id is null)', type: 'boolean' },
    thread_id: {
      ...{ sql: THREAD, type: 'text' },
      indexed: (value) => `left(${THREAD}, ${INDEXED}) = left(${value}, ${INDEXED})`,
    },
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
        feedback_value: { sql: plainText('f.value'), type: 'text' },
        feedback_source: { sql: 'f.source_type', type: 'text' },
      },
      exists: (condition) =>
        `exists (select 1 from feedback f where f.run_id = r.id and f.tenant_id = ${tenant} and ${condition})`,
    },
    ...(['input', 'output'] as const).map((side) => ({
      key: `${side}_key`,
      fields: {
        [`${side}_key`]: { sql: 'm.key', type: 'text' as const },
        [`${side}_value`]: { sql: 'm.value', type: 'text' as const },
      },
      exists: (condition: string) => amongMembers(side === 'input' ? runInputs(tenant) : 'r.outputs', condition),
    })),
    metadataFamily(METADATA),
  ],
  paths: { 'extra.metadata': METADATA },
  json: { metadata: METADATA, tags: `coalesce(searchable_json(r.tags), '[]')` },
  search: { texts: ['r.name'], json: ['r.error', runInputs(tenant), 'r.outputs'] },
});

/**
 * The vocabulary of runs where conditions on feedback hold only for feedback that `bounds` selects (SQL about the row
 * `f`), and whether a filter has had such a condition.
 */
export function boundedVocabulary(
  tenant: string,
  bounds: string,
): { readonly vocabulary: Vocabulary; readonly isUsed: () => boolean } {
  let used = false;
  const vocabulary = runVocabulary(tenant);
  const families = vocabulary.families.map((family) => {
    if (family.key !== 'feedback_key') return family;
    const exists = (condition: string) => {
      used = true;
      return family.exists(`${condition} and ${bounds}`);
    };
    return { ...family, exists };
  });
  return { vocabulary: { ...vocabulary, families }, isUsed: () => used };
}
