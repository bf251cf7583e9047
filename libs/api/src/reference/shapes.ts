import type { Readable } from 'node:stream';
import type { JsonSchema } from '@fairlead/schema';

/*
 * Shapes of what is answered, as JSON Schema. Unlike the schemas of requests they never parse anything: the compiler
 * holds the handlers to them, and tests hold real answers against them.
 */

declare const answered: unique symbol;

/** The JSON Schema of a `T` in an answer. */
export type Shape<T> = JsonSchema & { readonly [answered]: () => T };

/** The type of the values of a shape; `unknown` for JSON Schema without a type. */
export type Shaped<S> = S extends Shape<infer T> ? T : unknown;

type Members = Readonly<Record<string, JsonSchema>>;
type Flat<T> = { readonly [K in keyof T]: T[K] };
type ObjectOf<M> = Flat<
  { [K in keyof M as K extends `${string}?` ? never : K]: Shaped<M[K]> } & {
    [K in keyof M as K extends `${infer Name}?` ? Name : never]?: Shaped<M[K]>;
  }
>;

function shape<T>(json: JsonSchema): Shape<T> {
  return json as Shape<T>;
}

export const text = shape<string>({ type: 'string' });
export const uuid = shape<string>({ type: 'string', format: 'uuid' });
/** ISO 8601 with an offset. */
export const time = shape<string>({ type: 'string', format: 'date-time' });
export const integer = shape<number>({ type: 'integer' });
export const number = shape<number>({ type: 'number' });
export const boolean = shape<boolean>({ type: 'boolean' });
/** An object with any members. */
export const free = shape<object>({ type: 'object', additionalProperties: true });
/** Any JSON value. */
export const any = shape<unknown>({});
export const nothing = shape<null>({ type: 'null' });
/** A member of LangSmith's API for which Fairlead has no value. */
export const unused = shape<null>({
  type: 'null',
  description: 'Always null; answered because clients expect the member.',
});

export function nullable<S extends JsonSchema>(inner: S): Shape<Shaped<S> | null> {
  return shape({ anyOf: [inner, nothing] });
}

export function oneOf<const V extends string>(...values: readonly V[]): Shape<V> {
  return shape({ type: 'string', enum: values });
}

export function either<const S extends readonly JsonSchema[]>(...shapes: S): Shape<Shaped<S[number]>> {
  return shape({ anyOf: shapes });
}

export function list<S extends JsonSchema>(item: S): Shape<readonly Shaped<S>[]> {
  return shape({ type: 'array', items: item });
}

/** Returns the shape of an object with any names of members. */
export function map<S extends JsonSchema>(value: S): Shape<Readonly<Record<string, Shaped<S>>>> {
  return shape({ type: 'object', additionalProperties: value });
}

/** Returns the shape with a description. */
export function noted<S extends JsonSchema>(inner: S, description: string): S {
  return { ...inner, description };
}

/** Returns the shape of an object. A member whose name ends in `?` may be absent. */
export function object<M extends Members>(title: string, members: M): Shape<ObjectOf<M>> {
  const names = Object.keys(members);
  const required = names.filter((name) => !name.endsWith('?'));
  return shape({
    title,
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name.replace(/\?$/, ''), members[name]])),
    ...(required.length > 0 && { required }),
  });
}

/** Returns the shape of a page of a list; `offset` is where the next page begins. */
export function page<S extends JsonSchema>(title: string, item: S) {
  return object(title, {
    resources: noted(list(item), 'The items of this page.'),
    offset: noted(integer, 'The `offset` of the next page: the one of the request plus the number of items here.'),
  });
}

/** As `page`, with the number of all items. */
export function countedPage<S extends JsonSchema>(title: string, item: S) {
  return object(title, {
    resources: noted(list(item), 'The items of this page.'),
    offset: noted(integer, 'The `offset` of the next page: the one of the request plus the number of items here.'),
    total: noted(integer, 'Number of items on all pages together.'),
  });
}

/** An object without members. */
export const empty = shape<Readonly<Record<string, never>>>({ type: 'object', maxProperties: 0 });

/** Returns the shape for a handler that returns it as JSON text. */
export function asText<S extends JsonSchema>(inner: S): Shape<Shaped<S> | string | Uint8Array | Readable> {
  return shape(inner);
}
