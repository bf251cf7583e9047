import { hash, randomUUID } from 'node:crypto';

/** A request with an Idempotency-Key. All its attempts have one id, from which the ids that they make are derived. */
export class ClaimedCommand {
  /** Number of changes that this attempt has made to each stream. */
  readonly changes = new Map<string, number>();

  /** `heldUntil`: time of `performance.now()` until which no other process can have the key. */
  constructor(
    private readonly id: string,
    private readonly isRepeated: boolean,
    public heldUntil: number,
  ) {}

  /** True when another attempt may have stored something. */
  get mayBeRepeated(): boolean {
    return this.isRepeated || performance.now() > this.heldUntil;
  }

  /**
   * Returns the UUID of version 7 for a purpose, the same one in every attempt. Ids of one purpose sort by `nth`. They
   * cannot be guessed, because the id of the command is random and stands nowhere but in the table of keys.
   */
  idFor(purpose: string, nth = 0): string {
    const time = parseInt(this.id.slice(0, 8) + this.id.slice(9, 13), 16);
    const digest = hash('sha256', `${this.id} ${purpose} ${nth}`);
    return uuid7(time + Math.floor(nth / COUNTS), nth % COUNTS, digest);
  }
}

/** Ids that share one time; the next one has a later time. */
const COUNTS = 0x1000;

/** Returns an id of version 7 with 74 random bits. */
export function newCommandId(): string {
  const random = randomUUID().replaceAll('-', '');
  return uuid7(Date.now(), parseInt(random.slice(0, 3), 16), random.slice(16));
}

/** `random`: at least 16 hexadecimal digits. */
function uuid7(time: number, counter: number, random: string): string {
  const [when, count] = [time.toString(16).padStart(12, '0'), counter.toString(16).padStart(3, '0')];
  const variant = '89ab'[parseInt(random[0]!, 16) % 4]!;
  return `${when.slice(0, 8)}-${when.slice(8)}-7${count}-${variant}${random.slice(1, 4)}-${random.slice(4, 16)}`;
}
