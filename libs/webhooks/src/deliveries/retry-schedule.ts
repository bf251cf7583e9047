const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Pauses after the first, second … failed attempt; the last one is repeated (ms). */
const PAUSES = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR];
/** Time of the last attempt after the first one (ms). When it fails, the delivery is given up. */
const PATIENCE = 24 * HOUR;
/**
 * Pauses are shorter or longer by up to this share, so that deliveries that failed together are not repeated together.
 */
const JITTER = 0.1;

/** The result of one attempt. Times are in milliseconds, `at` since 1970. */
export interface Attempt {
  readonly at: number;
  readonly latency: number;
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** The beginning of the answer as text; null when there was no answer. */
  readonly response: string | null;
  /** Why it failed, in one sentence; null when it succeeded. */
  readonly error: string | null;
  /** Pause that the target asks for (ms). */
  readonly retryAfter: number;
}

/** The attempts of a delivery since it was made, or sent again on request. */
export interface Tries {
  readonly count: number;
  /** Time of the first attempt. */
  readonly startedAt: number;
}

/** The status of a delivery after an attempt: delivered, due again at `dueAt`, or given up. */
export type Outcome =
  | { readonly status: 'delivered' | 'failed'; readonly gone: boolean }
  | { readonly status: 'pending'; readonly gone: false; readonly dueAt: number };

/** Returns the outcome of the last attempt. `random`: a number from 0 up to 1. */
export function judge(attempt: Attempt, { count, startedAt }: Tries, random: number): Outcome {
  if (attempt.error === null) return { status: 'delivered', gone: false };
  if (attempt.status === 410) return { status: 'failed', gone: true };
  const now = attempt.at + attempt.latency;
  const end = startedAt + PATIENCE;
  if (now >= end) return { status: 'failed', gone: false };
  const pause = PAUSES[Math.min(count, PAUSES.length) - 1]! * (1 - JITTER + 2 * JITTER * random);
  return { status: 'pending', gone: false, dueAt: Math.min(end, now + Math.max(pause, attempt.retryAfter)) };
}

/** Returns the pause that a `Retry-After` header asks for, as seconds or as a date (ms); 0 when it cannot be read. */
export function retryAfter(header: string | null, now: number): number {
  if (header === null) return 0;
  const wanted = /^\d+$/.test(header.trim()) ? Number(header) * SECOND : Date.parse(header) - now;
  return Number.isFinite(wanted) ? Math.max(0, wanted) : 0;
}
