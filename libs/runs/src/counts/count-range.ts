import { BadRequest, type Instant } from '@fairlead/schema';

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];
/** The last whole hour that can be written with four digits of the year. */
const LAST_MS = Date.UTC(9999, 11, 31, 23);

/** A range of whole hours, from the first time on and before the second (ms since 1970). */
export interface CountRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The hours that a request means; without an end those until now, without a start `usual` days before the end.
 * @throws BadRequest when it ends before it begins, or is longer than `most` days
 */
export function countRange(
  from: Instant | undefined,
  to: Instant | undefined,
  usual: number,
  most: number,
): CountRange {
  const end = Math.min(Math.ceil((to ? to.micros / 1000 : Date.now()) / HOUR_MS) * HOUR_MS, LAST_MS);
  const start = Math.floor((from ? from.micros / 1000 : end - usual * DAY_MS) / HOUR_MS) * HOUR_MS;
  if (start > end) throw new BadRequest('The range of time ends before it begins.');
  if (end - start > most * DAY_MS) throw new BadRequest(`The range of time is longer than ${most} days.`);
  return { from: start, to: end };
}

/** The range made of whole days (UTC) outwards. */
export function wholeDays({ from, to }: CountRange): CountRange {
  return { from: Math.floor(from / DAY_MS) * DAY_MS, to: Math.min(Math.ceil(to / DAY_MS) * DAY_MS, LAST_MS) };
}

/** Number of days that a range takes. */
export function daysIn({ from, to }: CountRange): number {
  return (to - from) / DAY_MS;
}

/** The whole days in a range; none where both are the same. */
export function daysWithin({ from, to }: CountRange): CountRange {
  const [first, last] = [Math.ceil(from / DAY_MS) * DAY_MS, Math.floor(to / DAY_MS) * DAY_MS];
  return first < last ? { from: first, to: last } : { from: to, to };
}
