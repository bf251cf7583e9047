import type { Recorded } from './event';

/** Commands that are remembered of a stream, the newest ones; for older ones the stream is read. */
const KEPT = 500;

/** Remembers which commands a stream contains, if its events were seen from the first one on. */
export class KnownCommands {
  private readonly kept = new Set<string>();
  private hasForgotten = false;

  /** Adds the commands of further events of the stream. */
  add(events: readonly Pick<Recorded, 'metadata'>[]): void {
    for (const { metadata } of events) {
      const key = keyOf(metadata);
      if (key !== undefined) this.kept.add(key);
    }
    while (this.kept.size > KEPT) {
      this.kept.delete(this.kept.values().next().value!);
      this.hasForgotten = true;
    }
  }

  /** Returns false when the events seen so far contain no command with this metadata; true when they may. */
  mayHold(metadata: Recorded['metadata']): boolean {
    const key = keyOf(metadata);
    return key !== undefined && (this.hasForgotten || this.kept.has(key));
  }
}

/** Returns the key of a command: its id and tenant, since two tenants may use the same id. */
function keyOf({ causationId, tenant }: Recorded['metadata']): string | undefined {
  return causationId === undefined ? undefined : JSON.stringify([tenant, causationId]);
}
