import { OlderLog, type Witness } from '@fairlead/eventing';

/** A stream lacks events that were in it, and no marker says that it was deleted: the node may have an older log. */
export class IncompleteStream extends Error {
  constructor(stream: string) {
    super(`events of ${stream} are missing, and nothing says that it was deleted`);
  }
}

/**
 * Checks that the log is still the one that this process knows: after each loss of the connection, the newest known
 * event must be there, before anything is appended or read.
 */
export class EventStoreDbContinuity {
  private newest: Witness | undefined;
  /** Number of losses of the connection, and the number at the last comparison. */
  private losses = 0;
  private compared = 0;
  private comparing: Promise<void> | undefined;

  constructor(private readonly holds: (witness: Witness) => Promise<boolean>) {}

  note(event: Witness | undefined): void {
    // What is read after a loss may be of another log.
    if (this.compared < this.losses) return;
    if (event && event.position > (this.newest?.position ?? 0n)) this.newest = pick(event);
  }

  /** Notes that the connection was or may have been lost: the server may come back with another log. */
  doubt(): void {
    this.losses += 1;
  }

  /** Compares the log when the connection was lost since the last time. @throws OlderLog */
  async check(): Promise<void> {
    while (this.compared < this.losses) {
      this.comparing ??= this.compare().finally(() => (this.comparing = undefined));
      await this.comparing;
    }
  }

  private async compare(): Promise<void> {
    const { losses, newest } = this;
    if (newest && !(await this.holds(newest))) {
      throw new OlderLog(`it no longer holds the event at position ${newest.position}, which was in it before`);
    }
    this.compared = losses;
  }
}

function pick({ id, stream, position }: Witness): Witness {
  return { id, stream, position };
}
