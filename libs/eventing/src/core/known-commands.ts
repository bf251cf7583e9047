import type { Recorded } from './event';

/** The newest commands of a stream that are remembered; of older ones the stream is asked. */
const KEPT = 500;

/** Which commands a stream holds, as far as its events were seen from the first one on. */
export class KnownCommands {
  private readonly kept = new Set<string>();
  private hasForgotten = false;

  /** Takes the commands of more events of the stream. */
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

  /** Whether the events seen so far may hold a command of this metadata: false means that they do not. */
  mayHold(metadata: Recorded['metadata']): boolean {
    const key = keyOf(metadata);
    return key !== undefined && (this.hasForgotten || this.kept.has(key));
  }
}

/** Another tenant's command of the same name is another command. */
function keyOf({ causationId, tenant }: Recorded['metadata']): string | undefined {
  return causationId === undefined ? undefined : JSON.stringify([tenant, causationId]);
}
