import { Unavailable } from '@fairlead/schema';
import type { FairShare } from './fair-share';

/** How long a body waits until there is memory for more of it. */
const PATIENCE_MS = 3_000;
/** What a body counts at least, from its first byte on: so the bodies that are on their way are bounded, too. */
const LEAST = 64 * 1024;

/** The bytes of one request's body that are in memory, on the account of all bodies. */
export class HeldBytes {
  private bytes = 0;
  private booked = 0;
  private released = false;

  constructor(
    private readonly account: FairShare,
    /** Whose share they take. */
    private readonly owner: string,
  ) {}

  /** Books so many more if there is room for them at once. */
  add(more: number): boolean {
    const amount = this.amount(more);
    if (amount > 0 && !this.account.take(this.owner, amount)) return false;
    this.note(more, amount);
    return true;
  }

  /** As `add`, and waits a moment for room. @throws Unavailable when there is none */
  async hold(more: number): Promise<void> {
    if (this.add(more)) return;
    const amount = this.amount(more);
    if (!(await this.account.takeSoon(this.owner, amount, PATIENCE_MS))) {
      throw new Unavailable(1, 'There is no memory for the request body right now, try again later.');
    }
    if (this.released) this.account.give(this.owner, amount);
    else this.note(more, amount);
  }

  /** Gives all of them back. */
  release(): void {
    this.released = true;
    if (this.booked > 0) this.account.give(this.owner, this.booked);
    this.bytes = this.booked = 0;
  }

  private amount(more: number): number {
    return Math.max(LEAST, this.bytes + more) - this.booked;
  }

  private note(more: number, amount: number): void {
    this.bytes += more;
    this.booked += amount;
  }
}
