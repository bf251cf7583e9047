import type { JsonSchema } from '@fairlead/schema';

/*
 * Shapes of what is answered, as JSON Schema. Unlike the schemas of requests they never parse anything: tests hold real
 * answers against them.
 */

export const text: JsonSchema = { type: 'string' };
export const uuid: JsonSchema = { type: 'string', format: 'uuid' };
/** ISO 8601 with an offset. */
export const time: JsonSchema = { type: 'string', format: 'date-time' };
export const integer: JsonSchema = { type: 'integer' };
export const number: JsonSchema = { type: 'number' };
export const boolean: JsonSchema = { type: 'boolean' };
/** An object with any members. */
export const free: JsonSchema = { type: 'object', additionalProperties: true };
/** Any JSON value. */
export const any: JsonSchema = {};
export const nothing: JsonSchema = { type: 'null' };

export function nullable(shape: JsonSchema): JsonSchema {
  return { anyOf: [shape, nothing] };
}

export function oneOf(...values: readonly string[]): JsonSchema {
  return { type: 'string', enum: values };
}

export function either(...shapes: readonly JsonSchema[]): JsonSchema {
  return { anyOf: shapes };
}

export function list(item: JsonSchema): JsonSchema {
  return { type: 'array', items: item };
}

/** An object with any names. */
export function map(value: JsonSchema): JsonSchema {
  return { type: 'object', additionalProperties: value };
}

/** The same shape with a sentence about it. */
export function noted(shape: JsonSchema, description: string): JsonSchema {
  return { ...shape, description };
}

/** An object with these members; a name that ends in `?` is that of a member that can be absent. */
export function object(title: string, members: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const names = Object.keys(members);
  const required = names.filter((name) => !name.endsWith('?'));
  return {
    title,
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name.replace(/\?$/, ''), members[name]])),
    ...(required.length > 0 && { required }),
  };
}

/** A page of a list; `offset` is where the next page begins. */
export function page(title: string, item: JsonSchema): JsonSchema {
  return object(title, { resources: list(item), offset: noted(integer, 'Pass it on to get the next page.') });
}

/** An object without members. */
export const empty: JsonSchema = { type: 'object', maxProperties: 0 };
