import * as fc from 'fast-check';
import type { Filter, Literal } from './query';
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
  TAGS,
  type Things,
  TYPES,
  WORDS,
} from './things';

export const some = <T>(values: readonly T[]) => fc.constantFrom(...values);
export const maybe = <T>(one: fc.Arbitrary<T>, often = 1) =>
  fc.oneof({ weight: 30, arbitrary: fc.constant(undefined) }, { weight: often * 10, arbitrary: one });
const COMPARATORS = ['eq', 'neq', 'gt', 'gte', 'lt', 'lte'] as const;
type Values = fc.Arbitrary<Literal>;

export const time = fc
  .tuple(fc.nat(6), fc.nat(3), fc.nat(2))
  .map(([seconds, milliseconds, rest]) =>
    iso(micros('2026-01-02T00:00:00Z') + seconds * 1_000_000 + milliseconds * 1000 + rest),
  );
const number = fc.oneof(fc.integer({ min: -1, max: 30 }), some([0.25, 0.5, 0.75, 1.5, 1e3, true, false]));
const duration: Values = fc.oneof(
  some([0, 0.2, 1.5, 120, 0.000001, '200ms', '1.5s', '2m', '0s', '9.5s', '1h']),
  fc.nat(12),
);
export const word = some([...WORDS, ...NAMES, 'nowhere', '']);
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

const uuid = (values: Values): Values => fc.oneof<Values[]>(values, fc.uuid());

/** Filters of runs. */
export function runFilters(things: Things): fc.Arbitrary<Filter> {
  const sessions = allSessions(things);
  const runId = some(
    [...things.projects, ...things.experiments].flatMap((session) => session.runs.map(({ id }) => id)),
  );
  return filters([
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
}

/** Filters of examples. */
export function exampleFilters(things: Things): fc.Arbitrary<Filter> {
  return filters([
    other('id', uuid(some(things.examples.map(({ id }) => id))), false).map(onlyEqual),
    other('created_at', time, false),
    text(
      'name',
      things.examples.map(({ name }) => name),
    ),
    ...metadataConditions('metadata'),
    search,
  ]);
}

/** Filters of sessions. */
export function sessionFilters(things: Things): fc.Arbitrary<Filter> {
  const sessions = allSessions(things);
  return filters([
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
}

/** Ids and booleans are compared for equality only. */
function onlyEqual(filter: Filter): Filter {
  if (!('value' in filter) || filter.call === 'in') return filter;
  return { ...filter, call: filter.call === 'neq' || filter.call === 'gt' || filter.call === 'gte' ? 'neq' : 'eq' };
}
