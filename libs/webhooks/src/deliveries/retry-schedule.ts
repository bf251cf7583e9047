const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Pauses after the first, second … failed attempt; the last is repeated. */
const PAUSES = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR];
/** A delivery is given up when its attempt at this time after the first one fails. */
const PATIENCE = 24 * HOUR;
/** Pauses are up to this part shorter or longer, so that what failed together is not tried together. */
const JITTER = 0.1;

/** How one attempt to deliver went. Times are milliseconds, `at` since 1970. */
export interface Attempt {
  readonly at: number;
  readonly latency: number;
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** The beginning of the answer as text; null when there was no answer. */
  readonly response: string | null;
  /** Why it failed, in one sentence; null when it succeeded. */
  readonly error: string | null;
  /** For how long the target asks not to be called. */
  readonly retryAfter: number;
}

/** The attempts of a delivery since it was made, or sent again on request. */
export interface Tries {
  readonly count: number;
  /** Time of the first one. */
  readonly startedAt: number;
}

/** What a delivery is after an attempt: done, to be tried again at `dueAt`, or given up. */
export type Outcome =
  | { readonly status: 'delivered' | 'failed'; readonly gone: boolean }
  | { readonly status: 'pending'; readonly gone: false; readonly dueAt: number };

/** Judges the last of the tries. `random` is a number from 0 up to 1. */
export function judge(attempt: Attempt, { count, startedAt }: Tries, random: number): Outcome {
  if (attempt.error === null) return { status: 'delivered', gone: false };
  if (attempt.status === 410) return { status: 'failed', gone: true };
  const now = attempt.at + attempt.latency;
  const end = startedAt + PATIENCE;
  if (now >= end) return { status: 'failed', gone: false };
  const pause = PAUSES[Math.min(count, PAUSES.length) - 1]! * (1 - JITTER + 2 * JITTER * random);
  return { status: 'pending', gone: false, dueAt: Math.min(end, now + Math.max(pause, attempt.retryAfter)) };
}

/** Milliseconds that a `Retry-After` header asks for, as seconds or as a date; 0 when it says nothing that can be read. */
export function retryAfter(header: string | null, now: number): number {
  if (header === null) return 0;
  const wanted = /^\d+$/.test(header.trim()) ? Number(header) * SECOND : Date.parse(header) - now;
  return Number.isFinite(wanted) ? Math.max(0, wanted) : 0;
}
