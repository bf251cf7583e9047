import { type Appended, type Batch, EventStore, type Filter, type Recorded } from '@fairlead/eventing';

/** A store that fails every append after some number of them, as the last thing a process sees of it. */
export class FailingStore extends EventStore {
  failed = false;

  constructor(
    private readonly store: EventStore,
    private left: number,
    /** True when the first append that fails is written all the same. */
    private readonly written: boolean,
  ) {
    super();
  }

  override async append(...append: Parameters<EventStore['append']>): Promise<Appended> {
    if (this.left-- > 0) return this.store.append(...append);
    if (this.written && !this.failed) await this.store.append(...append);
    this.failed = true;
    throw new Error('The store is gone.');
  }

  override read(stream: string, after?: number): Promise<Recorded[]> {
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
}
