import { BadRequest } from './errors';
import { INVALID } from './schema';
import type { JsonSchema, ParseContext, Schema } from './schema';
import { hide, mapShownMembers, REDACTED } from './problem';
import { isObject } from './structure';

/** A member of an object that may be absent or null, which is the same. */
export interface Optional<T, D = undefined> {
  readonly schema: Schema<T>;
  readonly absent: D;
  readonly alias?: string;
  readonly required: false;
}

/** A member that must be present, under its name or its second name. */
export interface Required<T> {
  readonly schema: Schema<T>;
  readonly alias?: string;
  readonly required: true;
}

export type Member = Schema<unknown> | Optional<unknown, unknown> | Required<unknown>;
type AnyMembers = Readonly<Record<string, Member>>;
type OptionalKeys<M> = {
  [K in keyof M]: K extends `${string}?` ? K : M[K] extends Optional<unknown, undefined> ? K : never;
}[keyof M];
type NameOf<K> = K extends `${infer Name}?` ? Name : K;
type ValueOf<M> =
  M extends Optional<infer T, infer D>
    ? D extends undefined
      ? T
      : T | D
    : M extends Required<infer T>
      ? T
      : M extends Schema<infer T>
        ? T
        : never;
type Flat<T> = { readonly [K in keyof T]: T[K] };
/** The type of the values of `object(members)`: optional members are left out when absent. */
export type Members<M> = Flat<
  { [K in Exclude<keyof M, OptionalKeys<M>>]: ValueOf<M[K]> } & { [K in OptionalKeys<M> as NameOf<K>]?: ValueOf<M[K]> }
>;

/** Declares a member that may be absent or null. It is then left out of the value, or `absent` replaces it. */
export function optional<T>(schema: Schema<T>): Optional<T>;
export function optional<T, D extends T>(schema: Schema<T>, absent: D): Optional<T, D>;
export function optional<T>(schema: Schema<T>, absent?: T): Optional<T, T | undefined> {
  return { schema, absent, required: false };
}

/** Declares a second name for a member. Either is accepted; both with different values are a BadRequest. */
export function member<T, D>(inner: Optional<T, D>, options: { readonly alias: string }): Optional<T, D>;
export function member<T>(inner: Schema<T>, options: { readonly alias: string }): Required<T>;
export function member<T>(
  inner: Schema<T> | Optional<T, unknown>,
  options: { readonly alias: string },
): Required<T> | Optional<T, unknown> {
  return 'parse' in inner
    ? { schema: inner, required: true, alias: options.alias }
    : { ...inner, alias: options.alias };
}

interface Field {
  readonly name: string;
  readonly alias: string | undefined;
  readonly schema: Schema<unknown>;
  readonly required: boolean;
  readonly isNullAbsent: boolean;
  readonly absent: unknown;
}

/**
 * Returns the schema of an object with these members; `title` names it in the OpenAPI document. Other members are
 * ignored, or refused when it is `closed`, for requests whose meaning a missing member would change. Problems are in
 * the order of `members`. A member whose name ends in `?` may be absent, but not null as `optional` ones.
 */
export function object<const M extends AnyMembers>(members: M): ObjectSchema<Members<M>>;
export function object<const M extends AnyMembers>(
  title: string,
  members: M,
  options?: { readonly closed?: boolean },
): ObjectSchema<Members<M>>;
export function object<const M extends AnyMembers>(
  ...args: readonly [M] | readonly [string, M, { readonly closed?: boolean }?]
): ObjectSchema<Members<M>> {
  const [title, members, { closed = false } = {}] = args.length === 1 ? ([undefined, args[0]] as const) : args;
  const fields = Object.entries(members).map(([key, entry]): Field => {
    const name = key.replace(/\?$/, '');
    if (name in Object.prototype) throw new Error(`A member cannot be named ${name}`);
    const plain = { name, alias: undefined, absent: undefined, isNullAbsent: false };
    if ('parse' in entry) return { ...plain, schema: entry, required: name === key };
    return { ...plain, ...entry, isNullAbsent: !entry.required };
  });
  const redact = fields.some((field) => field.schema.redact) ? redactFields(fields) : undefined;
  const known = new Set(fields.flatMap(({ name, alias }) => [name, alias]));
  return {
    label: title ?? 'object',
    json: { ...describe(fields, title), ...(closed && { additionalProperties: false }) },
    exact: isObject,
    lists: new Set(fields.filter((field) => field.schema.many).map((field) => field.name)),
    ...(redact && { redact }),
    parse(input, context) {
      if (!isObject(input)) {
        const msg = 'Input should be a valid dictionary or object to extract fields from';
        return context.fail('model_attributes_type', msg, redact ? hide(input) : input);
      }
      const value: Record<string, unknown> = {};
      let valid = true;
      // The same for every member that is missing.
      let redacted: unknown;
      const shownInput = redact && (() => (redacted ??= redact(input)));
      for (const field of fields) {
        const found = parseField(field, input, context, shownInput);
        if (found === INVALID) valid = false;
        else if (found !== undefined) value[field.name] = found;
      }
      for (const name of closed ? Object.keys(input).filter((key) => !known.has(key)) : []) {
        const shown = redact ? REDACTED : input[name];
        context.fail('extra_forbidden', 'Extra inputs are not permitted', shown, undefined, name);
        valid = false;
      }
      return valid ? (value as Members<M>) : INVALID;
    },
  };
}

/** An object without members. */
export const empty: Schema<Readonly<Record<string, never>>> = {
  ...object({}),
  json: { type: 'object', maxProperties: 0 },
};

/** The schema of an object. `lists`: members that are lists in a query string. */
export interface ObjectSchema<T> extends Schema<T> {
  readonly lists: ReadonlySet<string>;
}

function parseField(
  field: Field,
  input: Record<string, unknown>,
  context: ParseContext,
  redacted: (() => unknown) | undefined,
): unknown {
  let found = input[field.name];
  let name = field.name;
  if (field.alias !== undefined) {
    const other = input[field.alias];
    if (found === undefined || (found === null && other !== undefined)) {
      if (other !== undefined) [found, name] = [other, field.alias];
    } else if (other !== undefined && other !== null && JSON.stringify(found) !== JSON.stringify(other)) {
      throw new BadRequest(`The members ${field.name} and ${field.alias} mean the same but have different values.`);
    }
  }
  if (found === undefined || (found === null && field.isNullAbsent)) {
    if (!field.required) return field.absent;
    return context.fail('missing', 'Field required', redacted ? redacted() : input, undefined, name);
  }
  context.path.push(name);
  const value = field.schema.parse(found, context);
  context.path.pop();
  return value;
}

// Undeclared members of an object with secrets may be misspelled secrets, so they are hidden as well.
function redactFields(fields: readonly Field[]): (input: unknown) => unknown {
  const byName = new Map<string, Schema<unknown>>();
  for (const { name, alias, schema } of fields) {
    byName.set(name, schema);
    if (alias !== undefined) byName.set(alias, schema);
  }
  return (input) => {
    if (!isObject(input)) return hide(input);
    return mapShownMembers(input, (value, key) => {
      const schema = byName.get(key);
      if (schema === undefined) return REDACTED;
      return schema.redact ? schema.redact(value) : value;
    });
  };
}

function describe(fields: readonly Field[], title: string | undefined): JsonSchema {
  const properties = fields.map((field) => {
    const json = field.isNullAbsent ? orNull(field.schema.json) : field.schema.json;
    return [field.name, field.absent === undefined ? json : { ...json, default: field.absent }];
  });
  const required = fields.filter((field) => field.required).map((field) => field.name);
  return {
    type: 'object',
    ...(title !== undefined && { title }),
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}

/** Returns the schema with null added; the description remains that of the whole member. */
function orNull({ description, ...json }: JsonSchema): JsonSchema {
  return { anyOf: [json, { type: 'null' }], ...(description !== undefined && { description }) };
}
