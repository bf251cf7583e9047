/** The data that queries are asked of: sent over HTTP, and kept here as they were sent. */

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };
export type Members = Readonly<Record<string, Json>>;

export interface Feedback {
  readonly id: string;
  readonly key: string;
  readonly score: number | null;
  readonly value: string | number | null;
  readonly comment: string | null;
  readonly source: string;
  /** ISO 8601 in UTC with microseconds, like all times here. */
  readonly created: string;
}

export interface Run {
  /** Chosen here, or by the service for a run of an upload. */
  id: string;
  readonly session: string;
  readonly name: string;
  readonly type: string;
  readonly start: string;
  readonly end: string | null;
  readonly error: string | null;
  readonly inputs: Members;
  readonly outputs: Members | null;
  readonly metadata: Members | null;
  readonly tags: readonly string[] | null;
  readonly parent: string | null;
  readonly trace: string | null;
  readonly below: readonly string[];
  /** Place of the writer of its JSON among `WRITERS`. */
  readonly writer: number;
  /** Row of the upload, for which the service knows an example. */
  readonly row?: number;
  example: string | null;
  dataset: string | null;
  readonly feedback: Feedback[];
}

export interface Example {
  readonly id: string;
  readonly writer: number;
  readonly inputs: Members;
  readonly outputs: Members | null;
  readonly metadata: Members;
  readonly splits: readonly string[];
  /** Given by the service. */
  name: string;
  created: string;
  modified: string;
}

export interface Session {
  id: string;
  readonly name: string;
  readonly description: string | null;
  readonly start: string;
  readonly end: string | null;
  readonly metadata: Members;
  dataset: string | null;
  readonly uploaded: boolean;
  readonly runs: Run[];
  readonly feedback: Feedback[];
}

export interface Things {
  /** The dataset of `examples`, given by the service. */
  dataset: string;
  readonly projects: readonly Session[];
  /** Experiments whose runs were sent one by one, on `examples`. */
  readonly experiments: readonly Session[];
  /** Experiments that were uploaded as a whole, on a dataset of their own. */
  readonly uploads: readonly Session[];
  readonly examples: readonly Example[];
  /** Experiments on `examples` without runs. */
  readonly empty: readonly Session[];
}

export function allSessions({ projects, experiments, uploads, empty }: Things): readonly Session[] {
  return [...projects, ...experiments, ...uploads, ...empty];
}

export const NAMES = [
  ...['alpha', 'beta', 'Gamma 100%', 'back\\slash', 'a_b', 'AB', 'search me', "it's", 'ünï'],
  ...['say "so"', '\\u00e9 %_', 'Ünï 😀', 'tab\tand\u0001'],
] as const;
export const TYPES = ['chain', 'llm', 'tool'] as const;
export const ERRORS = ['boom', 'Timeout after 30 s', 'a "quoted" word', 'Fehler: Größe ≠ 1\nat c:\\new'] as const;
export const KEYS = ['quality', 'pass', 'label'] as const;
export const LABELS = ['good', 'bad', '7', 7] as const;
export const COMMENTS = ['fine', 'see above'] as const;
export const SOURCES = ['api', 'model', 'app', 'auto_eval'] as const;
export const TAGS = ['red', 'Blue', 'x y', 'Größe "L"', 'a\\b\n😀'] as const;
export const SPLITS = ['train', 'test'] as const;
export const WORDS = [
  ...['why', 'Because', 'because', 'forty two', '100%', 'under_score', 'ähnlich', 'Übergröße', 'ÜBERGRÖßE', 'say "so"'],
  ...['c:\\new', 'a/b <c> & d', 'two\nlines', '\t\u0001\u007f', '😀 Ok', 'é', '\\u00e9', '\\', '"', '*.(a|b)[^c]'],
  'A long text has more than fifty characters, "quotation marks",\nÄpfel and 😀.',
] as const;
export const METADATA_KEYS = ['model', 'n', 'a.b', 'thread_id', 'session_id', 'nested', 'flag', 'nothing'] as const;
export const MODELS = ['small', 'large', 'Large', 'Größe', 'größe', 'a "b" c:\\d', '😀_%'] as const;
export const MEMBER_KEYS = ['question', 'n', 'list', 'deep', 'empty', 'Größe', 'a"b\\\n'] as const;
export const ROWS = 14;
export const SECOND = 1_000_000;

/** ISO 8601 of microseconds since 1970. */
export function iso(micros: number): string {
  const whole = Math.floor(micros / SECOND);
  return `${new Date(whole * 1000).toISOString().slice(0, 19)}.${String(micros - whole * SECOND).padStart(6, '0')}Z`;
}

/** Microseconds since 1970 of ISO 8601 in UTC. */
export function micros(time: string): number {
  const [, seconds = '', part = ''] = /^(.{19})(?:\.(\d+))?(?:Z|\+00:00)$/.exec(time) ?? [];
  return Date.parse(`${seconds}Z`) * 1000 + Number(part.padEnd(6, '0'));
}

/** JSON as clients write it: each character as it is, ASCII alone, or with escapes for what HTML reads. */
export const WRITERS: readonly ((value: unknown) => string)[] = [
  JSON.stringify,
  (value) => JSON.stringify(value).replaceAll(/[\x7f-\uffff]/g, escaped),
  (value) =>
    JSON.stringify(value)
      .replaceAll('/', '\\/')
      .replaceAll(/[<>&']/g, escaped),
];
const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
