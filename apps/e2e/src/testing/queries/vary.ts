import * as fc from 'fast-check';
import {
  allSessions,
  ERRORS,
  iso,
  KEYS,
  LABELS,
  MEMBER_KEYS,
  METADATA_KEYS,
  micros,
  MODELS,
  NAMES,
  SOURCES,
  SPLITS,
  TAGS,
  type Things,
  TYPES,
  WORDS,
} from './things';

/** Everything that varies about a query. A query is plain JSON, so that one that failed can be kept in a file. */

export type Literal = string | number | boolean | null;

/** An expression of the filter language. */
export type Filter =
  | { readonly call: 'and' | 'or' | 'not'; readonly of: readonly Filter[] }
  | {
      readonly call: 'eq' | 'neq' | 'gt' | 'gte' | 'lt' | 'lte' | 'like' | 'in';
      readonly field: string;
      readonly value: Literal | readonly Literal[];
    }
  | { readonly call: 'has'; readonly field: string; readonly text: string }
  | { readonly call: 'search'; readonly text: string };

interface Page {
  readonly offset: number;
  readonly limit: number;
}

/** Pages that follow one another; `then` is the size of every second one. */
interface Pages {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly then?: number;
}

/** Runs; sessions and runs are named by their places. */
interface RunSelection {
  readonly sessions?: readonly number[];
  readonly ids?: readonly number[];
  readonly trace?: number;
  readonly parentRun?: number;
  readonly type?: string;
  readonly error?: boolean;
  readonly isRoot?: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly filter?: Filter;
  readonly searchFilter?: Filter;
  readonly traceFilter?: Filter;
  readonly treeFilter?: Filter;
}

export type Query =
  | ({ readonly of: 'runs' } & Pages & RunSelection)
  | ({ readonly of: 'runs v2' } & Pages & RunSelection)
  | ({ readonly of: 'stats' } & RunSelection)
  | ({
      readonly of: 'sessions';
      readonly filter?: Filter;
      readonly contains?: string;
      readonly metadata?: Readonly<Record<string, Literal>>;
      readonly free?: boolean;
      readonly sort: (typeof SESSION_SORTS)[number];
      readonly key: string;
      readonly descending: boolean;
    } & Page)
  | ({
      readonly of: 'examples';
      readonly filter?: Filter;
      readonly texts?: readonly string[];
      readonly metadata?: Readonly<Record<string, Literal>>;
      readonly splits?: readonly string[];
      readonly order: 'recent' | 'recently_created' | 'id';
      readonly descending?: boolean;
    } & Page)
  | ({
      readonly of: 'feedback';
      readonly sessions?: readonly number[];
      readonly runs?: readonly number[];
      readonly keys?: readonly string[];
      readonly sources?: readonly string[];
      readonly hasComment?: boolean;
      readonly hasScore?: boolean;
      readonly level?: 'run' | 'session';
      readonly from?: string;
      readonly to?: string;
    } & Page)
  | ({ readonly of: 'view'; readonly experiments: readonly number[] } & ViewSelection & Page)
  | ({ readonly of: 'comparison' } & ComparisonSelection & Page)
  | ({ readonly of: 'export'; readonly format?: 'csv' | 'jsonl' } & ComparisonSelection & Page);

interface ComparisonSelection {
  readonly experiments: readonly number[];
  readonly rows?: readonly RowFilter[];
  readonly text?: string;
  readonly sort?: RowSort;
}

interface ViewSelection {
  /** By the place of the experiment among those that are compared. */
  readonly filters: readonly (readonly Filter[])[];
  readonly sortKey?: string;
  readonly ascending: boolean;
}

/** `place` is that of the experiment among those that are compared, from 1 on: 0 is the baseline. */
interface RowFilter {
  readonly place: number;
  readonly key: 'quality' | 'pass';
  readonly kinds: readonly string[];
}

type RowSort =
  | 'regression'
  | 'improvement'
  | 'row'
  | { readonly place: number; readonly key: 'quality' | 'pass' }
  | { readonly slowest: number };

const SESSION_SORTS = ['name', 'start_time', 'runs_count', 'latency_p50', 'error_rate', 'feedback'] as const;
const ROW_KINDS = ['better', 'worse', 'same', 'missing', 'extra', 'errored', 'unscored', 'changed'] as const;

const some = <T>(values: readonly T[]) => fc.constantFrom(...values);
const maybe = <T>(one: fc.Arbitrary<T>, often = 1) =>
  fc.oneof({ weight: 30, arbitrary: fc.constant(undefined) }, { weight: often * 10, arbitrary: one });
const page = { offset: fc.oneof(fc.constant(0), fc.nat(12)), limit: fc.integer({ min: 1, max: 40 }) };
const COMPARATORS = ['eq', 'neq', 'gt', 'gte', 'lt', 'lte'] as const;
type Values = fc.Arbitrary<Literal>;

const time = fc
  .tuple(fc.nat(6), fc.nat(3), fc.nat(2))
  .map(([seconds, milliseconds, rest]) =>
    iso(micros('2026-01-02T00:00:00Z') + seconds * 1_000_000 + milliseconds * 1000 + rest),
  );
const number = fc.oneof(fc.integer({ min: -1, max: 30 }), some([0.25, 0.5, 0.75, 1.5, 1e3, true, false]));
const duration: Values = fc.oneof(
  some([0, 0.2, 1.5, 120, 0.000001, '200ms', '1.5s', '2m', '0s', '9.5s', '1h']),
  fc.nat(12),
);
const word = some([...WORDS, ...NAMES, 'nowhere', '']);
const textOf = (values: readonly string[]): Values => fc.oneof(some(values), some(['nowhere', '', 'a', 'zz']));
/** Patterns with `%` and `_` made from the texts that occur. */
const pattern = fc.tuple(word, fc.nat(5), fc.nat(5), fc.nat(3)).map(([text, from, to, kind]) => {
  const part = text.slice(from, from + to);
  return [`%${part}%`, `${text.slice(0, to)}%`, text.replace(/.$/u, '_'), `%${text.slice(-to)}`][kind]!;
});

/** A comparison of a field with values that it may have. Texts are sorted by the database, so only equal ones are compared. */
function comparison(field: string, values: Values, kind: 'text' | 'other', nulls: boolean): fc.Arbitrary<Filter> {
  const value = nulls
    ? fc.oneof({ weight: 6, arbitrary: values }, { weight: 1, arbitrary: fc.constant(null) })
    : values;
  const compared = fc.record({ call: some(kind === 'text' ? (['eq', 'neq'] as const) : COMPARATORS), value });
  const listed = fc.array(value, { maxLength: 4 }).map((list) => ({ call: 'in' as const, value: list }));
  const alike = pattern.map((text) => ({ call: 'like' as const, value: text }));
  const one = kind === 'text' ? fc.oneof(compared, listed, alike) : fc.oneof(compared, compared, listed);
  return one.map((made) => ({ ...made, field }));
}

const text = (field: string, values: readonly string[]) => comparison(field, textOf(values), 'text', true);
const other = (field: string, values: Values, nulls = true) => comparison(field, values, 'other', nulls);

const metadataConditions = (paths: string): fc.Arbitrary<Filter>[] => [
  text('metadata_key', METADATA_KEYS),
  text('metadata_value', [...MODELS, '1', 'true', 't1', '{"n": 1}', ...WORDS]),
  text(`${paths}.model`, MODELS),
  comparison(`${paths}.n`, fc.nat(4), 'text', true).map(withoutPattern),
  text(`${paths}.a.b`, WORDS),
  text(`${paths}.nested.deep.k`, WORDS),
  text(`${paths}.nested.deep`, ['{"k": "why"}', '{"k": "100%"}']),
  text(`${paths}.missing`, ['anything']),
  fc
    .oneof(
      some(METADATA_KEYS),
      some([
        ...MODELS.map((model) => JSON.stringify({ model })),
        '{"n":1}',
        '{"nested":{"n":1}}',
        '{"nothing":null}',
        '{}',
      ]),
    )
    .map((wanted) => ({ call: 'has' as const, field: 'metadata', text: wanted })),
];

/** Numbers as patterns would be refused. */
function withoutPattern(filter: Filter): Filter {
  return 'value' in filter && filter.call === 'like' ? { ...filter, call: 'eq' } : filter;
}

const search = word.filter((one) => one !== '').map((found) => ({ call: 'search' as const, text: found }));
const feedbackConditions: fc.Arbitrary<Filter>[] = [text('feedback_key', KEYS), other('feedback_score', number)];

/** Expressions of conditions, one inside another. At most one search each, because a filter may have only five. */
function filters(conditions: readonly fc.Arbitrary<Filter>[]): fc.Arbitrary<Filter> {
  const { filter } = fc.letrec<{ filter: Filter }>((tie) => ({
    filter: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      { weight: 5, arbitrary: fc.oneof(...conditions) },
      {
        weight: 3,
        arbitrary: fc.record({
          call: some(['and', 'and', 'or', 'not'] as const),
          of: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }),
        }),
      },
    ),
  }));
  return filter.filter((one) => searchesOf(one) <= 5);
}

function searchesOf(filter: Filter): number {
  if ('of' in filter) return filter.of.reduce((sum, one) => sum + searchesOf(one), 0);
  return filter.call === 'search' ? 1 : 0;
}

export function queries(things: Things): fc.Arbitrary<Query> {
  const runs = [...things.projects, ...things.experiments].flatMap((session) => session.runs);
  const sessions = allSessions(things);
  const runPlace = fc.nat(runs.length - 1);
  const runId = runPlace.map((place) => runs[place]!.id);
  const uuid = (values: Values): Values => fc.oneof<Values[]>(values, fc.uuid());
  const runFilter = filters([
    other('id', uuid(runId), false).map(onlyEqual),
    other('trace_id', uuid(runId)).map(onlyEqual),
    other('parent_run_id', uuid(runId)).map(onlyEqual),
    other('session_id', uuid(some(sessions.map(({ id }) => id)))).map(onlyEqual),
    other('reference_example_id', uuid(some(things.examples.map(({ id }) => id)))).map(onlyEqual),
    text('name', NAMES),
    text('run_type', TYPES),
    text('status', ['success', 'error', 'pending']),
    text('error', ERRORS),
    other('start_time', time),
    other('end_time', time),
    other('latency', duration),
    other('is_root', fc.boolean()).map(onlyEqual),
    text('thread_id', ['t0', 't1', 's0', 's1']),
    ...['total_tokens', 'prompt_tokens', 'completion_tokens', 'total_cost', 'execution_order'].map((name) =>
      other(name, number),
    ),
    ...feedbackConditions,
    text('feedback_value', [...LABELS.map(String), '1']),
    text('feedback_source', SOURCES),
    ...['input', 'output'].flatMap((side) => [
      text(`${side}_key`, MEMBER_KEYS),
      text(`${side}_value`, ['1', 'true', '{"k": "why"}', ...WORDS]),
    ]),
    ...metadataConditions('extra.metadata'),
    some([...TAGS, 'nowhere']).map((tag) => ({ call: 'has' as const, field: 'tags', text: tag })),
    search,
  ]);
  const exampleFilter = filters([
    other('id', uuid(some(things.examples.map(({ id }) => id))), false).map(onlyEqual),
    other('created_at', time, false),
    text(
      'name',
      things.examples.map(({ name }) => name),
    ),
    ...metadataConditions('metadata'),
    search,
  ]);
  const sessionFilter = filters([
    other('id', uuid(some(sessions.map(({ id }) => id))), false).map(onlyEqual),
    text(
      'name',
      sessions.map(({ name }) => name),
    ),
    text(
      'description',
      sessions.map(({ name }) => `about ${name}`),
    ),
    other('start_time', time),
    other('end_time', time),
    other('run_count', number),
    other('error_rate', number),
    other('latency_p50', duration),
    ...feedbackConditions,
    ...metadataConditions('extra.metadata'),
    search,
  ]);
  const selection = {
    sessions: maybe(fc.uniqueArray(fc.nat(sessions.length - 1), { minLength: 1, maxLength: 4 }), 4),
    ids: maybe(fc.uniqueArray(runPlace, { minLength: 1, maxLength: 9 }), 0.3),
    trace: maybe(runPlace, 0.2),
    parentRun: maybe(runPlace, 0.2),
    type: maybe(some(TYPES), 0.5),
    error: maybe(fc.boolean(), 0.5),
    isRoot: maybe(fc.boolean(), 0.5),
    from: maybe(time, 0.5),
    to: maybe(time, 0.5),
    filter: maybe(runFilter, 9),
    searchFilter: maybe(runFilter, 0.5),
    traceFilter: maybe(runFilter, 0.5),
    treeFilter: maybe(runFilter, 0.5),
  };
  // The second version of the list has no such members.
  const none = fc.constant(undefined);
  const pages = {
    order: some(['asc', 'desc'] as const),
    limit: fc.integer({ min: 1, max: 100 }),
    then: maybe(fc.integer({ min: 1, max: 100 })),
  };
  const metadata = some<Readonly<Record<string, Literal>>>([
    { model: 'small' },
    { n: 1 },
    { flag: true, model: 'large' },
    { nothing: null },
  ]);
  const uploads = things.uploads.map((_, place) => place);
  const experiments = fc.shuffledSubarray(uploads, { minLength: 1 });
  const compared = experiments.chain((places) => {
    const place = fc.integer({ min: 1, max: Math.max(1, places.length - 1) });
    const key = some(['quality', 'pass'] as const);
    const kinds = fc.uniqueArray(some(ROW_KINDS), { minLength: 1, maxLength: 3 });
    const plain = some(['regression', 'improvement', 'row'] as const);
    const alone = places.length === 1;
    return fc.record({
      of: some(['comparison', 'export'] as const),
      format: some(['csv', 'jsonl'] as const),
      experiments: fc.constant(places),
      rows: alone
        ? fc.constant(undefined)
        : maybe(fc.array(fc.record({ place, key, kinds }), { minLength: 1, maxLength: 2 }), 2),
      text: maybe(
        word.filter((one) => one !== ''),
        1,
      ),
      sort: alone
        ? maybe(plain, 2)
        : maybe(
            fc.oneof<fc.Arbitrary<RowSort>[]>(
              plain,
              fc.record({ place, key }),
              fc.record({ slowest: fc.nat(places.length - 1) }),
            ),
            4,
          ),
      ...page,
    });
  });
  const query: fc.Arbitrary<Query>[] = [
    fc.record({ of: fc.constant('runs' as const), ...pages, ...selection }),
    fc.record({ of: fc.constant('runs v2' as const), ...pages, ...selection, parentRun: none, searchFilter: none }),
    fc.record({ of: fc.constant('stats' as const), ...selection }),
    fc.record({
      of: fc.constant('sessions' as const),
      filter: maybe(sessionFilter, 6),
      contains: maybe(some(['PROJECT', 'sent', 'one', '_', '%', 'nowhere']), 0.5),
      metadata: maybe(metadata, 0.5),
      free: maybe(fc.boolean(), 0.5),
      sort: some(SESSION_SORTS),
      key: some(KEYS),
      descending: fc.boolean(),
      ...page,
    }),
    fc.record({
      of: fc.constant('examples' as const),
      filter: maybe(exampleFilter, 6),
      texts: maybe(
        fc.array(
          word.filter((one) => one !== ''),
          { minLength: 1, maxLength: 2 },
        ),
        0.5,
      ),
      metadata: maybe(metadata, 0.5),
      splits: maybe(fc.uniqueArray(some([...SPLITS, 'base']), { minLength: 1, maxLength: 2 }), 0.5),
      order: some(['recent', 'recently_created', 'id'] as const),
      descending: maybe(fc.boolean(), 3),
      ...page,
    }),
    fc.record({
      of: fc.constant('feedback' as const),
      sessions: maybe(
        fc.uniqueArray(fc.nat(things.projects.length + things.experiments.length - 1), { minLength: 1, maxLength: 3 }),
        3,
      ),
      runs: maybe(fc.uniqueArray(runPlace, { minLength: 1, maxLength: 9 }), 1),
      keys: maybe(fc.uniqueArray(some([...KEYS, 'nowhere']), { minLength: 1, maxLength: 2 })),
      sources: maybe(fc.uniqueArray(some(SOURCES), { minLength: 1, maxLength: 2 })),
      hasComment: maybe(fc.boolean()),
      hasScore: maybe(fc.boolean()),
      level: maybe(some(['run', 'session'] as const)),
      from: maybe(time, 0.5),
      to: maybe(time, 0.5),
      ...page,
    }),
    experiments.chain((places) =>
      fc.record({
        of: fc.constant('view' as const),
        experiments: fc.constant(places),
        filters: fc.array(fc.array(runFilter, { maxLength: 2 }), { maxLength: places.length }),
        sortKey: maybe(some(KEYS), 3),
        ascending: fc.boolean(),
        ...page,
      }),
    ),
    compared,
  ];
  const weighted = query.map((arbitrary, place) => ({ arbitrary, weight: place === 0 ? 6 : 2 }));
  return fc.oneof<typeof weighted>(...weighted);
}

/** Ids and booleans are compared for equality only. */
function onlyEqual(filter: Filter): Filter {
  if (!('value' in filter) || filter.call === 'in') return filter;
  return { ...filter, call: filter.call === 'neq' || filter.call === 'gt' || filter.call === 'gte' ? 'neq' : 'eq' };
}

/** The expression as text. */
export function written(filter: Filter): string {
  if ('of' in filter) return `${filter.call}(${filter.of.map(written).join(', ')})`;
  if (filter.call === 'search') return `search(${JSON.stringify(filter.text)})`;
  if (filter.call === 'has') return `has(${filter.field}, ${JSON.stringify(filter.text)})`;
  return `${filter.call}(${filter.field}, ${JSON.stringify(filter.value)})`;
}
