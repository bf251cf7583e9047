import type { Cell, Column } from './table';
import { clean, percent, score, when } from './text';

interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The members of a place of a trend that the command line reads. */
export interface TrendPoint {
  readonly name: string;
  readonly start_time: string;
  readonly mean: number | null;
  readonly scored: number;
  readonly interval: Interval | null;
  readonly rerun: Interval | null;
}

/** Characters of the picture of an interval. */
const WIDTH = 18;

export const TREND_COLUMNS: readonly Column[] = [
  { title: 'EXPERIMENT', whole: true },
  { title: 'STARTED', spare: true },
  { title: 'ROWS', right: true },
  { title: 'MEAN', right: true },
  { title: '95 %', right: true },
  { title: 'RERUN', right: true },
  { title: '', spare: true },
];

/** A line for each experiment: its mean, half the widths of both intervals, and a picture of the first one. */
export function trendRows(
  points: readonly TrendPoint[],
  isShare: boolean,
  cell: (style: 'bold', text: string) => Cell,
): Cell[][] {
  const shown = isShare ? percent : score;
  const ends = points.flatMap(({ mean, interval }) => [mean ?? [], interval?.low ?? [], interval?.high ?? []].flat());
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const place = (value: number) => (most > least ? Math.round(((value - least) / (most - least)) * (WIDTH - 1)) : 0);
  return points.map(({ name, start_time, scored, mean, interval, rerun }) => [
    cell('bold', clean(name)),
    when(start_time),
    scored === 0 ? '-' : String(scored),
    shown(mean),
    half(interval, shown),
    half(rerun, shown),
    mean === null ? '' : picture(place(interval?.low ?? mean), place(mean), place(interval?.high ?? mean)),
  ]);
}

function half(interval: Interval | null, shown: (value: number) => string): string {
  return interval ? `±${shown(Number(((interval.high - interval.low) / 2).toPrecision(2)))}` : '-';
}

function picture(low: number, mean: number, high: number): string {
  return `${' '.repeat(low)}${'─'.repeat(mean - low)}●${'─'.repeat(high - mean)}`;
}
