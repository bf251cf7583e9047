/** A JSON schema as far as bodies are made from it. */
interface BodySchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, BodySchema>>;
  readonly additionalProperties?: boolean | BodySchema;
  readonly items?: BodySchema;
  readonly anyOf?: readonly BodySchema[];
  readonly oneOf?: readonly BodySchema[];
  readonly allOf?: readonly BodySchema[];
}

/** A body that grows at one place: `make(n)` holds n units there. */
export interface Growth {
  readonly name: string;
  /** Values and bytes of a unit. */
  readonly unit: { readonly values: number; readonly bytes: number };
  readonly make: (units: number) => unknown;
}

type Path = readonly string[];
const MOST_LEVELS = 4;
/** Characters of a text that count as a unit. */
const TEXT = 'a é -_./:@"\\ ';
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Makes bodies of one document's schemas grow. */
export class GrownBodies {
  constructor(private readonly schemas: Readonly<Record<string, BodySchema>>) {}

  /** All the ways in which a body of a schema can grow; `good` is one that the route takes, as far as it is known. */
  of(schema: BodySchema, good: unknown): Growth[] {
    const body = good ?? this.sample(schema);
    const grown = this.places(schema, [], body).map(({ path, unit }) => {
      const name = path.length > 0 ? path.join('.') : 'the body';
      return growth(`${unit.kind} of ${name}`, body, path, unit.grow);
    });
    const unknown = (units: number) => ({ ...members(units, (n) => [`unknown_${n}`, n]), ...(body as object) });
    return isObject(body) ? [...grown, growth('unknown members', body, [], unknown)] : grown;
  }

  private places(schema: BodySchema, path: Path, good: unknown): { path: Path; unit: Unit }[] {
    if (path.length > MOST_LEVELS) return [];
    const { $ref, items, properties, additionalProperties: others } = schema;
    if ($ref) return this.places(this.named($ref), path, good);
    const choices = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
    if (choices.length > 0) {
      const all = choices.flatMap((choice) => this.places(choice, path, good));
      return [...new Map(all.map((place) => [`${place.unit.kind} ${place.path.join('.')}`, place])).values()];
    }
    if (items) {
      const [first = this.sample(items)] = Array.isArray(good) ? (good as unknown[]) : [];
      const grow = (units: number) => Array.from({ length: units }, (_, n) => distinct(first, n));
      return [{ path, unit: { kind: 'elements', grow } }, ...this.places(items, [...path, '0'], first)];
    }
    const inner = Object.entries(properties ?? {}).flatMap(([name, member]) =>
      this.places(member, [...path, name], isObject(good) ? good[name] : undefined),
    );
    if (properties) return inner;
    if (schema.type === 'object' || isObject(others)) {
      const value = isObject(others) ? this.sample(others) : 'v';
      const grow = (units: number) => members(units, (n) => [`member_${n}`, distinct(value, n)]);
      return [{ path, unit: { kind: 'members', grow } }];
    }
    if (schema.type === 'string' && !schema.enum && schema.const === undefined) {
      return [{ path, unit: { kind: 'text', grow: (units) => TEXT.repeat(units) } }];
    }
    return inner;
  }

  /** The least that a schema takes. */
  private sample(schema: BodySchema): unknown {
    const { $ref, anyOf, oneOf, allOf } = schema;
    if ($ref) return this.sample(this.named($ref));
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return schema.enum[0];
    if (allOf) return Object.assign({}, ...allOf.map((one) => this.sample(one))) as unknown;
    const choice = (anyOf ?? oneOf)?.find(({ type }) => type !== 'null');
    if (choice) return this.sample(choice);
    if (schema.items) return [this.sample(schema.items)];
    if (schema.properties) {
      const { required = [] } = schema;
      return Object.fromEntries(required.map((name) => [name, this.sample(schema.properties![name] ?? {})]));
    }
    const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0];
    if (type === 'string') return SAMPLES[schema.format ?? ''] ?? 'text';
    if (type === 'number' || type === 'integer') return 1;
    if (type === 'boolean') return true;
    return type === 'array' ? [] : {};
  }

  private named(ref: string): BodySchema {
    return this.schemas[ref.split('/').at(-1)!] ?? {};
  }
}

interface Unit {
  readonly kind: 'elements' | 'members' | 'text';
  readonly grow: (units: number) => unknown;
}

const SAMPLES: Readonly<Record<string, string>> = {
  uuid: '019a0000-0000-7000-8000-000000000000',
  'date-time': '2026-01-01T00:00:00Z',
};

function growth(name: string, body: unknown, path: Path, grow: (units: number) => unknown): Growth {
  const few = JSON.stringify(grow(2));
  const unit = { values: Math.ceil(valuesOf(grow(2)) / 2), bytes: Math.ceil(Buffer.byteLength(few) / 2) };
  return { name, unit, make: (units) => withAt(body, path, grow(units)) };
}

/** A copy of a value with another one at a place. */
function withAt(value: unknown, [first, ...rest]: Path, inner: unknown): unknown {
  if (first === undefined) return inner;
  if (Array.isArray(value) || (value === undefined && first === '0')) {
    const [element, ...others] = (value ?? []) as unknown[];
    return [withAt(element, rest, inner), ...others];
  }
  const members = isObject(value) ? value : {};
  return { ...members, [first]: withAt(members[first], rest, inner) };
}

/** The same with other ids and names, so that no two are alike. */
function distinct(value: unknown, n: number): unknown {
  if (Array.isArray(value)) return value.map((inner) => distinct(inner, n));
  if (isObject(value)) return members(Object.entries(value), ([name, inner]) => [name, distinct(inner, n)]);
  if (typeof value !== 'string') return value;
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)) return crypto.randomUUID();
  return /^[a-zA-Z ]+$/.test(value) ? `${value}${n}` : value;
}

function members<T>(of: number | readonly T[], entry: (of: T & number) => readonly [string, unknown]) {
  const all = typeof of === 'number' ? Array.from({ length: of }, (_, n) => n) : of;
  return Object.fromEntries(all.map((one) => entry(one as T & number)));
}

/** Members and elements at all levels together. */
function valuesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, inner) => sum + valuesOf(inner), 1);
}
