import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { type Rate, RateLimit } from './rate-limit';

const MOST_SEEN = 50_000;

/**
 * Limits how many different wrong keys an address may try. The same wrong key again does not count, so that a client
 * whose key was revoked does not lock out others behind its address. Right keys are never limited.
 */
export class WrongKeys {
  private readonly limit: RateLimit;
  private seen = new Set<string>();
  private seenBefore = new Set<string>();

  constructor(rate: Rate) {
    this.limit = new RateLimit('wrong-keys', rate);
  }

  /**
   * Records a refused request. Returns the seconds after which the address may try another key; 0 while it has attempts
   * left. A request without a key, or with a key that was wrong before, does not count.
   */
  note({ headers, guessed }: FastifyRequest, address: string, now: number): number {
    const text = guessed ?? headers['x-api-key'] ?? headers.authorization;
    if (text === undefined || text === '') return 0;
    const guess = hash('sha256', `${address} ${String(text)}`, 'base64');
    if (this.seen.has(guess) || this.seenBefore.has(guess)) return 0;
    const spent = this.limit.take(address, now);
    if (this.limit.exceeds(spent)) return this.limit.retryAfter(spent);
    if (this.seen.size >= MOST_SEEN) {
      this.seenBefore = this.seen;
      this.seen = new Set();
    }
    this.seen.add(guess);
    return 0;
  }
}
