/** Result of an attempt at a request: the status of the answer, or the code of the error that came instead. */
interface Outcome {
  readonly status?: number;
  readonly retryAfter?: string;
  readonly error?: string;
}

interface Attempted {
  /** Carrying out the request twice does no harm. */
  readonly repeatable: boolean;
  /** It only reads. */
  readonly reading: boolean;
  /** The service has answered this process before. */
  readonly reached: boolean;
  /** Attempts made. */
  readonly attempts: number;
}

const MOST_ATTEMPTS = 6;
const FIRST_PAUSE_MS = 500;
const MOST_PAUSE_MS = 60_000;
const BROKEN = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET', 'ETIMEDOUT']);

/** Milliseconds after which to try again; undefined when trying again is of no use or not safe. */
export function retryPause(
  outcome: Outcome,
  { repeatable, reading, reached, attempts }: Attempted,
): number | undefined {
  if (!repeatable || attempts >= MOST_ATTEMPTS) return undefined;
  const { status, error, retryAfter } = outcome;
  const worth =
    status === 429 ||
    status === 503 ||
    (status === 409 && retryAfter !== undefined) ||
    (reading && (status === 502 || status === 504)) ||
    (error !== undefined && BROKEN.has(error)) ||
    // A service that was there a moment ago is being restarted.
    (error === 'ECONNREFUSED' && reached);
  if (!worth) return undefined;
  return Math.min(MOST_PAUSE_MS, asked(retryAfter) ?? FIRST_PAUSE_MS * 2 ** (attempts - 1));
}

/** The header Retry-After in milliseconds: seconds, or a date. */
function asked(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
