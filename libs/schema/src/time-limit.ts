/** The longest delay that a timer takes (ms); a longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * A limit on the time of some work. Its signal aborts with a TimeoutError when the time has passed, or with the reason of
 * the first of `others` that aborts.
 *
 * Node.js 20 loses an `AbortSignal.timeout` that was combined with other signals when garbage is collected, because
 * nothing else refers to it: the work then has no limit. A timer of our own is kept until it fires or is cleared.
 */
export class TimeLimit {
  readonly signal: AbortSignal;
  private readonly expiry = new AbortController();
  private readonly timer: NodeJS.Timeout;

  constructor(ms: number, ...others: readonly AbortSignal[]) {
    const expire = () =>
      this.expiry.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    this.timer = setTimeout(expire, Math.min(ms, LONGEST_MS)).unref();
    this.signal = others.length === 0 ? this.expiry.signal : AbortSignal.any([...others, this.expiry.signal]);
  }

  /** True when the time has passed and the work had not ended before. */
  get hasPassed(): boolean {
    return this.expiry.signal.aborted;
  }

  /** Ends the limit: the work is done. */
  end(): void {
    clearTimeout(this.timer);
  }
}

/** Does some work within a limit of time (ms), which ends with the work. The work has to heed the limit's signal. */
export async function withTimeLimit<T>(
  ms: number,
  others: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new TimeLimit(ms, ...others);
  try {
    return await work(limit.signal);
  } finally {
    limit.end();
  }
}
