import { checkAppend } from '../postgres/append-limit';
import type { Metadata, Recorded } from '../core/event';
import {
  type Appended,
  type Batch,
  EventStore,
  type Filter,
  matches,
  type NewEvent,
  VersionConflict,
} from '../core/event-store';
import { newId } from '../core/new-id';
import { Wakeups } from '../followers/wakeups';

/** An event store that lives and dies with the process: for tests of models and followers. */
export class MemoryEventStore extends EventStore {
  private readonly log: Recorded[] = [];
  private readonly streams = new Map<string, Recorded[]>();
  private readonly wakeups = new Wakeups();

  override async append(
    stream: string,
    expectedVersion: number | 'any',
    events: readonly NewEvent[],
    metadata: Metadata,
  ): Promise<Appended> {
    checkAppend(stream, events, metadata);
    const existing = this.streams.get(stream) ?? [];
    const repeated = existing.findLast((event) => events.some((next) => next.id === event.id));
    if (repeated) return repeated;
    if (expectedVersion !== 'any' && expectedVersion !== existing.length) {
      throw new VersionConflict(stream, expectedVersion, existing.length);
    }
    const time = new Date().toISOString();
    const recorded = events.map((event, index) => ({
      ...(JSON.parse(JSON.stringify(event)) as NewEvent),
      id: event.id ?? newId(),
      stream,
      version: existing.length + index + 1,
      position: BigInt(this.log.length + index + 1),
      time,
      metadata,
    }));
    this.log.push(...recorded);
    this.streams.set(stream, [...existing, ...recorded]);
    this.wakeups.wake();
    return recorded.at(-1)!;
  }

  override read(stream: string, after = 0): Promise<Recorded[]> {
    return Promise.resolve((this.streams.get(stream) ?? []).slice(after));
  }

  override latest(stream: string, count: number): Promise<Recorded[]> {
    return Promise.resolve((this.streams.get(stream) ?? []).slice(-count));
  }

  override async *subscribe(position: bigint, signal: AbortSignal, filter: Filter = {}): AsyncIterable<Batch> {
    while (!signal.aborted) {
      const { count } = this.wakeups;
      const events = this.log.slice(Number(position));
      const last = events.at(-1);
      if (!last) {
        await this.wakeups.next(signal, 1000, count);
        continue;
      }
      position = last.position;
      yield { events: events.filter((event) => matches(event, filter)), position };
    }
  }

  override head(): Promise<bigint> {
    return Promise.resolve(BigInt(this.log.length));
  }

  override at(position: bigint): Promise<Recorded | undefined> {
    return Promise.resolve(this.log[Number(position) - 1]);
  }
}
