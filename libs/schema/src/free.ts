import { INVALID } from './schema';
import type { Invalid, ParseContext, Schema } from './schema';
import { isObject } from './structure';

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type JsonObject = { [name: string]: Json };

/** A free-form JSON object, stored exactly as parsed. Numbers that JSON.parse cannot represent are refused. */
export function dict(): Schema<JsonObject> {
  return {
    ...rawDict(),
    parse(input, context) {
      if (!isObject(input)) return context.fail('dict_type', 'Input should be a valid dictionary', input);
      return keepsNumbers(input, context) ? (input as JsonObject) : INVALID;
    },
  };
}

/** A free-form JSON object for callers that store the original bytes: only its type is checked. */
export function rawDict(): Schema<JsonObject> {
  return {
    label: 'dict[any,any]',
    json: { type: 'object', additionalProperties: true },
    exact: isObject,
    parse(input, context) {
      if (isObject(input)) return input as JsonObject;
      return context.fail('dict_type', 'Input should be a valid dictionary', input);
    },
  };
}

/** An object with any members, such as a value that the database answers as it was stored. */
export const anyObject: () => Schema<object> = rawDict;

/** Any JSON value, stored exactly as parsed. Numbers that JSON.parse cannot represent are refused. */
export function anyJson(): Schema<unknown> {
  return {
    label: 'any',
    json: {},
    exact: () => true,
    parse: (input, context) => (keepsNumbers(input, context) ? input : INVALID),
  };
}

function keepsNumbers(value: unknown, context: ParseContext): boolean {
  if (typeof value === 'number') {
    return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
      ? true
      : failNumber(value, context) !== INVALID;
  }
  if (typeof value !== 'object' || value === null) return true;
  let valid = true;
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const child = (value as Record<string | number, unknown>)[key];
    if (typeof child !== 'number' && (typeof child !== 'object' || child === null)) continue;
    context.path.push(key);
    if (!keepsNumbers(child, context)) valid = false;
    context.path.pop();
  }
  return valid;
}

function failNumber(value: number, context: ParseContext): Invalid {
  if (!Number.isFinite(value)) return context.fail('finite_number', 'Input should be a finite number', String(value));
  const error = 'integers beyond 2^53 cannot be kept exactly; send them as text';
  return context.fail('value_error', `Value error, ${error}`, value, { error });
}
