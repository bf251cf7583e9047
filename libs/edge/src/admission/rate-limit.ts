/** So many requests in so many seconds. */
export interface Rate {
  readonly requests: number;
  readonly seconds: number;
}

/** Names that a limit remembers; beyond it the oldest are forgotten early, so that memory stays bounded. */
const MOST_NAMES = 100_000;

/**
 * A quota for each of many names. It is given back evenly over its window, so one number per name is all that is kept:
 * when the name will have its whole quota again. A name that has it is not kept at all.
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
   * Takes one from the quota of `name` at the time `began` in milliseconds, or at the latest time that it was told: a
   * request may come to it after others that began later. Answers the milliseconds until the quota is whole again; an
   * answer that `exceeds` means that nothing was left, and nothing was taken.
   */
  take(name: string, began: number): number {
    const now = this.notBefore(began);
    const spent = this.spent(name, now) + this.interval;
    if (this.exceeds(spent)) return spent;
    if (now - this.turnedAt >= this.window || this.current.size >= this.most) this.turn(now);
    this.current.set(name, now + spent);
    return spent;
  }

  /** What `take` would answer, without taking. */
  look(name: string, began: number): number {
    return this.spent(name, this.notBefore(began)) + this.interval;
  }

  exceeds(spent: number): boolean {
    // Half an interval is left to rounding.
    return spent > this.window + this.interval / 2;
  }

  /** Whole seconds after which one is left again. */
  retryAfter(spent: number): number {
    return Math.max(1, Math.ceil((spent - this.window) / 1000));
  }

  /** What is left as a structured field, for the header `RateLimit`. */
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

  /** Whoever took nothing for a whole window has the whole quota again: the older half can go. */
  private turn(now: number): void {
    this.previous = this.current;
    this.current = new Map();
    this.turnedAt = now;
  }
}
