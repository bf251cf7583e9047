import { figure, whole } from '../../../../libs/evaluation/src/report/numbers';

export {
  figure,
  labelCounts,
  middle,
  percent,
  probability,
  signed,
  whole,
} from '../../../../libs/evaluation/src/report/numbers';

const UNITS: readonly [limit: number, seconds: number, name: string][] = [
  [60, 1, 's'],
  [3600, 60, 'min'],
  [86_400, 3600, 'h'],
  [86_400 * 60, 86_400, 'd'],
  [Infinity, 86_400 * 365, 'y'],
];

const DURATIONS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const;

/** A duration of so many seconds, to three significant digits. */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return '–';
  const [size, unit] = DURATIONS.find(([least]) => seconds >= least) ?? [0.001, 'ms'];
  return `${figure(Number((seconds / size).toPrecision(3)))} ${unit}`;
}

const BYTE_UNITS = [
  ['GB', 1_000_000_000],
  ['MB', 1_000_000],
  ['kB', 1000],
] as const;

/** A number of bytes to three significant digits. */
export function bytes(count: number): string {
  const [unit, size] = BYTE_UNITS.find(([, least]) => count >= least) ?? ['B', 1];
  return `${figure(count / size)} ${unit}`;
}

/** Time that has passed since `time`, in words; `now` in milliseconds since 1970. */
export function ago(time: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(time)) / 1000);
  if (seconds < 10) return 'now';
  const [, unit, name] = UNITS.find(([limit]) => seconds < limit)!;
  return `${Math.max(1, Math.floor(seconds / unit))} ${name}`;
}

/** The text with control and direction characters shown as marks. */
export function plain(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}

/** Share of runs with a score from which on their number is left out. */
const NEARLY_ALL = 0.9;

/**
 * Says how many runs have a score, and how many scores that are when some have several; nothing when nearly all runs
 * have one.
 */
export function scoredRuns(scored: number, runs: number, scores = scored): string {
  const parts = [
    ...(scored < runs * NEARLY_ALL ? [`${whole(scored)} of ${whole(runs)} scored`] : []),
    ...(scored < scores ? [`${whole(scores)} scores`] : []),
  ];
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

/** Returns the name of a run as it is shown: some tools send an empty one. `unknown` stands for a run not yet loaded. */
export function runName(name: unknown, unknown: string): string {
  if (typeof name !== 'string') return unknown;
  return name.trim() === '' ? '(no name)' : name;
}
