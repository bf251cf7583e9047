import {
  type AllStreamResolvedEvent,
  BACKWARDS,
  END,
  type EventStoreDBClient,
  eventTypeFilter,
  MaxAppendSizeExceededError,
  START,
  StreamDeletedError,
  StreamNotFoundError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import {
  type Appended,
  AppendTooLarge,
  type Batch,
  categoryOf,
  checkAppend,
  type DomainEvent,
  EventStore,
  type Filter,
  holds,
  Listener,
  matches,
  type Metadata,
  type NewEvent,
  newId,
  type Recorded,
  StreamDeleted,
  traceStep,
  VersionConflict,
} from '@fairlead/eventing';
import { weightOf } from '@fairlead/schema';
import type { Pool } from 'pg';
import { EventStoreDbBatches } from './batches';
import { EventStoreDbCatchUp } from './catch-up';
import { EventStoreDbContinuity, IncompleteStream } from './continuity';
import { EventStoreDbConnection, reading, type TimeLimits } from './connection';
import { hasOriginalTime, isOurs, markedBy, originalTime, toEvent, versionOf, withOriginalTime } from './event';
import { from } from './subscription';
import { EventStoreDbTail } from './tail';
import { StreamTimes } from './times';
import { EventStoreDbDeletedStreams } from './deleted-streams';

const BATCH_EVENTS = 1000;
const BATCH_BYTES = 8_000_000n;
/** Number of newest records that are searched first for the newest event of Fairlead. */
const NEWEST = 20;
const POLL_MS = 1000;
/** Time that each event adds to the time limit of an append (ms). */
const EVENT_MS = 10;

/** One of several appends in a fixed order, to a stream with `version` events. */
interface OrderedAppend {
  readonly stream: string;
  readonly version: number;
  /** The events may be of any type: a log that is moved here may hold types of another version of Fairlead. */
  readonly events: readonly (DomainEvent & { readonly id: string })[];
  readonly metadata: Metadata;
}

interface Sent {
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

interface EventStoreDbOptions {
  /** The database that subscribers write to. Subscriptions end when it was away. */
  readonly database?: Pool;
  readonly limits?: TimeLimits;
  /** Milliseconds since 1970: the clock that events get their times from. */
  readonly now?: () => number;
}

/**
 * The event store on EventStoreDB 23.10 or newer, at `esdb://…`. Positions are commit positions of `$all`, one for each
 * event, and grow by bytes. Call `close` to end its connections.
 */
export class EventStoreDbStore extends EventStore {
  override readonly stride = 500n;
  private readonly connection: EventStoreDbConnection;
  private readonly tail: EventStoreDbTail;
  private readonly older = new EventStoreDbCatchUp((position) => this.readOn(position));
  private readonly restarts: Listener | undefined;
  private connections = 0;
  /** Appends at any version that are under way, by stream. */
  private readonly turns = new Map<string, Promise<Appended>>();

  private readonly continuity = new EventStoreDbContinuity((witness) => holds(this, witness));
  private readonly deleted = new EventStoreDbDeletedStreams(() => this.deletedStreams());
  private readonly times = new StreamTimes();
  private readonly batches = new WeakMap<EventStoreDBClient, Promise<EventStoreDbBatches>>();
  private newestBatches: Promise<EventStoreDbBatches> | undefined;
  private readonly database: Pool | undefined;
  private readonly now: () => number;

  constructor(url: string, { database, limits, now = Date.now }: EventStoreDbOptions = {}) {
    super();
    this.database = database;
    this.now = now;
    this.connection = new EventStoreDbConnection(url, limits, () => this.continuity.doubt());
    this.tail = new EventStoreDbTail(this.connection, this.continuity, this.deleted, () => this.head());
    this.restarts = database && new Listener(database, 'restarts', () => (this.connections += 1));
  }

  async close(): Promise<void> {
    await Promise.all([this.tail.close(), this.restarts?.close()]);
    this.newestBatches?.then((batches) => batches.close()).catch(() => undefined);
    this.connection.close();
  }

  /**
   * As declared; an append that is repeated is recognised when it names the version that it named before; its answer has
   * the time of the repetition when another process appended first. All its events
   * get one time, of this process's clock, but never an earlier one than the stream's event before them. @throws
   * EventStoreUnreachable when nobody answers: the events may have been appended all the same.
   */
  override async append(
    stream: string,
    expectedVersion: number | 'any',
    events: readonly NewEvent[],
    metadata: Metadata,
  ): Promise<Appended> {
    const { data } = checkAppend(stream, events, metadata);
    const sent = events.map(({ type, id = newId() }, nth) => ({ id, type, data: data[nth]! }));
    const attributes = { 'fairlead.category': categoryOf(stream), 'fairlead.events': events.length };
    return traceStep('append', attributes, () => this.send(stream, expectedVersion, events, sent, metadata));
  }

  private async send(
    stream: string,
    expectedVersion: number | 'any',
    events: readonly NewEvent[],
    sent: readonly Sent[],
    metadata: Metadata,
  ): Promise<Appended> {
    if (expectedVersion !== 'any') return this.appendAt(stream, expectedVersion, sent, metadata);
    const known = events.some(({ id }) => id !== undefined) ? await this.find(stream, sent) : undefined;
    return known ?? this.inTurn(stream, (version) => this.appendAfter(stream, version, sent, metadata));
  }

  /**
   * Appends to many streams in the order given, which becomes the order of the log: each is sent before the one before it
   * is answered. Times are those in the metadata. Again in whole after a failure, it changes nothing of what is there.
   * @throws WrongExpectedVersionError, EventStoreUnreachable
   */
  async appendInOrder(appends: readonly OrderedAppend[]): Promise<void> {
    await this.connection.call(async (client, signal, alive) => {
      await this.continuity.check();
      const batches = await EventStoreDbBatches.open(client);
      const end = () => batches.cancel();
      signal.addEventListener('abort', end, { once: true });
      try {
        const sending = appends.map(async ({ stream, version, events, metadata }) => {
          const text = JSON.stringify(metadata);
          await batches.append(
            stream,
            version,
            events.map(({ id, type, data }) => ({ id, type, data: JSON.stringify(data), metadata: text })),
          );
          alive();
        });
        await Promise.all(sending);
      } finally {
        signal.removeEventListener('abort', end);
        batches.cancel();
      }
    });
  }

  /** Returns the call that the appends of all requests share, a new one after one that has ended. */
  private batchesOf(client: EventStoreDBClient): Promise<EventStoreDbBatches> {
    const known = this.batches.get(client);
    if (known) return known;
    const over = () => {
      if (this.batches.get(client) === opening) this.batches.delete(client);
    };
    const opening = EventStoreDbBatches.open(client, over);
    opening.catch(over);
    this.batches.set(client, opening);
    this.newestBatches = opening;
    return opening;
  }

  override async read(stream: string, after = 0): Promise<Recorded[]> {
    const events: Recorded[] = [];
    for await (const part of this.parts(stream, after)) events.push(...part);
    return events;
  }

  override async *parts(stream: string, after = 0): AsyncIterable<Recorded[]> {
    for (let version = after; ;) {
      const { events, isEnd } = await this.part(stream, version);
      if (events.length > 0) yield events;
      if (isEnd) return;
      version = events.at(-1)!.version;
    }
  }

  /**
   * Returns the next events of a stream, as many as may be in memory, and whether they are the last ones. With `orNone`
   * the stream may never have had so many events.
   */
  private async part(stream: string, after: number, orNone = false): Promise<{ events: Recorded[]; isEnd: boolean }> {
    return this.connection.call(async (client, signal, alive) => {
      // What is in memory of a stream does not outlive it.
      if (this.deleted.has(stream)) throw new StreamDeleted(stream);
      await this.continuity.check();
      const events: Recorded[] = [];
      let bytes = 0n;
      let isEnd = true;
      try {
        const all = client.readStream(stream, { fromRevision: BigInt(after), requiresLeader: true });
        for await (const { event } of reading(all, signal)) {
          alive();
          if (!event) continue;
          events.push(toEvent(event));
          bytes += BigInt(weightOf(event.data as object | null));
          isEnd = bytes <= BATCH_BYTES;
          if (!isEnd) break;
        }
      } catch (error) {
        if (error instanceof StreamDeletedError) throw new StreamDeleted(stream);
        if (!(error instanceof StreamNotFoundError)) throw error;
        await this.requireWhole(client, stream, signal);
        if (after > 0 && !orNone) throw new IncompleteStream(stream);
      }
      // A server gives what is left of a stream that was cut off.
      if (events.length > 0 && events[0]!.version !== after + 1) {
        await this.requireWhole(client, stream, signal);
        throw new IncompleteStream(stream);
      }
      this.times.note(events.at(-1));
      return { events, isEnd };
    });
  }

  override async latest(stream: string, count: number): Promise<Recorded[]> {
    return this.connection.call(async (client, signal, alive) => {
      if (this.deleted.has(stream)) throw new StreamDeleted(stream);
      await this.continuity.check();
      const events: Recorded[] = [];
      const options = { direction: BACKWARDS, fromRevision: END, maxCount: count, requiresLeader: true } as const;
      try {
        for await (const { event } of reading(client.readStream(stream, options), signal)) {
          alive();
          if (event) events.unshift(toEvent(event));
        }
      } catch (error) {
        if (error instanceof StreamDeletedError) throw new StreamDeleted(stream);
        if (!(error instanceof StreamNotFoundError)) throw error;
        await this.requireWhole(client, stream, signal);
      }
      // A server gives what is left of a stream that was cut off.
      if (events.length < count && events[0] && events[0].version !== 1) {
        await this.requireWhole(client, stream, signal);
        throw new IncompleteStream(stream);
      }
      return events;
    });
  }

  /** @throws StreamDeleted when the server has a marker that the stream was deleted or cut off */
  private async requireWhole(client: EventStoreDBClient, stream: string, signal: AbortSignal): Promise<void> {
    const known = this.deleted.has(stream);
    if (known === true) throw new StreamDeleted(stream);
    if (known === false) return;
    const options = { direction: BACKWARDS, fromRevision: END, maxCount: 1, requiresLeader: true } as const;
    try {
      for await (const { event } of reading(client.readStream(`$$${stream}`, options), signal)) {
        if (event && markedBy(event)?.cut) throw new StreamDeleted(stream);
      }
    } catch (error) {
      if (error instanceof StreamDeletedError) throw new StreamDeleted(stream);
      if (!(error instanceof StreamNotFoundError)) throw error;
    }
  }

  override deletedById(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.deleted.byId;
  }

  /** Reads the markers that the server writes to the log when a stream is deleted or truncated. */
  override async deletedStreams(): Promise<readonly string[]> {
    return this.connection.call(async (client, signal, alive) => {
      const deleted = new Set<string>();
      const filter = eventTypeFilter({
        prefixes: ['$streamDeleted', '$metadata'],
        maxSearchWindow: BATCH_EVENTS,
        // The log may hold none of them for a long time.
        checkpointReached: alive,
      });
      const all = client.subscribeToAll({ fromPosition: START, filter, requiresLeader: true });
      // Pushed among the events, so that it is read after those that came before it.
      all.on('caughtUp', () => void all.push('caught up'));
      try {
        await new Promise<void>((resolve, reject) => {
          all.on('data', (item: AllStreamResolvedEvent | 'caught up') => {
            alive();
            if (item === 'caught up') return resolve();
            const marked = item.event && markedBy(item.event);
            if (marked?.cut) deleted.add(marked.stream);
            else if (marked) deleted.delete(marked.stream);
          });
          all.on('error', reject).on('close', reject);
          signal.addEventListener('abort', reject, { once: true });
        });
      } finally {
        all.unsubscribe().catch(() => undefined);
        all.removeAllListeners('data').resume();
      }
      return [...deleted];
    });
  }

  /**
   * As declared; also rejects once the subscribers' database was away, because a crash may have taken back what they
   * wrote without waiting for the disk.
   */
  override async *subscribe(position: bigint, signal: AbortSignal, filter: Filter = {}): AsyncIterable<Batch> {
    this.tail.open();
    this.restarts?.open();
    const connections = Math.max(this.connections, 1);
    while (!signal.aborted) {
      if (this.connections > connections) throw new Error('The connection to the database was lost.');
      const { count } = this.tail;
      const batch = this.tail.after(position, BATCH_EVENTS, filter);
      if (batch && batch.position > position) {
        position = batch.position;
        yield batch;
      } else if (batch || !this.tail.isOpen) {
        await this.tail.wait(signal, POLL_MS, count);
      } else {
        for await (const older of this.catchUp(position, signal, filter)) {
          position = older.position;
          yield older;
        }
      }
    }
  }

  override async head(): Promise<bigint> {
    return (await this.newest())?.position ?? 0n;
  }

  async newest(): Promise<Recorded | undefined> {
    // A server sends what it is asked for before it hears that the first event was enough.
    return (await this.newestAmong(NEWEST)) ?? this.newestAmong();
  }

  /** The newest event of ours among the newest `maxCount` of all, those of the server included. */
  private async newestAmong(maxCount?: number): Promise<Recorded | undefined> {
    return this.connection.call(async (client, signal, alive) => {
      await this.continuity.check();
      const all = client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount, requiresLeader: true });
      for await (const { event } of reading(all, signal)) {
        alive();
        if (!event || !isOurs(event)) continue;
        const newest = toEvent(event);
        this.continuity.note(newest);
        return newest;
      }
      return undefined;
    });
  }

  override async at(position: bigint): Promise<Recorded | undefined> {
    return this.connection.call(async (client, signal) => {
      try {
        const all = client.readAll({ fromPosition: from(position), maxCount: 1, requiresLeader: true });
        for await (const { event } of reading(all, signal)) {
          return event?.position.commit === position && isOurs(event) ? toEvent(event) : undefined;
        }
        return undefined;
      } catch (error) {
        // A server refuses to read on from where no record begins.
        if (/InvalidPosition/.test(String(error))) return undefined;
        throw error;
      }
    });
  }

  /** As declared; records of the server count too. */
  override async end(): Promise<bigint> {
    return this.connection.call(async (client, signal) => {
      const all = client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1, requiresLeader: true });
      for await (const { event } of reading(all, signal)) return event?.position.commit ?? 0n;
      return 0n;
    });
  }

  /** Asks the leader, and the subscribers' database. */
  override async ready(): Promise<void> {
    await Promise.all([this.head(), this.database?.query('select 1')]);
  }

  /** Yields the events before the tail, in order and without a gap. */
  private async *catchUp(position: bigint, signal: AbortSignal, filter: Filter): AsyncGenerator<Batch> {
    for await (const { events, position: reached } of this.older.from(position, signal)) {
      yield { events: events.filter((event) => matches(event, filter)), position: reached };
      if (this.tail.reaches(reached)) return;
    }
  }

  private async readOn(position: bigint): Promise<Batch> {
    return this.connection.call(async (client, signal, alive) => {
      await this.continuity.check();
      const events: Recorded[] = [];
      let reached = position;
      const all = client.readAll({ fromPosition: from(position), maxCount: BATCH_EVENTS, requiresLeader: true });
      for await (const { event } of reading(all, signal)) {
        alive();
        if (!event || event.position.commit <= position) continue;
        reached = event.position.commit;
        if (isOurs(event)) events.push(toEvent(event));
        // Positions grow by bytes: a batch is held in memory.
        if (reached - position > BATCH_BYTES) break;
      }
      return { events, position: reached };
    });
  }

  private async appendAt(
    stream: string,
    version: number,
    sent: readonly Sent[],
    metadata: Metadata,
  ): Promise<Appended> {
    const timed = hasOriginalTime(metadata)
      ? metadata
      : withOriginalTime(metadata, await this.timeAfter(stream, version));
    const text = JSON.stringify(timed);
    const events = sent.map((event) => ({ ...event, metadata: text }));
    try {
      // The same ids at the same revision are appended once, however often they are sent.
      const { revision, position } = await this.connection.call(async (client, signal, alive) => {
        await this.continuity.check();
        // A new stream has not been read, which would have shown that it was deleted.
        if (version === 0) await this.requireWhole(client, stream, signal);
        else if (this.deleted.has(stream)) throw new StreamDeleted(stream);
        // A read that was ended with its connection ends like any other.
        signal.throwIfAborted();
        const batches = await this.batchesOf(client);
        const end = () => batches.cancel();
        signal.addEventListener('abort', end, { once: true });
        return batches.append(stream, version, events, alive).finally(() => signal.removeEventListener('abort', end));
      }, sent.length * EVENT_MS);
      const reached = Number(revision) + 1;
      const isRepeated = this.times.newest(stream) >= reached;
      const appended =
        position === undefined || isRepeated
          ? await this.recorded(stream, revision, sent.at(-1)!.id)
          : { version: reached, position, time: originalTime(timed) };
      this.times.note({ stream, ...appended });
      this.continuity.note({ id: sent.at(-1)!.id, stream, position: appended.position });
      return appended;
    } catch (error) {
      if (error instanceof StreamDeletedError) throw new StreamDeleted(stream);
      if (error instanceof MaxAppendSizeExceededError)
        throw new AppendTooLarge(
          stream,
          sent.reduce((sum, { type, data }) => sum + 2 * type.length + data.length + text.length, 0),
        );
      if (!(error instanceof WrongExpectedVersionError)) throw error;
      const { actualVersion } = error;
      const actual = typeof actualVersion === 'bigint' ? versionOf(actualVersion) : 0;
      if (actual === undefined) throw new StreamDeleted(stream);
      throw new VersionConflict(stream, version, actual);
    }
  }

  /** Returns the present time, or the time of the event at a version of the stream when that is later. */
  private async timeAfter(stream: string, version: number): Promise<string> {
    const now = new Date(this.now()).toISOString();
    const before = version === 0 ? undefined : (this.times.of(stream, version) ?? (await this.timeOf(stream, version)));
    return before !== undefined && before > now ? before : now;
  }

  private async timeOf(stream: string, version: number): Promise<string | undefined> {
    try {
      return (await this.part(stream, version - 1, true)).events[0]?.time;
    } catch (error) {
      // The append says that the stream was deleted.
      if (error instanceof StreamDeleted) return undefined;
      throw error;
    }
  }

  /** Reads an appended event back: it was there before, with another time, or the server does not say where it is. */
  private async recorded(stream: string, revision: bigint, id: string): Promise<Appended> {
    const event = (await this.read(stream, Number(revision)))[0];
    if (event?.id !== id) throw new Error(`Stream ${stream} holds another event where ${id} was appended.`);
    const { version, position, time } = event;
    return { version, position, time };
  }

  /** Appends behind whatever is there: at `version` first, then at the one that is found. */
  private async appendAfter(
    stream: string,
    version: number,
    sent: readonly Sent[],
    metadata: Metadata,
  ): Promise<Appended> {
    for (;;) {
      try {
        return await this.appendAt(stream, version, sent, metadata);
      } catch (error) {
        if (!(error instanceof VersionConflict)) throw error;
        version = error.actual;
      }
    }
  }

  /** Runs the appends to a stream one after the other, each with the newest known version (0 when none is known). */
  private async inTurn(stream: string, append: (version: number) => Promise<Appended>): Promise<Appended> {
    const before = this.turns.get(stream);
    const turn = (async () => {
      const last = await before?.catch(() => undefined);
      return append(last?.version ?? this.times.newest(stream));
    })();
    this.turns.set(stream, turn);
    try {
      return await turn;
    } finally {
      if (this.turns.get(stream) === turn) this.turns.delete(stream);
    }
  }

  /** Returns the newest of these events that the stream contains already; undefined when it contains none. */
  private async find(stream: string, sent: readonly Sent[]): Promise<Appended | undefined> {
    const ids = new Set(sent.map(({ id }) => id));
    const newest = (await this.read(stream)).findLast(({ id }) => ids.has(id));
    return newest && { version: newest.version, position: newest.position, time: newest.time };
  }
}
