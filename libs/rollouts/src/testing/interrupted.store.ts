import { type Appended, type Batch, EventStore, type Filter, type Recorded } from '@fairlead/eventing';

/** A store of which one read or append fails, as when the database is restarted meanwhile. All others succeed. */
export class InterruptedStore extends EventStore {
  failed = false;

  constructor(
    private readonly store: EventStore,
    /** Number of reads and appends before the one that fails. */
    private left: number,
  ) {
    super();
  }

  override async append(...append: Parameters<EventStore['append']>): Promise<Appended> {
    this.count();
    return this.store.append(...append);
  }

  override async read(stream: string, after?: number): Promise<Recorded[]> {
    this.count();
    return this.store.read(stream, after);
  }

  override subscribe(position: bigint, signal: AbortSignal, filter?: Filter): AsyncIterable<Batch> {
    return this.store.subscribe(position, signal, filter);
  }

  override head(): Promise<bigint> {
    return this.store.head();
  }

  override at(position: bigint): Promise<Recorded | undefined> {
    return this.store.at(position);
  }

  private count(): void {
    if (this.failed || this.left-- > 0) return;
    this.failed = true;
    throw new Error('Connection terminated unexpectedly');
  }
}
