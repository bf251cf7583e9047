import { Problems, REDACTED } from './problem';
import type { Loc } from './problem';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** What `parse` gives back for a value that does not fit; the reasons are in the context. */
export const INVALID = Symbol('invalid');
export type Invalid = typeof INVALID;

/** One pass over one input: the path walked so far and the problems found. */
export class ParseContext {
  readonly path: (string | number)[];
  /** Above zero while the value of a secret is parsed: its input is never echoed. */
  hidden = 0;

  constructor(
    loc: Loc,
    readonly problems = new Problems(),
  ) {
    this.path = [...loc];
  }

  /** Records a problem at the current path, or one member below it, and answers INVALID. */
  fail(type: string, msg: string, input: unknown, ctx?: Record<string, unknown>, member?: string): Invalid {
    const loc = member === undefined ? [...this.path] : [...this.path, member];
    const shown = this.hidden > 0 ? REDACTED : input;
    this.problems.add(ctx ? { type, loc, msg, input: shown, ctx } : { type, loc, msg, input: shown });
    return INVALID;
  }
}

/**
 * A check of JSON or query values that answers as pydantic 2 does in lax mode: same types, places, sentences and order
 * of problems, same conversions.
 */
export interface Schema<T> {
  /** The converted value, or INVALID with at least one problem recorded. */
  parse(input: unknown, context: ParseContext): T | Invalid;
  /** JSON Schema 2020-12 of what is accepted. */
  readonly json: JsonSchema;
  /** Name of this choice in the places of a union's problems. */
  readonly label: string;
  /** True when the input already has this type, so that a union takes it unconverted. */
  exact?(input: unknown): boolean;
  /** The input without its secrets; present only when the schema holds any. */
  readonly redact?: (input: unknown) => unknown;
  /** True when a repeated query parameter is a list for this schema. */
  readonly many?: boolean;
}

export type Infer<S> = S extends Schema<infer T> ? T : never;

/** Parses `input` found at `loc`; problems go into `problems`. `undefined` when there was one. */
export function check<T>(schema: Schema<T>, input: unknown, loc: Loc, problems: Problems): T | undefined {
  const value = schema.parse(input, new ParseContext(loc, problems));
  return value === INVALID ? undefined : value;
}

/** The same schema for a value that no answer and no log may hold: problems show `[redacted]` instead of it. */
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
 * The same schema, or the same member of an object, with a description for the OpenAPI document and the reference
 * pages: what the value means, its unit, limits that the schema does not show, and what null means.
 */
export function note<S extends Documented>(schema: S, description: string): S;
export function note<M extends { readonly schema: Documented }>(member: M, description: string): M;
export function note(noted: Documented | { readonly schema: Documented }, description: string) {
  if ('json' in noted) return { ...noted, json: { ...noted.json, description } };
  return { ...noted, schema: note(noted.schema, description) };
}

/** A further rule on a parsed value: `rule` answers a sentence when it is broken, which is told as pydantic's value_error. */
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
