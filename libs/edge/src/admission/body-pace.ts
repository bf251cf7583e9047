import type { FastifyRequest } from 'fastify';
import { holdsBody } from '../http/expectation';

/** Smallest rate at which a body must arrive. */
export interface Pace {
  /** Time during which it may be slower, and after which it is checked again (ms). */
  readonly idle: number;
  /** Bytes per second. */
  readonly rate: number;
}

/** Number of checks within `idle`: each looks whether the client or this process is being waited for. */
const PARTS = 4;

/**
 * Calls `expire` once a body has been slower than the pace for `idle` milliseconds, while this process was ready to
 * read it. Returns a function that ends the watch.
 */
export function watchPace({ raw }: FastifyRequest, { idle, rate }: Pace, expire: () => void): () => void {
  if (raw.complete) return () => undefined;
  const least = Math.max(1, (rate * idle) / 1000);
  let seen = raw.socket.bytesRead;
  let parts = 0;
  const timer = setInterval(() => {
    const read = raw.socket.bytesRead - seen;
    const isWaiting = raw.readableLength === 0 && !holdsBody(raw);
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
