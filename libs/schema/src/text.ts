import type { Invalid, ParseContext, Schema } from './schema';

// U+0000 cannot be stored in PostgreSQL's text, and lone surrogates cannot be written as UTF-8.
const UNSAFE = /[\0\p{Cs}]/u;

/** Limits of a string; lengths count Unicode code points. */
interface TextRules {
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: RegExp;
  /** True: U+0000 and lone surrogates are accepted too, for callers that store the original JSON. */
  readonly anyText?: boolean;
}

/** Returns the schema of a string. No other type is converted to one. */
export function str(rules: TextRules = {}): Schema<string> {
  const { min, max, pattern, anyText = false } = rules;
  const limited = min !== undefined || max !== undefined || pattern !== undefined;
  return {
    label: limited ? 'constrained-str' : 'str',
    json: { type: 'string', minLength: min, maxLength: max, pattern: pattern?.source },
    exact: (input) => typeof input === 'string',
    parse(input, context) {
      if (typeof input !== 'string') return context.fail('string_type', 'Input should be a valid string', input);
      if (!anyText && UNSAFE.test(input)) return failUnsafe(input, context);
      if (!limited) return input;
      if (max !== undefined && input.length > max && countCharacters(input) > max) {
        const msg = `String should have at most ${max} character${max === 1 ? '' : 's'}`;
        return context.fail('string_too_long', msg, input, { max_length: max });
      }
      if (min !== undefined && input.length < 2 * min && countCharacters(input) < min) {
        const msg = `String should have at least ${min} character${min === 1 ? '' : 's'}`;
        return context.fail('string_too_short', msg, input, { min_length: min });
      }
      if (pattern !== undefined && !pattern.test(input)) {
        const msg = `String should match pattern '${pattern.source}'`;
        return context.fail('string_pattern_mismatch', msg, input, { pattern: pattern.source });
      }
      return input;
    },
  };
}

function failUnsafe(input: string, context: ParseContext): Invalid {
  if (/\p{Cs}/u.test(input)) {
    const msg = 'Input should be a valid string, unable to parse raw data as a unicode string';
    return context.fail('string_unicode', msg, input);
  }
  const error = 'the character U+0000 is not allowed';
  return context.fail('value_error', `Value error, ${error}`, input, { error });
}

function countCharacters(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0xdc00 || unit > 0xdfff) count++;
  }
  return count;
}

/**
 * Returns the schema of one of these strings. `aliases`: further accepted spellings of them, which messages do not
 * list.
 */
export function literal<const V extends string>(
  values: readonly V[],
  options: { readonly aliases?: Readonly<Record<string, V>> } = {},
): Schema<V> {
  const accepted = new Map<unknown, V>(values.map((value) => [value, value]));
  for (const [alias, value] of Object.entries(options.aliases ?? {})) accepted.set(alias, value);
  const quoted = values.map((value) => `'${value}'`);
  const last = quoted.pop() ?? '';
  const expected = quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`;
  return {
    label: `literal[${values.map((value) => `'${value}'`).join(',')}]`,
    json: { type: 'string', enum: [...values] },
    exact: (input) => accepted.has(input),
    parse(input, context) {
      const value = accepted.get(input);
      if (value !== undefined) return value;
      return context.fail('literal_error', `Input should be ${expected}`, input, { expected });
    },
  };
}
