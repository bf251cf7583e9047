import {
  type Example,
  type Feedback,
  type Json,
  type Members,
  micros,
  type Run,
  type Session,
  WRITERS,
} from './things';
import type { Filter, Literal } from './vary';

/**
 * The naive evaluation: every query is answered by a look at each thing in memory. A comparison with what is not there
 * is false, but for `eq` and `neq`, which take null for a value.
 */

type Value = string | number | boolean | null;
type Kind = 'text' | 'uuid' | 'time' | 'number' | 'duration' | 'boolean';
type Element = Readonly<Record<string, Value>>;

/** Elements that a condition may be about, such as the feedback of a run; `key` is the member that picks one. */
interface Family {
  readonly key: string;
  readonly elements: readonly Element[];
}

/** A thing as filters see it. */
interface Subject {
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
function shown(json: Json | undefined): string | null {
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

const elementsOf = (side: string, json: Members | null): Family => ({
  key: `${side}_key`,
  elements: Object.entries(json ?? {}).map(([name, value]) => ({
    [`${side}_key`]: name,
    [`${side}_value`]: shown(value),
  })),
});

const feedbackOf = (given: readonly Feedback[]): Family => ({
  key: 'feedback_key',
  elements: given.map(({ key, score, value, source }) => ({
    ...{ feedback_key: key, feedback_score: score, feedback_source: source },
    feedback_value: value === null ? null : String(value),
  })),
});

/** Seconds that a run took, null while it goes on. */
export function latencyOf({ start, end }: Run): number | null {
  return end === null ? null : Math.max(0, (micros(end) - micros(start)) / 1_000_000);
}

function statusOf({ error, end }: Run): string {
  return error !== null ? 'error' : end === null ? 'pending' : 'success';
}

const USAGE = ['total', 'input', 'output'] as const;

/** The tokens and the cost that a run itself says it used. What an upload says in its outputs is not read. */
export function usedBy({
  outputs,
  row,
}: Run): { total: number; input: number; output: number; cost: number | null } | undefined {
  const usage = outputs?.usage_metadata as Members | undefined;
  if (!usage || row !== undefined) return undefined;
  const [total, input, output] = USAGE.map((name) => Number(usage[`${name}_tokens`] ?? 0));
  return { total: total!, input: input!, output: output!, cost: (usage.total_cost as number | undefined) ?? null };
}

export function runSubject(run: Run): Subject {
  const used = usedBy(run);
  const metadata = run.metadata ?? {};
  const thread = metadata.session_id ?? metadata.thread_id ?? null;
  return {
    fields: {
      ...{ id: run.id, trace_id: run.trace ?? run.id, parent_run_id: run.parent, session_id: run.session },
      ...{ reference_example_id: run.example, reference_dataset_id: run.dataset, name: run.name, run_type: run.type },
      ...{ status: statusOf(run), error: run.error, start_time: micros(run.start) },
      ...{ end_time: run.end === null ? null : micros(run.end), latency: latencyOf(run), is_root: run.parent === null },
      ...{ thread_id: thread as string | null, execution_order: 1, total_tokens: used?.total ?? 0 },
      ...{ prompt_tokens: used?.input ?? 0, completion_tokens: used?.output ?? 0, total_cost: used?.cost ?? 0 },
    },
    families: [
      feedbackOf(run.feedback),
      elementsOf('input', run.inputs),
      elementsOf('output', run.outputs),
      elementsOf('metadata', run.metadata),
    ],
    paths: { 'extra.metadata': run.metadata },
    json: { metadata: run.metadata, tags: run.tags ?? [] },
    texts: [run.name, ...[run.error, run.inputs, run.outputs].flatMap((json) => textsOf(json, run.writer))],
  };
}

/** The metadata of an example as answers show them: one in no split is in `base`. */
export function shownMetadata({ metadata, splits }: Example): Members {
  return { ...metadata, dataset_split: splits.length > 0 ? splits : ['base'] };
}

export function exampleSubject(example: Example): Subject {
  const metadata = shownMetadata(example);
  const { id, name, inputs, outputs, writer } = example;
  return {
    fields: { id, name, created_at: micros(example.created), modified_at: micros(example.modified) },
    families: [elementsOf('metadata', metadata)],
    paths: { metadata },
    json: { metadata },
    texts: [name, ...textsOf(inputs, writer), ...textsOf(outputs, writer)],
  };
}

export function sessionSubject(session: Session): Subject {
  const roots = session.runs.filter(({ parent }) => parent === null);
  const { latency_p50, latency_p99, error_rate } = latenciesOf(roots);
  const { id, name, description, metadata, dataset, runs, feedback } = session;
  const means = [runs.flatMap((run) => run.feedback), feedback].flatMap((given) => [...meansOf(given)]);
  return {
    fields: {
      ...{ id, name, description, start_time: micros(session.start), reference_dataset_id: dataset },
      end_time: session.end === null ? null : micros(session.end),
      ...{ run_count: roots.length, latency_p50, latency_p99, error_rate },
    },
    families: [
      elementsOf('metadata', metadata),
      {
        key: 'feedback_key',
        elements: means.map(([key, mean]) => ({ feedback_key: key, feedback_score: mean })),
      },
    ],
    paths: { 'extra.metadata': metadata },
    json: { metadata },
    texts: [name, description],
  };
}

/** The means of the scores by key, null where no feedback of a key has a score. */
export function meansOf(given: readonly Feedback[]): Map<string, number | null> {
  const keys = [...new Set(given.map(({ key }) => key))];
  return new Map(
    keys.map((key) => {
      const scores = given.flatMap((one) => (one.key === key && one.score !== null ? [one.score] : []));
      return [key, scores.length > 0 ? mean(scores) : null];
    }),
  );
}

export function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}

/** The statistics of runs that sessions and queries show; null of no runs. */
export function latenciesOf(runs: readonly Run[]) {
  const latencies = runs.flatMap((run) => latencyOf(run) ?? []);
  return {
    latency_p50: quantile(latencies, 0.5),
    latency_p99: quantile(latencies, 0.99),
    latency_avg: latencies.length > 0 ? mean(latencies) : null,
    error_rate: runs.length > 0 ? mean(runs.map(({ error }) => Number(error !== null))) : null,
  };
}

/** The quantile between the two nearest numbers, as `percentile_cont` of SQL defines it. */
function quantile(numbers: readonly number[], fraction: number): number | null {
  if (numbers.length === 0) return null;
  const sorted = [...numbers].sort((a, b) => a - b);
  const place = (sorted.length - 1) * fraction;
  const [low, high] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
  return low + (high - low) * (place - Math.floor(place));
}

/** Sorts by several keys, of which null comes last whatever the direction. */
export function sortedBy<T>(things: readonly T[], ...keys: readonly SortKey<T>[]): T[] {
  return [...things].sort((a, b) => {
    for (const [keyOf, descending] of keys) {
      const [one, two] = [keyOf(a), keyOf(b)];
      if (one === two) continue;
      if (one === null || two === null) return one === null ? 1 : -1;
      return one < two !== descending ? -1 : 1;
    }
    return 0;
  });
}

type SortKey<T> = readonly [key: (thing: T) => string | number | null, descending: boolean];
