import { type FairShare, NoPlace, Unavailable } from '@fairlead/schema';

/** Longest wait of a body for memory (ms). */
const PATIENCE_MS = 3_000;
/** Smallest amount that a body counts, from its first byte on. It bounds the number of bodies that are arriving. */
const LEAST = 64 * 1024;

/** Counts the bytes of one request's body in memory, as a part of those of all bodies. */
export class HeldBytes {
  private bytes = 0;
  private booked = 0;
  private released = false;

  constructor(
    private readonly account: FairShare,
    /** The owner whose share they take. */
    private readonly owner: string,
  ) {}

  /** Counts `more` bytes; returns false when there is no room for them now. */
  add(more: number): boolean {
    const amount = this.amount(more);
    if (amount > 0 && !this.account.take(this.owner, amount)) return false;
    this.note(more, amount);
    return true;
  }

  /** As `add`, but waits a moment for room. @throws Unavailable when there is none */
  async hold(more: number): Promise<void> {
    if (this.add(more)) return;
    const amount = this.amount(more);
    await this.account.wait(this.owner, { amount, patience: PATIENCE_MS }).catch((error: unknown) => {
      if (!(error instanceof NoPlace)) throw error;
      throw new Unavailable(1, 'There is no memory for the request body right now, try again later.');
    });
    if (this.released) this.account.give(this.owner, amount);
    else this.note(more, amount);
  }

  /** Releases all bytes. */
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
