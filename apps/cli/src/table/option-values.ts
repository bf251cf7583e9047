import { InvalidArgumentError } from 'commander';
import { itemsOf, type Schema, variants } from '../api/description';
import { isUuid } from '../api/api';
import { kindOf } from '../api/kinds';
import { time } from '../api/lists';

/** Value of an option: its words in help, and the function that makes a value of the text. */
interface OptionValue {
  readonly placeholder: string;
  readonly choices?: readonly string[];
  /** Can be given several times. */
  readonly many: boolean;
  /** @throws InvalidArgumentError */
  readonly parse: (text: string) => unknown;
}

/** The option for a parameter or a member of a body. */
export function optionValue(name: string, schema: Schema): OptionValue {
  const items = itemsOf(schema);
  const single = variants(schema).filter(({ type }) => type !== undefined && type !== 'null' && type !== 'array');
  if (!items) return { ...scalar(name, variants(schema)), many: false };
  const item = scalar(name, variants(items));
  // A list of objects is written as JSON.
  if (item.placeholder === 'json') return { placeholder: 'json', many: false, parse: json };
  const listed = item.choices !== undefined || item.isId;
  const one = single.length > 0 && item.placeholder === 'json or text' ? scalar(name, single) : item;
  if (!listed) return { ...one, many: true };
  return { ...one, placeholder: `${one.placeholder},…`, many: true, parse: (text) => text.split(',').map(one.parse) };
}

interface Scalar extends Omit<OptionValue, 'many'> {
  readonly isId?: boolean;
}

function scalar(name: string, all: readonly Schema[]): Scalar {
  const told = all.filter(({ type }) => type !== 'null');
  const types = new Set(told.flatMap(({ type, properties }) => type ?? (properties ? 'object' : [])));
  const words = told.flatMap((schema) => schema.enum ?? (schema.const === undefined ? [] : [schema.const]));
  const typed = told.filter(({ type }) => type !== undefined);
  if (types.has('object')) return { placeholder: 'json', parse: json };
  if (types.size > 1 && !(types.size === 2 && types.has('integer') && types.has('number'))) return ANY;
  const choices = words.filter((word) => typeof word === 'string');
  if (choices.length > 0 && typed.every((schema) => schema.enum ?? schema.const)) return choice(choices);
  const [type] = types;
  if (type === 'boolean') return { ...choice(['true', 'false']), parse: (text) => choiceOf(BOOLEANS)(text) === 'true' };
  if (type === 'integer' || type === 'number') return number(types.has('number') ? 'number' : 'integer', typed);
  if (type !== 'string') return ANY;
  if (kindOf(name)) return { placeholder: 'id|name', parse: String };
  const formats = typed.map(({ format }) => format);
  if (formats.every((format) => format === 'uuid')) return { placeholder: 'id', parse: uuid, isId: true };
  if (formats.every((format) => format === 'date-time')) return { placeholder: 'time', parse: time };
  return { placeholder: 'text', parse: String };
}

const BOOLEANS = ['true', 'false'];
const ANY: Scalar = { placeholder: 'json or text', parse: anything };

function choice(choices: readonly string[]): Scalar {
  return { placeholder: choices.length <= 3 ? choices.join('|') : 'word', choices, parse: choiceOf(choices) };
}

/** One of these words, in capitals or not. */
function choiceOf(words: readonly string[]): (text: string) => string {
  return (text) => {
    const word = words.find((each) => each.toLowerCase() === text.trim().toLowerCase());
    if (word !== undefined) return word;
    throw new InvalidArgumentError(`It is one of ${words.join(', ')}.`);
  };
}

function number(type: 'integer' | 'number', schemas: readonly Schema[]): Scalar {
  const least = Math.max(...schemas.map(({ minimum = -Infinity }) => minimum));
  const most = Math.min(...schemas.map(({ maximum = Infinity }) => maximum));
  const parse = (text: string) => {
    const value = text.trim() === '' ? NaN : Number(text);
    const right = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
    if (right && value >= least && value <= most) return value;
    const from = least === -Infinity ? '' : ` from ${least}`;
    const to = most === Infinity ? '' : ` up to ${most}`;
    throw new InvalidArgumentError(`It is a ${type === 'integer' ? 'whole number' : 'number'}${from}${to}.`);
  };
  return { placeholder: 'n', parse };
}

function uuid(text: string): string {
  if (isUuid(text)) return text;
  throw new InvalidArgumentError('It is an id, such as 0196b1f0-0000-7000-8000-000000000001.');
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`It is JSON: ${(error as Error).message}.`);
  }
}

function anything(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
