import { int } from './number';
import type { Optional } from './object';
import { Problems } from './problem';
import { INVALID, type JsonSchema, ParseContext, type Schema } from './schema';
import { literal } from './text';

/**
 * Returns the schema of a setting's text, which `read` turns into a value. `read` throws an Error with the rest of a
 * sentence that begins with the name of the setting.
 */
export function setting<T>(read: (text: string) => T, json: JsonSchema = { type: 'string' }): Schema<T> {
  return {
    label: 'setting',
    json,
    parse(input, context) {
      try {
        return read(String(input));
      } catch (error) {
        return context.fail('value_error', (error as Error).message, input);
      }
    },
  };
}

/** A whole number in digits; both bounds are inclusive. */
export function whole(ge: number, le: number): Schema<number> {
  return setting((text) => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (value >= ge && value <= le) return value;
    throw new Error(`must be a whole number from ${ge} to ${le}, not ${JSON.stringify(text)}`);
  }, int({ ge, le }).json);
}

/** One of these words, in upper or lower case. */
export function oneOf<const V extends string>(values: readonly V[]): Schema<V> {
  return setting((text) => {
    const value = values.find((known) => known === text.toLowerCase());
    if (value !== undefined) return value;
    throw new Error(`must be ${values.join(', ')} or unset, not ${JSON.stringify(text)}`);
  }, literal(values).json);
}

/** Returns the value of a setting's text. @throws Error with the rest of a sentence that begins with its name */
export function readSetting<T>(schema: Schema<T>, text: string): T {
  const problems = new Problems();
  const value = schema.parse(text, new ParseContext([], problems));
  if (value !== INVALID) return value;
  throw new Error(problems.kept[0]!.msg);
}

/** Returns the value of one of the settings `S`, each of which is an optional member with a description. */
export type Reading<S> = <N extends keyof S>(name: N) => { readonly [K in keyof S]: ValueOfSetting<S[K]> }[N];
type ValueOfSetting<M> = M extends Optional<infer T, infer D> ? T | D : never;
