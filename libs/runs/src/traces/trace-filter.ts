import { compileFilter } from '../common/filter-sql';
import type { ScoreBound } from '../common/score-bound';
import type { Parameters } from '../common/sql';
import { runVocabulary } from '../run/runs-vocabulary';

/** Which root runs of a project; all conditions have to hold. Times are ISO texts. */
export interface TraceFilter {
  readonly status?: readonly string[];
  readonly name?: readonly string[];
  readonly run_type?: readonly string[];
  /** Start of the run: at this time or later, and before the other. */
  readonly from?: string;
  readonly to?: string;
  readonly tag?: readonly string[];
  /** JSON text of an object whose members the metadata have. */
  readonly metadata?: string;
  readonly scores: readonly ScoreBound[];
  readonly text?: string;
  readonly thread_id?: string;
  /** Expression of the SDKs' filter language. */
  readonly filter?: string;
}

const CALLS = { '>=': 'gte', '<=': 'lte', '>': 'gt', '<': 'lt', '=': 'eq' } as const;

/**
 * SQL conditions on a run `r`: those by which an index leads to the runs, and those that are checked run by run.
 * @throws FilterError
 */
export function traceConditions(filter: TraceFilter, parameters: Parameters, tenant: string) {
  const { status, from, to } = filter;
  const found: string[] = [];
  if (from !== undefined) found.push(`r.start_time >= ${parameters.add(from, 'timestamptz')}`);
  if (to !== undefined) found.push(`r.start_time < ${parameters.add(to, 'timestamptz')}`);
  const { name, run_type, tag = [], metadata, scores, text, thread_id } = filter;
  const checked: string[] = [];
  // Failed runs have an index of their own, of which the planner knows only by this text.
  const failed = status?.every((one) => one === 'error');
  if (failed) found.push(`r.status = 'error'`);
  for (const [column, values] of Object.entries({ status: failed ? undefined : status, name, run_type }))
    if (values !== undefined) checked.push(`r.${column} = any(${parameters.add(values, 'text[]')})`);
  const vocabulary = runVocabulary(tenant);
  if (thread_id !== undefined)
    found.push(compileFilter(`eq(thread_id, ${JSON.stringify(thread_id)})`, vocabulary, parameters));
  for (const one of tag) checked.push(`coalesce(${vocabulary.json.tags} ? ${parameters.add(one, 'text')}, false)`);
  if (metadata !== undefined)
    checked.push(
      `coalesce(${vocabulary.json.metadata} @> searchable_json(${parameters.add(metadata, 'text')}), false)`,
    );
  const expressions = scores.map(
    ({ key, operator, bound }) =>
      `and(eq(feedback_key, ${JSON.stringify(key)}), ${CALLS[operator]}(feedback_score, ${bound}))`,
  );
  if (filter.filter !== undefined) expressions.push(filter.filter);
  if (text !== undefined) expressions.push(`search(${JSON.stringify(text)})`);
  checked.push(...expressions.map((expression) => compileFilter(expression, vocabulary, parameters)));
  return { found, checked };
}
