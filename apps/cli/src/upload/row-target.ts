/** Where in a row of an upload a column or member goes. */
export type Target =
  | { readonly kind: 'text'; readonly member: TextMember }
  /** `perSecond`: units of the column in a second. */
  | { readonly kind: 'latency'; readonly perSecond: number }
  | { readonly kind: 'scores' }
  | ScoreTarget
  /** `path` is empty for the whole object. */
  | {
      readonly kind: 'object';
      readonly member: ObjectMember;
      readonly path: readonly string[];
      readonly json: boolean;
    };

/** A score, or what stands beside it. `key` may hold columns in braces where `--map` says so. */
interface ScoreTarget {
  readonly kind: 'score';
  readonly key: string;
  readonly member: ScoreMember;
  readonly isTemplate: boolean;
}

const TEXTS = ['row_id', 'start_time', 'end_time', 'run_name', 'error'] as const;
const OBJECTS = ['inputs', 'expected_outputs', 'actual_outputs', 'run_metadata'] as const;
export type TextMember = (typeof TEXTS)[number];
export type ObjectMember = (typeof OBJECTS)[number];
export type ScoreMember = 'any' | 'score' | 'value' | 'comment';

const SCORE = /^(?:scores|evaluation_scores)\.(.+)$/s;
const BESIDE = /^(.+)\.(score|value|comment|reason)$/s;
const PER_SECOND: Readonly<Record<string, number>> = { s: 1, ms: 1e3, us: 1e6, ns: 1e9, min: 1 / 60 };
/** Units that a latency can have, for a message. */
export const UNITS = Object.keys(PER_SECOND).join(', ');

/**
 * The target that a column's name, or what it is mapped to, stands for; undefined when it is none. `inputs.question` is
 * a member of the inputs, `inputs.context:json` one whose text is JSON, `inputs` the whole as JSON, `scores.correct` a
 * score, `latency:ms` a latency in milliseconds.
 */
export function targetOf(name: string): Target | undefined {
  const text = TEXTS.find((member) => member === name);
  if (text) return { kind: 'text', member: text };
  const [, unit = 's'] = /^latency(?::(\w+))?$/.exec(name) ?? [undefined, ''];
  if (Object.hasOwn(PER_SECOND, unit)) return { kind: 'latency', perSecond: PER_SECOND[unit]! };
  if (name === 'scores' || name === 'evaluation_scores') return { kind: 'scores' };
  const key = SCORE.exec(name)?.[1];
  if (key !== undefined) return { kind: 'score', key, member: 'any', isTemplate: false };
  const json = name.endsWith(':json');
  const [first, ...path] = (json ? name.slice(0, -':json'.length) : name).split('.');
  const member = OBJECTS.find((known) => known === first);
  if (!member || path.includes('')) return undefined;
  return { kind: 'object', member, path, json: json || path.length === 0 };
}

/**
 * The key and the part of a score that `scores.KEY.comment` names when there is more of the same key: `scores.KEY`
 * itself, or another part. A name that stands alone is a key.
 */
export function scorePart(key: string, keys: ReadonlySet<string>): { key: string; member: ScoreMember } {
  const [, base, last] = BESIDE.exec(key) ?? [];
  if (base === undefined) return { key, member: 'any' };
  const others = ['', '.score', '.value', '.comment', '.reason'].filter((ending) => ending !== `.${last}`);
  if (!others.some((ending) => keys.has(base + ending))) return { key, member: 'any' };
  return { key: base, member: last === 'reason' ? 'comment' : (last as ScoreMember) };
}

/** Targets of columns, for a message. */
export const TARGETS =
  'inputs.NAME, expected_outputs.NAME, actual_outputs.NAME, run_metadata.NAME, scores.KEY, row_id, start_time, end_time, latency, run_name, error';
