import type { FastifyRequest } from 'fastify';

/** How fast a body must come. */
export interface Pace {
  /** Milliseconds for which it may be slower, and after which it is looked at again. */
  readonly idle: number;
  /** Bytes a second. */
  readonly rate: number;
}

/** In these parts of the time is looked whether the client or something here is what is waited for. */
const PARTS = 4;

/**
 * Calls `expire` once a body has come slower than the pace for as long as it allows, while nothing of it waited to be
 * read here. Answers a function that ends the watch.
 */
export function watchPace({ raw }: FastifyRequest, { idle, rate }: Pace, expire: () => void): () => void {
  if (raw.complete) return () => undefined;
  const least = Math.max(1, (rate * idle) / 1000);
  let seen = raw.socket.bytesRead;
  let parts = 0;
  const timer = setInterval(() => {
    const read = raw.socket.bytesRead - seen;
    const isWaiting = raw.readableLength === 0;
    if (raw.complete || raw.destroyed) {
      clearInterval(timer);
    } else if (!isWaiting || read >= least) {
      seen = raw.socket.bytesRead;
      parts = 0;
    } else if (++parts >= PARTS) {
      clearInterval(timer);
      expire();
    }
  }, idle / PARTS);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
