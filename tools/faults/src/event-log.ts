import type { EventStore, Recorded } from '@fairlead/eventing';

/** A copy of the log that is brought up to date whenever it is read. */
export class EventLog {
  private readonly events: Recorded[] = [];
  private position = 0n;

  constructor(private readonly store: EventStore) {}

  /** Every event so far, in order. */
  async read(): Promise<readonly Recorded[]> {
    const head = await this.store.head();
    if (this.position >= head) return this.events;
    const enough = new AbortController();
    for await (const { events, position } of this.store.subscribe(this.position, enough.signal)) {
      this.events.push(...events);
      this.position = position;
      if (position >= head) break;
    }
    enough.abort();
    return this.events;
  }
}
