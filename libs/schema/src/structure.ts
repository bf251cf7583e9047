import { INVALID, note } from './schema';
import type { Invalid, ParseContext, Schema } from './schema';
import { hide, mapShownElements, mapShownMembers } from './problem';

/** Returns the schema of a list of `item`s, with between `min` and `max` of them. */
export function list<T>(
  item: Schema<T>,
  limits: { readonly min?: number; readonly max?: number } = {},
): Schema<readonly T[]> {
  const { min, max } = limits;
  const redact = redactList(item);
  return {
    label: `list[${item.label}]`,
    json: { type: 'array', items: item.json, minItems: min, maxItems: max },
    exact: (input) => Array.isArray(input),
    ...(redact && { redact }),
    parse(input, context) {
      const fail = (type: string, msg: string, ctx?: Record<string, unknown>): Invalid =>
        context.fail(type, msg, redact ? redact(input) : input, ctx);
      if (!Array.isArray(input)) return fail('list_type', 'Input should be a valid list');
      if (max !== undefined && input.length > max) {
        const msg = `List should have at most ${max} item${max === 1 ? '' : 's'} after validation, not ${input.length}`;
        return fail('too_long', msg, { field_type: 'List', max_length: max, actual_length: input.length });
      }
      const values = parseItems(item, input, context);
      if (values !== INVALID && min !== undefined && input.length < min) {
        const msg = `List should have at least ${min} item${min === 1 ? '' : 's'} after validation, not ${input.length}`;
        return fail('too_short', msg, { field_type: 'List', min_length: min, actual_length: input.length });
      }
      return values;
    },
  };
}

function parseItems<T>(item: Schema<T>, input: readonly unknown[], context: ParseContext): T[] | Invalid {
  const values: T[] = [];
  let valid = true;
  for (let i = 0; i < input.length; i++) {
    context.path.push(i);
    const value = item.parse(input[i], context);
    context.path.pop();
    if (value === INVALID) valid = false;
    else values.push(value);
  }
  return valid ? values : INVALID;
}

function redactList(item: Schema<unknown>): ((input: unknown) => unknown) | undefined {
  const { redact } = item;
  return redact && ((input) => (Array.isArray(input) ? mapShownElements(input, redact) : hide(input)));
}

/**
 * Returns the schema of a list in a query string: the parameter repeated, its values separated by commas, or both.
 * Empty parts are left out.
 */
export function csv<T>(item: Schema<T>, limits: { readonly max?: number } = {}): Schema<readonly T[]> {
  const items = list(item, limits);
  return {
    ...items,
    many: true,
    parse(input, context) {
      const pieces = (Array.isArray(input) ? input : [input]).flatMap((value) => String(value).split(','));
      return items.parse(
        pieces.map((piece) => piece.trim()).filter((piece) => piece !== ''),
        context,
      );
    },
  };
}

/** Returns the schema of an object with any names, whose values all fit `value`. */
export function record<T>(value: Schema<T>): Schema<Readonly<Record<string, T>>> {
  const { redact } = value;
  const redactAll = redact && ((input: unknown) => (isObject(input) ? mapShownMembers(input, redact) : hide(input)));
  return {
    label: `dict[str,${value.label}]`,
    json: { type: 'object', additionalProperties: value.json },
    exact: isObject,
    ...(redactAll && { redact: redactAll }),
    parse(input, context) {
      if (!isObject(input))
        return context.fail('dict_type', 'Input should be a valid dictionary', redactAll ? hide(input) : input);
      const members: [string, T][] = [];
      let valid = true;
      for (const key of Object.keys(input)) {
        context.path.push(key);
        const parsed = value.parse(input[key], context);
        context.path.pop();
        if (parsed === INVALID) valid = false;
        else members.push([key, parsed]);
      }
      // fromEntries defines own members, so a `__proto__` in the input stays a plain member.
      return valid ? Object.fromEntries(members) : INVALID;
    },
  };
}

export const nothing: Schema<null> = {
  label: 'none',
  json: { type: 'null' },
  exact: (input) => input === null,
  parse: (input, context) => (input === null ? null : context.fail('none_required', 'Input should be None', input)),
};

/** A member of LangSmith's API for which Fairlead has no value. */
export const unused = note(nothing, 'Always null; answered because clients expect the member.');

/** Returns the schema of a value or null. Unlike that of an `optional` member, null stays. */
export function nullable<T>(schema: Schema<T>): Schema<T | null> {
  return {
    ...schema,
    json: { anyOf: [schema.json, nothing.json] },
    exact: (input) => input === null || (schema.exact?.(input) ?? false),
    parse: (input, context) => (input === null ? null : schema.parse(input, context)),
  };
}

/** Returns whether a value is an object of JSON. */
export function isObject(input: unknown): input is Record<string, unknown> {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}

/**
 * Returns the schema of a union. The first choice that fits counts; choices that take the input without conversion go
 * first. When none fits, the problems of all choices are listed, with the label of the choice at the end of their
 * places.
 */
export function union<const S extends readonly Schema<unknown>[]>(
  ...choices: S
): Schema<S[number] extends Schema<infer T> ? T : never> {
  type Value = S[number] extends Schema<infer T> ? T : never;
  const all = choices as unknown as readonly Schema<Value>[];
  const hides = all.some((choice) => choice.redact !== undefined);
  return {
    label: `union[${all.map((choice) => choice.label).join(',')}]`,
    json: { anyOf: all.map((choice) => choice.json) },
    exact: (input) => all.some((choice) => choice.exact?.(input) ?? false),
    ...(hides && { redact: hide }),
    parse(input, context) {
      const { problems } = context;
      const { total } = problems;
      for (const choice of all) {
        if (!choice.exact?.(input)) continue;
        const value = choice.parse(input, context);
        if (value !== INVALID) return value;
        problems.forget(total);
      }
      for (const choice of all) {
        context.path.push(choice.label);
        const value = choice.parse(input, context);
        context.path.pop();
        if (value === INVALID) continue;
        problems.forget(total);
        return value;
      }
      return INVALID;
    },
  };
}
