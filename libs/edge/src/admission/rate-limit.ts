/** A number of requests within a number of seconds. */
export interface Rate {
  readonly requests: number;
  readonly seconds: number;
}

/** Largest number of names in memory. Beyond it, the oldest are forgotten early. */
const MOST_NAMES = 100_000;

/**
 * A quota for each name. It is refilled evenly over its window, so that one number per name is enough: the time at
 * which the whole quota is available again. A name with its whole quota is not stored.
 */
export class RateLimit {
  /** The policy as a structured field, for the header `RateLimit-Policy`. */
  readonly policy: string;
  private readonly window: number;
  private readonly interval: number;
  private current = new Map<string, number>();
  private previous = new Map<string, number>();
  private turnedAt = 0;
  private latest = -Infinity;

  constructor(
    private readonly name: string,
    { requests, seconds }: Rate,
    private readonly most = MOST_NAMES,
  ) {
    this.window = seconds * 1000;
    this.interval = this.window / requests;
    this.policy = `"${name}";q=${requests};w=${seconds}`;
  }

  /**
   * Takes one from the quota of `name` at the time `began` (ms). When a later time was given before, that one counts,
   * because requests may arrive out of order. Returns the milliseconds until the quota is whole again. If that value
   * `exceeds`, nothing was left and nothing was taken.
   */
  take(name: string, began: number): number {
    const now = this.notBefore(began);
    const spent = this.spent(name, now) + this.interval;
    if (this.exceeds(spent)) return spent;
    if (now - this.turnedAt >= this.window || this.current.size >= this.most) this.turn(now);
    this.current.set(name, now + spent);
    return spent;
  }

  /** Returns what `take` would return, without taking. */
  look(name: string, began: number): number {
    return this.spent(name, this.notBefore(began)) + this.interval;
  }

  exceeds(spent: number): boolean {
    // Half an interval is left to rounding.
    return spent > this.window + this.interval / 2;
  }

  /** Returns the whole seconds after which one is available again. */
  retryAfter(spent: number): number {
    return Math.max(1, Math.ceil((spent - this.window) / 1000));
  }

  /** Returns what is left as a structured field, for the header `RateLimit`. */
  state(spent: number): string {
    const left = this.exceeds(spent) ? 0 : Math.round((this.window - spent) / this.interval);
    return `"${this.name}";r=${left};t=${Math.ceil(Math.min(spent, this.window) / 1000)}`;
  }

  private notBefore(began: number): number {
    return (this.latest = Math.max(this.latest, began));
  }

  private spent(name: string, now: number): number {
    const whole = this.current.get(name) ?? this.previous.get(name) ?? 0;
    return whole > now ? whole - now : 0;
  }

  /** Forgets the older half of the names: who took nothing for a whole window has the whole quota again. */
  private turn(now: number): void {
    this.previous = this.current;
    this.current = new Map();
    this.turnedAt = now;
  }
}
