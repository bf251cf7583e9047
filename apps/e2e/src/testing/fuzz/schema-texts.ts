import fc from 'fast-check';
import { hostileJson, ODD_STRINGS, oddTime, oddUuid } from './hostile';

/** The part of JSON Schema that the schemas of routes use. */
export interface JsonSchema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
}

export interface Taste {
  /** Number of values in a hundred that are replaced by hostile ones. */
  readonly hostile: number;
  /** Ids of things that exist, by names such as `run_id`. */
  readonly ids: Readonly<Record<string, string>>;
}

const quoted = (text: string) => JSON.stringify(text);
const MOST_MEMBERS = 6;

/** JSON texts made after a schema: what fits it, with hostile values, missing, doubled and further members in between. */
export function textsOf(schema: JsonSchema, taste: Taste, name = ''): fc.Arbitrary<string> {
  const fitting = fittingTexts(schema, taste, name);
  if (taste.hostile === 0) return fitting;
  return fc.oneof(
    { weight: 100 - taste.hostile, arbitrary: fitting },
    { weight: taste.hostile, arbitrary: hostileJson },
  );
}

function fittingTexts(schema: JsonSchema, taste: Taste, name: string): fc.Arbitrary<string> {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) {
    const weigh = (choice: JsonSchema) => (choice.type === 'null' ? 1 : 8);
    return fc.oneof(
      ...choices.map((choice) => ({ weight: weigh(choice), arbitrary: fittingTexts(choice, taste, name) })),
    );
  }
  if (schema.enum) return fc.constantFrom(...schema.enum.map(quoted));
  switch (schema.type) {
    case 'null':
      return fc.constant('null');
    case 'boolean':
      return fc.constantFrom('true', 'false', '1', '"off"');
    case 'integer':
    case 'number':
      return numbers(schema);
    case 'string':
      return strings(schema, taste, name).map(quoted);
    case 'array':
      return fc
        .array(textsOf(schema.items ?? {}, taste, name), { maxLength: 3 })
        .map((items) => `[${items.join(',')}]`);
    case 'object':
      return schema.properties ? objects(schema, schema.properties, taste) : dictionaries(schema, taste);
    default:
      return fc.json();
  }
}

function numbers({ minimum = -1, maximum = 100, type }: JsonSchema): fc.Arbitrary<string> {
  const edges = [minimum, maximum, minimum - 1, maximum + 1, (minimum + maximum) / 2, Math.round(minimum) + 1];
  const more = type === 'integer' ? ['2147483648', '9007199254740991', '1e2'] : ['0.05', '1e308', '5e-324'];
  return fc.constantFrom(...edges.map(String), ...edges.map(String), ...more, `"${maximum}"`);
}

/** Plain strings, by format and, where the schema does not tell more, by the name of the member. */
function strings({ format }: JsonSchema, taste: Taste, name: string): fc.Arbitrary<string> {
  if (format === 'uuid') {
    const all = fc.oneof(fc.constantFrom(...Object.values(taste.ids)), fc.uuid());
    const own = Object.entries(taste.ids).filter(([kind]) => `${name.replace(/_ids?$/, '')}_id`.endsWith(kind));
    const known = own.length > 0 ? fc.constantFrom(...own.map(([, id]) => id)) : all;
    return fc.oneof({ weight: 6, arbitrary: known }, { weight: 2, arbitrary: all }, oddUuid);
  }
  if (format === 'date-time' || name === 'as_of') {
    const usual = fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T00:00:01.5+01:00', '2026-01-01');
    return fc.oneof({ weight: 3, arbitrary: usual }, oddTime);
  }
  if (name.endsWith('filter')) return filters;
  if (name === 'metadata') return fc.oneof(hostileJson, fc.json());
  if (name === 'cursor') return fc.string().map((text) => Buffer.from(`n2026-01-01T${text}`).toString('base64url'));
  const odd = fc.constantFrom(...ODD_STRINGS);
  return fc.oneof({ weight: 3, arbitrary: fc.uuid().map((id) => `fuzz-${id}`) }, { weight: 1, arbitrary: odd });
}

const fields = fc.constantFrom(
  'name',
  'id',
  'start_time',
  'latency',
  'metadata',
  'feedback_key',
  'feedback_score',
  'x',
);
const literals = fc.oneof(hostileJson, fc.constantFrom('"a"', "'b'", '1', 'true', 'null', '["a",1]', '"2s"', '[]'));
const calls = fc.constantFrom('eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'in', 'has', 'exists', 'like', 'toString');
const { filter: filters } = fc.letrec<{ filter: string }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.tuple(calls, fields, literals).map(([call, field, value]) => `${call}(${field}, ${value})`),
    literals.map((value) => `search(${value})`),
    fc.constantFrom(
      '',
      'and()',
      '(((((',
      `${'not('.repeat(30)}eq(name,"a")${')'.repeat(30)}`,
      'eq(name',
      'a'.repeat(30_000),
    ),
    fc
      .tuple(fc.constantFrom('and', 'or', 'not'), fc.array(tie('filter'), { maxLength: 3 }))
      .map(([call, args]) => `${call}(${args.join(',')})`),
  ),
}));

function objects(
  schema: JsonSchema,
  properties: Readonly<Record<string, JsonSchema>>,
  taste: Taste,
): fc.Arbitrary<string> {
  const required = schema.required ?? [];
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  const kept = taste.hostile === 0 ? fc.constant([...required]) : fc.subarray([...required], keepMost(required.length));
  const chosen = fc.tuple(kept, fc.subarray(optional, { maxLength: Math.min(MOST_MEMBERS, optional.length) }));
  const further = fc.oneof(
    { weight: 8, arbitrary: fc.constant<string[]>([]) },
    fc
      .tuple(fc.constantFrom('__proto__', 'constructor', 'tenant_id', 'x', ''), hostileJson)
      .map(([name, value]) => [`${quoted(name)}:${value}`]),
  );
  return chosen.chain(([first, second]) => {
    const names = [...first, ...second, ...(taste.hostile > 0 ? first.slice(0, Number(second.length === 1)) : [])];
    const members = names.map((name) =>
      textsOf(properties[name] ?? {}, taste, name).map((value) => `${quoted(name)}:${value}`),
    );
    return fc
      .tuple(fc.tuple(...members), taste.hostile > 0 ? further : fc.constant<string[]>([]))
      .map(([own, more]) => `{${[...own, ...more].join(',')}}`);
  });
}

/** All but one of the required members at least. */
function keepMost(count: number): { minLength: number } {
  return { minLength: Math.max(0, count - 1) };
}

function dictionaries({ additionalProperties }: JsonSchema, taste: Taste): fc.Arbitrary<string> {
  const values = typeof additionalProperties === 'object' ? textsOf(additionalProperties, taste) : fc.json();
  const entry = fc.tuple(fc.constantFrom('a', 'b', '__proto__', '', ...ODD_STRINGS.slice(0, 12)), values);
  return fc
    .array(entry, { maxLength: 3 })
    .map((entries) => `{${entries.map(([name, value]) => `${quoted(name)}:${value}`).join(',')}}`);
}
