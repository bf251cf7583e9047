import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { type Rate, RateLimit } from './rate-limit';

const MOST_SEEN = 50_000;

/**
 * Limits how many different wrong keys an address may try. The same wrong key again is no further guess, so that a
 * client whose key was revoked does not shut out the others behind its address.
 */
export class WrongKeys {
  private readonly limit: RateLimit;
  private seen = new Set<string>();
  private seenBefore = new Set<string>();

  constructor(rate: Rate) {
    this.limit = new RateLimit('wrong-keys', rate);
  }

  /** Seconds for which an address may not try a key; 0 when it may. */
  wait(address: string, now: number): number {
    const spent = this.limit.look(address, now);
    return this.limit.exceeds(spent) ? this.limit.retryAfter(spent) : 0;
  }

  /** Takes note of a refused request; one without a key is no guess. */
  note({ headers }: FastifyRequest, address: string, now: number): void {
    const text = headers['x-api-key'] ?? headers.authorization;
    if (text === undefined || text === '') return;
    const guess = hash('sha256', `${address} ${String(text)}`, 'base64');
    if (this.seen.has(guess) || this.seenBefore.has(guess)) return;
    if (this.seen.size >= MOST_SEEN) {
      this.seenBefore = this.seen;
      this.seen = new Set();
    }
    this.seen.add(guess);
    this.limit.take(address, now);
  }
}
