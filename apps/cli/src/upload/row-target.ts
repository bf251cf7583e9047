/** Where in a row of an upload a column or member goes. */
export type Target =
  | { readonly kind: 'text'; readonly member: TextMember }
  | { readonly kind: 'latency' }
  | { readonly kind: 'scores' }
  | { readonly kind: 'score'; readonly key: string }
  /** `path` is empty for the whole object. */
  | {
      readonly kind: 'object';
      readonly member: ObjectMember;
      readonly path: readonly string[];
      readonly json: boolean;
    };

const TEXTS = ['row_id', 'start_time', 'end_time', 'run_name', 'error'] as const;
const OBJECTS = ['inputs', 'expected_outputs', 'actual_outputs', 'run_metadata'] as const;
export type TextMember = (typeof TEXTS)[number];
export type ObjectMember = (typeof OBJECTS)[number];

const SCORE = /^(?:scores|evaluation_scores)\.(.+)$/s;

/**
 * The target that a column's name, or what it is mapped to, stands for; undefined when it is none. `inputs.question` is
 * a member of the inputs, `inputs.context:json` one whose text is JSON, `inputs` the whole as JSON, `scores.correct` a
 * score.
 */
export function targetOf(name: string): Target | undefined {
  const text = TEXTS.find((member) => member === name);
  if (text) return { kind: 'text', member: text };
  if (name === 'latency') return { kind: 'latency' };
  if (name === 'scores' || name === 'evaluation_scores') return { kind: 'scores' };
  const key = SCORE.exec(name)?.[1];
  if (key !== undefined) return { kind: 'score', key };
  const json = name.endsWith(':json');
  const [first, ...path] = (json ? name.slice(0, -':json'.length) : name).split('.');
  const member = OBJECTS.find((known) => known === first);
  if (!member || path.includes('')) return undefined;
  return { kind: 'object', member, path, json: json || path.length === 0 };
}

/** What there is, for a message. */
export const TARGETS =
  'inputs.NAME, expected_outputs.NAME, actual_outputs.NAME, run_metadata.NAME, scores.KEY, row_id, start_time, end_time, latency, run_name, error';
