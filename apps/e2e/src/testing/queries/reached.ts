import { EXPERIMENT_SORTS, type Filter, type Query } from './query';

/** Counts what the queries have reached, so that a net with a hole is seen: a call or a field that no query has. */
export class Reached {
  private readonly counts = new Map<string, number>();

  /** Notes a query and the number of things that it found. */
  note(query: Query, found: number): void {
    const outcome = found === 0 ? 'nothing' : 'something';
    this.count(`${query.of} finds ${outcome}`);
    for (const [name, value] of Object.entries(query)) {
      if (value === undefined || name === 'of') continue;
      this.count(`${query.of}.${name}`);
      if (typeof value === 'string' && ['sort', 'order', 'level', 'format'].includes(name))
        this.count(`${query.of}.${name}=${value}`);
    }
    for (const filter of filtersOf(query)) {
      for (const one of partsOf(filter)) {
        this.count(`${one.call}()`);
        if (!('field' in one)) continue;
        this.count(`${one.field} finds ${outcome}`);
        this.count(`${one.call}(${one.field}) finds ${outcome}`);
      }
    }
  }

  /** Returns those of some names that have not been counted. */
  missing(names: readonly string[]): string[] {
    return names.filter((name) => !this.counts.has(name));
  }

  /** One line for each thing reached, the rarest first. */
  toString(): string {
    const sorted = [...this.counts].sort(([, one], [, other]) => one - other);
    return sorted.map(([name, count]) => `${String(count).padStart(7)}  ${name}`).join('\n');
  }

  private count(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }
}

const SAME_TEXTS = ['eq', 'neq', 'in', 'like'];
const NUMBERS = ['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'in'];
/** Fields of runs, by the calls that compare them. */
const FIELDS: readonly (readonly [calls: readonly string[], fields: readonly string[]])[] = [
  [
    ['eq', 'neq', 'in'],
    ['id', 'trace_id', 'parent_run_id', 'session_id', 'reference_example_id', 'is_root'],
  ],
  [SAME_TEXTS, ['name', 'run_type', 'status', 'error', 'thread_id', 'extra.metadata.model']],
  [SAME_TEXTS, ['input_key', 'input_value', 'output_key', 'output_value', 'metadata_key', 'metadata_value']],
  [SAME_TEXTS, ['feedback_key', 'feedback_value', 'feedback_source']],
  [NUMBERS, ['start_time', 'end_time', 'latency', 'total_tokens', 'prompt_tokens', 'total_cost', 'feedback_score']],
  [['has'], ['metadata', 'tags']],
];
const CALLS = ['and', 'or', 'not', ...NUMBERS, 'like', 'has', 'search'];

/** Everything that 2,000 queries have to reach. */
const WANTED: readonly string[] = [
  ...['runs', 'runs v2', 'sessions', 'examples', 'feedback', 'experiments', 'view', 'comparison', 'export'].flatMap(
    (of) => [`${of} finds nothing`, `${of} finds something`],
  ),
  ...CALLS.map((call) => `${call}()`),
  ...FIELDS.flatMap(([, fields]) => fields.map((field) => `${field} finds something`)),
  ...['trace', 'parentRun', 'ids', 'traceFilter', 'treeFilter', 'searchFilter', 'isRoot', 'from', 'to'].map(
    (name) => `runs.${name}`,
  ),
  ...['name', 'start_time', 'runs_count', 'latency_p50', 'error_rate', 'feedback'].map(
    (sort) => `sessions.sort=${sort}`,
  ),
  ...EXPERIMENT_SORTS.map((sort) => `experiments.sort=${sort}`),
  ...['text', 'datasets', 'metadata', 'scores', 'then'].map((name) => `experiments.${name}`),
  ...['sessions', 'examples', 'feedback'].map((of) => `${of}.toEnd`),
  ...['csv', 'jsonl'].map((format) => `export.format=${format}`),
  ...['regression', 'improvement', 'row'].map((sort) => `comparison.sort=${sort}`),
];

/** Everything besides that 20,000 queries have to reach. */
const WANTED_OF_MANY = FIELDS.flatMap(([calls, fields]) =>
  fields.flatMap((field) => calls.map((call) => `${call}(${field}) finds something`)),
);

/** Returns the names of all that so many queries have to reach. */
export function wanted(queries: number): readonly string[] {
  return [...(queries >= 2000 ? WANTED : []), ...(queries >= 20_000 ? WANTED_OF_MANY : [])];
}

function filtersOf(query: Query): Filter[] {
  if (query.of === 'view') return query.filters.flat();
  if (query.of === 'sessions' || query.of === 'examples') return query.filter ? [query.filter] : [];
  if (query.of !== 'runs' && query.of !== 'runs v2' && query.of !== 'stats') return [];
  const { filter, searchFilter, traceFilter, treeFilter } = query;
  return [filter, searchFilter, traceFilter, treeFilter].filter((one) => one !== undefined);
}

function partsOf(filter: Filter): Filter[] {
  return 'of' in filter ? [filter, ...filter.of.flatMap(partsOf)] : [filter];
}
