import { Problems, REDACTED } from './problem';
import type { Loc } from './problem';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The result of `parse` for a value that does not fit; the problems are in the context. */
export const INVALID = Symbol('invalid');
export type Invalid = typeof INVALID;

/** One pass over one input: the current path, and the problems found so far. */
export class ParseContext {
  readonly path: (string | number)[];
  /** Above zero while a secret is parsed: its input is never shown. */
  hidden = 0;

  constructor(
    loc: Loc,
    readonly problems = new Problems(),
  ) {
    this.path = [...loc];
  }

  /** Records a problem at the current path, or one member below it. Returns INVALID. */
  fail(type: string, msg: string, input: unknown, ctx?: Record<string, unknown>, member?: string): Invalid {
    const loc = member === undefined ? [...this.path] : [...this.path, member];
    const shown = this.hidden > 0 ? REDACTED : input;
    this.problems.add(ctx ? { type, loc, msg, input: shown, ctx } : { type, loc, msg, input: shown });
    return INVALID;
  }
}

/**
 * Checks and converts JSON or query values as pydantic 2 does in lax mode: with the same types, places, sentences and
 * order of problems, and the same conversions.
 */
export interface Schema<T> {
  /** Returns the converted value, or INVALID with at least one recorded problem. */
  parse(input: unknown, context: ParseContext): T | Invalid;
  /** JSON Schema 2020-12 of the accepted values. */
  readonly json: JsonSchema;
  /** Name of this choice in the places of problems of a union. */
  readonly label: string;
  /** Returns whether the input already has this type, so that a union takes it without conversion. */
  exact?(input: unknown): boolean;
  /** Returns the input without its secrets; present only when the schema contains any. */
  readonly redact?: (input: unknown) => unknown;
  /** True when a repeated query parameter is a list for this schema. */
  readonly many?: boolean;
}

export type Infer<S> = S extends Schema<infer T> ? T : never;

/** Parses `input` at the place `loc` and adds problems to `problems`. Returns undefined when there was one. */
export function check<T>(schema: Schema<T>, input: unknown, loc: Loc, problems: Problems): T | undefined {
  const value = schema.parse(input, new ParseContext(loc, problems));
  return value === INVALID ? undefined : value;
}

/** Returns the schema for a secret: problems show `[redacted]` in place of its value. */
export function secret<T>(schema: Schema<T>): Schema<T> {
  return {
    ...schema,
    json: { ...schema.json, format: 'password', writeOnly: true },
    parse(input, context) {
      context.hidden++;
      const value = schema.parse(input, context);
      context.hidden--;
      return value;
    },
    redact: () => REDACTED,
  };
}

type Documented = { readonly json: JsonSchema };

/**
 * Returns the schema, or the member of an object, with a description for the OpenAPI document and the reference pages:
 * what the value means, its unit, limits that the schema does not show, and what null means.
 */
export function note<S extends Documented>(schema: S, description: string): S;
export function note<M extends { readonly schema: Documented }>(member: M, description: string): M;
export function note(noted: Documented | { readonly schema: Documented }, description: string) {
  if ('json' in noted) return { ...noted, json: { ...noted.json, description } };
  return { ...noted, schema: note(noted.schema, description) };
}

/**
 * Adds a rule for the parsed value. When it is broken, `rule` returns a sentence, which becomes a value_error of
 * pydantic.
 */
export function refine<T>(schema: Schema<T>, rule: (value: T) => string | undefined): Schema<T> {
  return {
    ...schema,
    parse(input, context) {
      const value = schema.parse(input, context);
      if (value === INVALID) return value;
      const error = rule(value);
      if (error === undefined) return value;
      return context.fail('value_error', `Value error, ${error}`, schema.redact ? schema.redact(input) : input, {
        error,
      });
    },
  };
}
