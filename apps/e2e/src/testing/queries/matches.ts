import type { Filter, Literal } from './query';
import { type Json, type Members, micros, WRITERS } from './things';

/**
 * The naive evaluation: every query is answered by a look at each thing in memory. A comparison with what is not there
 * is false, but for `eq` and `neq`, which take null for a value.
 */

type Value = string | number | boolean | null;
type Kind = 'text' | 'uuid' | 'time' | 'number' | 'duration' | 'boolean';
type Element = Readonly<Record<string, Value>>;

/** Elements that a condition may be about, such as the feedback of a run; `key` is the member that picks one. */
export interface Family {
  readonly key: string;
  readonly elements: readonly Element[];
}

/** A thing as filters see it. */
export interface Subject {
  readonly fields: Readonly<Record<string, Value>>;
  readonly families: readonly Family[];
  readonly paths: Readonly<Record<string, Json>>;
  readonly json: Readonly<Record<string, Json>>;
  readonly texts: readonly (string | null)[];
}

const KINDS: Readonly<Record<string, Kind>> = {
  ...{ id: 'uuid', trace_id: 'uuid', parent_run_id: 'uuid', session_id: 'uuid', reference_example_id: 'uuid' },
  ...{ reference_dataset_id: 'uuid', start_time: 'time', end_time: 'time', created_at: 'time', modified_at: 'time' },
  ...{ latency: 'duration', latency_p50: 'duration', latency_p99: 'duration', is_root: 'boolean', run_count: 'number' },
  ...{ execution_order: 'number', total_tokens: 'number', prompt_tokens: 'number', completion_tokens: 'number' },
  ...{ total_cost: 'number', error_rate: 'number', test_run_number: 'number', feedback_score: 'number' },
};
const UNITS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };

export function matches(filter: Filter, subject: Subject): boolean {
  switch (filter.call) {
    case 'and':
      return together(filter.of, subject);
    case 'or':
      return filter.of.some((one) => matches(one, subject));
    case 'not':
      return !filter.of.every((one) => matches(one, subject));
    case 'search':
      return subject.texts.some((text) => text !== null && contains(text, filter.text));
    case 'has':
      return has(subject.json[filter.field] ?? null, filter.text);
    default:
      return together([filter], subject);
  }
}

/** Conditions on one family that stand in one `and` are about the same element once one of them picks it by its key. */
function together(filters: readonly Filter[], subject: Subject): boolean {
  const about = (family: Family) =>
    filters.filter((one) => 'value' in one && Object.hasOwn(SHAPES[family.key]!, one.field)) as Comparison[];
  const rest = filters.filter((one) => !subject.families.some((family) => about(family).includes(one as Comparison)));
  return (
    rest.every((one) => ('value' in one ? compare(one, valueAt(one.field, subject)) : matches(one, subject))) &&
    subject.families.every((family) => ofFamily(about(family), family))
  );
}

type Comparison = Extract<Filter, { value: unknown }>;

const SHAPES: Readonly<Record<string, Readonly<Record<string, true>>>> = {
  feedback_key: { feedback_key: true, feedback_score: true, feedback_value: true, feedback_source: true },
  input_key: { input_key: true, input_value: true },
  output_key: { output_key: true, output_value: true },
  metadata_key: { metadata_key: true, metadata_value: true },
};

function ofFamily(comparisons: readonly Comparison[], { key, elements }: Family): boolean {
  const any = (...wanted: Comparison[]) =>
    elements.some((element) => wanted.every((one) => compare(one, element[one.field] ?? null)));
  if (comparisons.some(({ call, field }) => (call === 'eq' || call === 'in') && field === key))
    return any(...comparisons);
  return comparisons.every((one) => (one.call === 'neq' ? !any({ ...one, call: 'eq' }) : any(one)));
}

function valueAt(field: string, { fields, paths }: Subject): Value {
  if (Object.hasOwn(fields, field)) return fields[field]!;
  const path = Object.keys(paths).find((one) => field.startsWith(`${one}.`))!;
  const key = field.slice(path.length + 1);
  const json = paths[path];
  const whole = member(json, key);
  return shown(whole ?? (key.includes('.') ? key.split('.').reduce<Json | undefined>(member, json) : undefined));
}

function member(json: Json | undefined, name: string): Json | undefined {
  if (json === null || json === undefined || typeof json !== 'object' || Array.isArray(json)) return undefined;
  return Object.hasOwn(json, name) ? ((json as Members)[name] ?? undefined) : undefined;
}

/** The text of a member: that of a string without its quotation marks, of others as PostgreSQL writes it. */
export function shown(json: Json | undefined): string | null {
  if (json === null || json === undefined) return null;
  return typeof json === 'string' ? json : written(json);
}

function written(json: Json): string {
  if (json === null || typeof json !== 'object') return JSON.stringify(json);
  if (Array.isArray(json)) return `[${json.map((item: Json) => written(item)).join(', ')}]`;
  const names = Object.keys(json).sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  return `{${names.map((name) => `${JSON.stringify(name)}: ${written((json as Members)[name]!)}`).join(', ')}}`;
}

function compare({ call, field, value }: Comparison, found: Value): boolean {
  const kind = KINDS[field] ?? 'text';
  if (call === 'in')
    return found !== null && (value as readonly Literal[]).some((one) => found === converted(one, kind));
  const wanted = converted(value as Literal, kind);
  if (call === 'eq') return found === wanted;
  if (call === 'neq') return found !== wanted;
  if (found === null || wanted === null) return false;
  if (call === 'like') return like(String(found), String(wanted));
  if (call === 'gt') return found > wanted;
  if (call === 'gte') return found >= wanted;
  return call === 'lt' ? found < wanted : found <= wanted;
}

function converted(value: Literal, kind: Kind): Value {
  if (value === null) return null;
  if (kind === 'text') return String(value);
  if (kind === 'uuid') return String(value).toLowerCase();
  if (kind === 'time') return micros(String(value));
  if (kind === 'number' && typeof value === 'boolean') return value ? 1 : 0;
  if (kind !== 'duration' || typeof value === 'number') return value;
  const [, amount, unit = 's'] = /^([\d.]+)(\w*)$/.exec(String(value))!;
  return Number(amount) * UNITS[unit || 's']!;
}

function like(text: string, pattern: string): boolean {
  const expression = pattern
    .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('%', '.*')
    .replaceAll('_', '.');
  return new RegExp(`^${expression}$`, 'su').test(text);
}

/** The texts that a search looks through: JSON as it was sent, and the same without its escapes. */
export function textsOf(json: Json, writer: number): string[] {
  if (json === null) return [];
  const sent = WRITERS[writer]!(json);
  const shorts: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };
  const read = sent.replaceAll(/\\(?:u([0-9a-f]{4})|(.))/g, (_, hex: string | undefined, short: string) =>
    hex === undefined ? (shorts[short] ?? short) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return [sent, read];
}

export function contains(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}

/** Containment of an object, else the presence of a member, an element or a text. */
function has(json: Json, text: string): boolean {
  if (text.startsWith('{')) return includes(json, JSON.parse(text) as Json);
  if (Array.isArray(json)) return json.includes(text);
  return json !== null && typeof json === 'object' && Object.hasOwn(json, text);
}

export function includes(json: Json | undefined, part: Json): boolean {
  if (part === null || typeof part !== 'object') return json === part;
  if (json === null || json === undefined || typeof json !== 'object') return false;
  if (Array.isArray(part)) {
    return Array.isArray(json) && part.every((one: Json) => json.some((item: Json) => includes(item, one)));
  }
  return (
    !Array.isArray(json) &&
    Object.entries(part).every(([name, value]) => Object.hasOwn(json, name) && includes((json as Members)[name], value))
  );
}
