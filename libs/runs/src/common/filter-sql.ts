import { check, datetime, Problems } from '@fairlead/schema';
import { parseFilter, type FilterNode, type Literal } from './filter';
import { FilterError } from './filter.errors';
import { containing, isSearchable, jsonContaining, type Parameters } from './sql';

type FieldType = 'text' | 'uuid' | 'time' | 'number' | 'duration' | 'boolean';

interface Field {
  readonly sql: string;
  readonly type: FieldType;
  /** SQL that follows from `eq` with a value and lets an index lead to it; `value` is SQL of the value. */
  readonly indexed?: (value: string) => string;
}

/** Fields that speak of one element of a set, such as the key and the score of one feedback. */
interface Family {
  readonly key: string;
  readonly fields: Readonly<Record<string, Field>>;
  exists(condition: string): string;
}

export interface Vocabulary {
  readonly fields: Readonly<Record<string, Field>>;
  readonly families: readonly Family[];
  /** jsonb expressions by the path of an object in an answer: `<path>.<key>` is the text of a member. */
  readonly paths: Readonly<Record<string, string>>;
  /** jsonb expressions for `has(name, '{"k":"v"}')` and `exists(name, "k")`. */
  readonly json: Readonly<Record<string, string>>;
  /** Expressions of plain texts and of JSON as it was sent, which `search` looks through. */
  readonly search: { readonly texts: readonly string[]; readonly json: readonly string[] };
}

/** Metadata of what is filtered, by key and value; `json` is SQL for the jsonb of an object. */
export function metadataFamily(json: string): Family {
  return {
    key: 'metadata_key',
    fields: { metadata_key: { sql: 'm.key', type: 'text' }, metadata_value: { sql: 'm.value', type: 'text' } },
    exists: (condition) =>
      `exists (select 1 from jsonb_each_text(case when jsonb_typeof(${json}) = 'object' then ${json} end) m where ${condition})`,
  };
}

const COMPARATORS: Readonly<Record<string, string>> = {
  eq: 'is not distinct from',
  neq: 'is distinct from',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
};
const CASTS: Readonly<Record<FieldType, string>> = {
  text: 'text',
  uuid: 'uuid',
  time: 'timestamptz',
  number: 'float8',
  duration: 'float8',
  boolean: 'boolean',
};
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const DURATION = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?$/;
const SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };

/**
 * SQL condition for a filter of the SDKs, its values bound as parameters. Understood: and, or, not, eq, neq, gt, gte,
 * lt, lte, in, like (% stands for any text, _ for any character), has, exists and search, over the names of the vocabulary.
 * @throws FilterError naming what is not understood.
 */
export function compileFilter(source: string, vocabulary: Vocabulary, parameters: Parameters): string {
  return compile(parseFilter(source), { vocabulary, parameters });
}

interface Context {
  readonly vocabulary: Vocabulary;
  readonly parameters: Parameters;
}

function compile(node: FilterNode, context: Context): string {
  if (node.kind !== 'call') throw new FilterError(`a call was expected, found ${describe(node)}.`);
  switch (node.name) {
    case 'and':
      return conjunction(node.args, context);
    case 'or':
      return `(${operands(node)
        .map((arg) => compile(arg, context))
        .join(' or ')})`;
    case 'not':
      return `not coalesce(${operands(node)
        .map((arg) => compile(arg, context))
        .join(' and ')}, false)`;
    case 'search':
      return search(node.args, context);
    case 'has':
    case 'exists':
      return contains(node.name, node.args, context);
    default:
      if (!isComparison(node.name)) throw new FilterError(`there is no call '${node.name.slice(0, 40)}'.`);
      return conjunction([node], context);
  }
}

function operands(node: { readonly name: string; readonly args: readonly FilterNode[] }): readonly FilterNode[] {
  if (!node.args.length) throw new FilterError(`${node.name}() needs an argument.`);
  return node.args;
}

/** Comparisons of one family inside one `and` speak of the same element when one of them picks it by its key. */
function conjunction(args: readonly FilterNode[], context: Context): string {
  if (!args.length) throw new FilterError('and() needs an argument.');
  const clauses: string[] = [];
  const picked = new Map<Family, FilterNode[]>();
  for (const arg of args) {
    const family = familyOf(arg, context.vocabulary);
    if (family) picked.set(family, [...(picked.get(family) ?? []), arg]);
    else if (arg.kind === 'call' && isComparison(arg.name))
      clauses.push(comparison(arg, context.vocabulary.fields, context, context.vocabulary.paths));
    else clauses.push(compile(arg, context));
  }
  for (const [family, nodes] of picked) clauses.push(...elementClauses(family, nodes, context));
  return `(${clauses.join(' and ')})`;
}

function elementClauses(family: Family, nodes: readonly FilterNode[], context: Context): string[] {
  const calls = nodes.filter((node) => node.kind === 'call');
  const picks = calls.some((call) => (call.name === 'eq' || call.name === 'in') && fieldName(call) === family.key);
  if (picks) return [family.exists(calls.map((call) => comparison(call, family.fields, context)).join(' and '))];
  return calls.map((call) =>
    call.name === 'neq'
      ? `not ${family.exists(comparison({ ...call, name: 'eq' }, family.fields, context))}`
      : family.exists(comparison(call, family.fields, context)),
  );
}

function familyOf(node: FilterNode, vocabulary: Vocabulary): Family | undefined {
  if (node.kind !== 'call' || !isComparison(node.name)) return undefined;
  const name = fieldName(node);
  return vocabulary.families.find((family) => Object.hasOwn(family.fields, name));
}

function isComparison(name: string): boolean {
  return name === 'in' || name === 'like' || Object.hasOwn(COMPARATORS, name);
}

type Call = Extract<FilterNode, { kind: 'call' }>;

function fieldName(call: Call): string {
  const [field] = call.args;
  if (call.args.length !== 2 || field?.kind !== 'field') {
    throw new FilterError(`${call.name}() takes a field and a value.`);
  }
  return field.name;
}

function comparison(
  call: Call,
  fields: Readonly<Record<string, Field>>,
  { parameters }: Context,
  paths: Vocabulary['paths'] = {},
): string {
  const name = fieldName(call);
  const field = Object.hasOwn(fields, name) ? fields[name] : memberAt(name, paths, parameters);
  if (!field) throw new FilterError(`there is no field '${name.slice(0, 40)}' to compare.`);
  const value = call.args[1];
  const cast = CASTS[field.type];
  if (call.name === 'in') {
    if (value?.kind !== 'list') throw new FilterError(`in(${name}, …) takes a list.`);
    const values = value.values.map((item) => converted(item, name, field.type));
    return `${field.sql} = any(${parameters.add(values, `${cast}[]`)})`;
  }
  if (value?.kind !== 'literal') throw new FilterError(`${call.name}(${name}, …) takes a value.`);
  if (call.name === 'like') {
    if (field.type !== 'text' || typeof value.value !== 'string') throw new FilterError(`like() compares texts.`);
    // A backslash is a character like any other: a pattern that ends in one is no error.
    return `${field.sql} like ${parameters.add(value.value, 'text')} escape ''`;
  }
  const place = parameters.add(converted(value.value, name, field.type), cast);
  const condition = `${field.sql} ${COMPARATORS[call.name]} ${place}`;
  return call.name === 'eq' && field.indexed && value.value !== null
    ? `(${field.indexed(place)} and ${condition})`
    : condition;
}

/** The member that a path such as `extra.metadata.thread_id` names; its key may have dots, or lead into objects. */
function memberAt(name: string, paths: Vocabulary['paths'], parameters: Parameters): Field | undefined {
  const path = Object.keys(paths).find((one) => name.startsWith(`${one}.`));
  if (path === undefined) return undefined;
  const key = name.slice(path.length + 1);
  if (key === '') return undefined;
  const json = paths[path]!;
  const whole = `${json} ->> ${parameters.add(key, 'text')}`;
  if (!key.includes('.')) return { sql: `(${whole})`, type: 'text' };
  return { sql: `coalesce(${whole}, ${json} #>> ${parameters.add(key.split('.'), 'text[]')})`, type: 'text' };
}

function converted(value: Literal, name: string, type: FieldType): Literal {
  if (value === null) return null;
  if (type === 'text' && typeof value === 'string') return value;
  if (type === 'text' && typeof value === 'number') return String(value);
  if (type === 'uuid' && typeof value === 'string' && UUID.test(value)) return value;
  if (type === 'boolean' && typeof value === 'boolean') return value;
  if ((type === 'number' || type === 'duration') && typeof value === 'number' && Number.isFinite(value)) return value;
  if (type === 'number' && typeof value === 'boolean') return Number(value);
  if (type === 'duration' && typeof value === 'string') {
    const match = DURATION.exec(value.trim());
    if (match) return Number(match[1]) * (SECONDS[match[2] ?? 's'] ?? 1);
  }
  const time = type === 'time' && typeof value === 'string' ? check(datetime(), value, [], new Problems()) : undefined;
  if (time) return time.iso;
  throw new FilterError(`${JSON.stringify(value).slice(0, 40)} is not a ${type} to compare '${name}' with.`);
}

function search(args: readonly FilterNode[], { vocabulary, parameters }: Context): string {
  const [words] = args;
  if (args.length !== 1 || words?.kind !== 'literal' || typeof words.value !== 'string') {
    throw new FilterError('search() takes one string.');
  }
  const { texts, json } = vocabulary.search;
  const pattern = parameters.add(containing(words.value), 'text');
  const conditions = texts.map((text) => `${text} ilike ${pattern}`);
  if (json.length > 0) conditions.push(...json.map(jsonContaining(words.value, parameters)));
  return `(${conditions.map((condition) => `coalesce(${condition}, false)`).join(' or ')})`;
}

/** `has(metadata, '{"k":"v"}')` is containment, `has(metadata, "k")` and `exists(metadata, "k")` ask for a key. */
function contains(call: string, args: readonly FilterNode[], { vocabulary, parameters }: Context): string {
  const [field, value] = args;
  if (args.length !== 2 || field?.kind !== 'field' || value?.kind !== 'literal' || typeof value.value !== 'string') {
    throw new FilterError(`${call}() takes a field and a string.`);
  }
  const json = Object.hasOwn(vocabulary.json, field.name) ? vocabulary.json[field.name] : undefined;
  if (!json) throw new FilterError(`${call}() is not supported for '${field.name.slice(0, 40)}'.`);
  if (call === 'has' && isSearchable(value.value)) {
    return `coalesce(${json} @> searchable_json(${parameters.add(value.value, 'text')}), false)`;
  }
  return `coalesce(${json} ? ${parameters.add(value.value, 'text')}, false)`;
}

function describe(node: FilterNode): string {
  if (node.kind === 'field') return `'${node.name.slice(0, 40)}'`;
  return node.kind === 'literal' ? JSON.stringify(node.value).slice(0, 40) : 'a list';
}
