import { INVALID } from './schema';
import type { ParseContext, Schema } from './schema';

/** Bounds of a number, both inclusive. */
interface NumberRules {
  readonly ge?: number;
  readonly le?: number;
}

const INTEGER_TEXT = /^[+-]?\d+(?:_\d+)*(?:\.0+)?$/;
const NUMBER_TEXT = /^[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?$/;
const INFINITE_TEXT = /^[+-]?(?:inf|infinity|nan)$/i;
const TRUE = new Set(['true', '1', 'yes', 'on', 't', 'y']);
const FALSE = new Set(['false', '0', 'no', 'off', 'f', 'n']);

/** An integer; true and false count as 1 and 0, numeric text and numbers without a fraction are converted. */
export function int(rules: NumberRules = {}): Schema<number> {
  return {
    label: rules.ge === undefined && rules.le === undefined ? 'int' : 'constrained-int',
    json: { type: 'integer', minimum: rules.ge, maximum: rules.le },
    exact: (input) => typeof input === 'number' && Number.isInteger(input),
    parse(input, context) {
      if (typeof input === 'number') {
        if (!Number.isFinite(input)) return context.fail('finite_number', 'Input should be a finite number', input);
        if (!Number.isInteger(input)) {
          const msg = 'Input should be a valid integer, got a number with a fractional part';
          return context.fail('int_from_float', msg, input);
        }
        return whole(input, input, rules, context);
      }
      if (typeof input === 'boolean') return bounded(input ? 1 : 0, input, rules, context);
      if (typeof input !== 'string') return context.fail('int_type', 'Input should be a valid integer', input);
      const text = input.trim();
      if (!INTEGER_TEXT.test(text)) {
        const msg = 'Input should be a valid integer, unable to parse string as an integer';
        return context.fail('int_parsing', msg, input);
      }
      return whole(Number(text.replaceAll('_', '')), input, rules, context);
    },
  };
}

function whole(value: number, input: unknown, rules: NumberRules, context: ParseContext) {
  const kept = bounded(value + 0, input, rules, context);
  if (kept === INVALID || Number.isSafeInteger(kept)) return kept;
  const msg = 'Unable to parse input string as an integer, exceeded maximum size';
  return context.fail('int_parsing_size', msg, input);
}

/** A finite number; true and false count as 1 and 0, numeric text is converted. */
export function num(rules: NumberRules = {}): Schema<number> {
  return {
    label: rules.ge === undefined && rules.le === undefined ? 'float' : 'constrained-float',
    json: { type: 'number', minimum: rules.ge, maximum: rules.le },
    exact: (input) => typeof input === 'number' && Number.isFinite(input),
    parse(input, context) {
      let value: number;
      if (typeof input === 'number') value = input;
      else if (typeof input === 'boolean') value = input ? 1 : 0;
      else if (typeof input === 'string') {
        const text = input.trim();
        if (NUMBER_TEXT.test(text)) value = Number(text.replaceAll('_', ''));
        else if (INFINITE_TEXT.test(text)) value = NaN;
        else {
          const msg = 'Input should be a valid number, unable to parse string as a number';
          return context.fail('float_parsing', msg, input);
        }
      } else return context.fail('float_type', 'Input should be a valid number', input);
      if (!Number.isFinite(value)) return context.fail('finite_number', 'Input should be a finite number', input);
      return bounded(value, input, rules, context);
    },
  };
}

function bounded(value: number, input: unknown, { ge, le }: NumberRules, context: ParseContext) {
  if (le !== undefined && value > le) {
    return context.fail('less_than_equal', `Input should be less than or equal to ${le}`, input, { le });
  }
  if (ge !== undefined && value < ge) {
    return context.fail('greater_than_equal', `Input should be greater than or equal to ${ge}`, input, { ge });
  }
  return value;
}

/** Integers from this value on exceed 64 bits; pydantic treats them as another kind of value. */
const LARGEST = 2 ** 63;

/** A boolean; 1/0, true/false, yes/no, on/off, t/f, y/n in any case are converted. */
export function bool(): Schema<boolean> {
  return {
    label: 'bool',
    json: { type: 'boolean' },
    exact: (input) => typeof input === 'boolean',
    parse(input, context) {
      if (typeof input === 'boolean') return input;
      if (input === 1) return true;
      if (input === 0) return false;
      if (typeof input === 'string') {
        const text = input.toLowerCase();
        if (TRUE.has(text)) return true;
        if (FALSE.has(text)) return false;
      } else if (typeof input !== 'number' || !Number.isInteger(input) || Math.abs(input) >= LARGEST) {
        return context.fail('bool_type', 'Input should be a valid boolean', input);
      }
      return context.fail('bool_parsing', 'Input should be a valid boolean, unable to interpret input', input);
    },
  };
}
