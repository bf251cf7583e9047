/**
 * Does some work within a limit of time (ms), after which its signal aborts; it also aborts when one of `others` does. A
 * signal of `AbortSignal.timeout` that is combined with others can be lost when garbage is collected.
 */
export async function withTimeLimit<T>(
  ms: number,
  others: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const expiry = new AbortController();
  const timer = setTimeout(() => expiry.abort(new DOMException('It took too long.', 'TimeoutError')), ms);
  try {
    return await work(AbortSignal.any([...others, expiry.signal]));
  } finally {
    clearTimeout(timer);
  }
}
