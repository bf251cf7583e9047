import { once } from 'node:events';
import {
  type AppendReq,
  type AppendResp,
  type BatchAppendReq,
  type BatchAppendResp,
  type DeleteReq,
  type DeleteResp,
  ReadReq,
  type ReadResp,
  type TombstoneReq,
  type TombstoneResp,
} from '@eventstore/db-client/generated/streams_pb';
import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { v4 as uuid } from 'uuid';
import { EsdbLog, type LogRecord, type Proposed } from './esdb-log';
import * as messages from './esdb-messages';

/** A kind of call that can be made to hang. */
type Kind = 'append' | 'batches' | 'read' | 'subscribe' | 'live' | 'gossip';
type Reading = ServerWritableStream<ReadReq, ReadResp>;

interface DoubleOptions {
  readonly port?: number;
  /** The log of another double makes it a node of the same cluster; by default it has its own. */
  readonly log?: EsdbLog;
  readonly maxAppendSize?: number;
}

const MAX_APPEND_SIZE = 1024 * 1024;
const KINDS: readonly Kind[] = ['append', 'batches', 'read', 'subscribe', 'live', 'gossip'];

/**
 * A stand-in for EventStoreDB that speaks its gRPC protocol with the service descriptors of the client package, as far
 * as Fairlead needs it, and fails on demand. It is a double: it shows that the adapter keeps to the protocol as we
 * understand it, not how a server behaves.
 */
export class EventStoreDbDouble {
  /** Calls that are answered as by a server that is starting. */
  notReady = 0;
  /** Appends that are written and not answered. */
  lostAnswers = 0;
  /** Set for a node that does not lead; 'nobody' when there is no leader. */
  leader: messages.Address | 'nobody' | undefined;
  /** Members of the cluster that gossip reports; only this node when empty. */
  members: EventStoreDbDouble[] = [];
  /** Calls of each kind so far; each append of a batch counts as one, and the call that carries them too. */
  readonly calls: Record<Kind, number> = { append: 0, batches: 0, read: 0, subscribe: 0, live: 0, gossip: 0 };
  /** Events sent to whoever reads or subscribes, repetitions included. */
  sent = 0;
  /** Calls for each stream so far: those that read it and those that append to it. */
  readonly streams = new Map<string, { reads: number; appends: number }>();
  private readonly stalled = new Map<Kind, { readonly over: Promise<void>; readonly end: () => void }>();
  private readonly subscriptions = new Set<Reading>();
  private readonly batches = new Set<ServerDuplexStream<BatchAppendReq, BatchAppendResp>>();

  private constructor(
    public log: EsdbLog,
    private readonly maxAppendSize: number,
    private readonly server: Server,
    public address: messages.Address,
  ) {}

  static async start({ port = 0, log = new EsdbLog(), maxAppendSize = MAX_APPEND_SIZE }: DoubleOptions = {}) {
    const server = new Server({ 'grpc.max_receive_message_length': 17 * MAX_APPEND_SIZE });
    const double = new EventStoreDbDouble(log, maxAppendSize, server, { address: '127.0.0.1', port });
    double.serve();
    const bound = await new Promise<number>((resolve, reject) => {
      const done = (error: Error | null, at: number) => (error ? reject(error) : resolve(at));
      server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), done);
    });
    double.address = { address: '127.0.0.1', port: bound };
    return double;
  }

  /** For clients of this node. */
  get url(): string {
    return `esdb://127.0.0.1:${this.address.port}?tls=false`;
  }

  /** Breaks every connection. */
  async stop(): Promise<void> {
    for (const { end } of this.stalled.values()) end();
    this.server.forceShutdown();
  }

  /** Calls of this kind are taken and not answered until `resume`; 'live' holds back what is appended from now on. */
  stall(kind: Kind): void {
    let end = () => undefined as void;
    const over = new Promise<void>((resolve) => (end = resolve));
    this.stalled.set(kind, { over, end });
  }

  resume(kind: Kind): void {
    this.stalled.get(kind)?.end();
    this.stalled.delete(kind);
  }

  /** Hangs, as a process that is stopped: it takes calls and answers none, and its log stays as it is. */
  hang(): void {
    for (const kind of KINDS) this.stall(kind);
    this.log = this.log.backup();
  }

  /**
   * Goes on after it hung, with its old log and epoch: it calls itself leader, answers reads, and cannot append, because
   * no other node follows it.
   */
  wake(): void {
    this.leader = undefined;
    for (const kind of KINDS) if (kind !== 'append' && kind !== 'batches') this.resume(kind);
  }

  /** Hears of the newer epoch: it follows the leader, and has its log. */
  follow(leader: EventStoreDbDouble): void {
    this.leader = leader.address;
    this.log = leader.log;
    for (const kind of KINDS) this.resume(kind);
    this.dropSubscriptions();
  }

  /** Ends every subscription: with an error, or as if there were no more to come. */
  dropSubscriptions(how: 'error' | 'end' = 'error'): void {
    for (const call of this.subscriptions) {
      if (how === 'error') call.emit('error', messages.refusals.dropped());
      else call.end();
    }
    this.subscriptions.clear();
    for (const wake of this.log.listeners) wake();
  }

  /** Breaks every call that carries batches of appends. */
  breakBatches(): void {
    for (const call of this.batches) call.emit('error', messages.refusals.dropped());
    this.batches.clear();
  }

  private serve(): void {
    const { streams, gossip, features } = messages.services;
    this.server.addService(streams, {
      read: (call: Reading) => void this.read(call),
      append: (call: ServerReadableStream<AppendReq, AppendResp>, answer: sendUnaryData<AppendResp>) =>
        void this.append(call, answer),
      batchAppend: (call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>) => this.batchAppend(call),
      delete: ({ request }: ServerUnaryCall<DeleteReq, DeleteResp>, answer: sendUnaryData<DeleteResp>) => {
        this.log.delete(messages.streamOf(request.getOptions()!));
        answer(null, messages.deleted());
      },
      tombstone: ({ request }: ServerUnaryCall<TombstoneReq, TombstoneResp>, answer: sendUnaryData<TombstoneResp>) => {
        this.log.tombstone(messages.streamOf(request.getOptions()!));
        answer(null, messages.tombstoned());
      },
    });
    this.server.addService(gossip, {
      read: (_call: unknown, answer: sendUnaryData<unknown>) => void this.gossip(answer),
    });
    this.server.addService(features, {
      getSupportedMethods: (_call: unknown, answer: sendUnaryData<unknown>) =>
        answer(null, messages.supportedMethods()),
    });
  }

  private async gossip(answer: sendUnaryData<unknown>): Promise<void> {
    await this.taken('gossip');
    const members = this.members.length > 0 ? this.members : [this];
    answer(null, messages.clusterInfo(members.map((node) => ({ ...node.address, leads: !node.leader }))));
  }

  private async append(
    call: ServerReadableStream<AppendReq, AppendResp>,
    answer: sendUnaryData<AppendResp>,
  ): Promise<void> {
    let options: AppendReq.Options | undefined;
    const events: Proposed[] = [];
    call.on('data', (request: AppendReq) => {
      options ??= request.getOptions();
      const message = request.getProposedMessage();
      if (message) events.push(messages.proposed(message));
    });
    await once(call, 'end');
    await this.taken('append');
    // The call of a client that has died ends, too.
    if (call.cancelled) return;
    const refusal =
      this.refusal(call) ?? (this.tooLarge(events) ? messages.refusals.tooLarge(this.maxAppendSize) : null);
    if (refusal) return answer(refusal);
    const expected = messages.expectedOf(options!);
    const stream = messages.streamOf(options!);
    this.count(stream).appends += 1;
    const judged = this.log.append(stream, expected, events);
    if ('deleted' in judged) return answer(messages.refusals.deleted(judged.deleted));
    if (this.lostAnswers > 0) this.lostAnswers -= 1;
    else answer(null, messages.appended(judged, expected));
  }

  private batchAppend(call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>): void {
    const pending = new Map<string, { options: BatchAppendReq.Options; events: Proposed[] }>();
    const receive = async (request: BatchAppendReq) => {
      const id = request.getCorrelationId()!.getString();
      const options = request.getOptions();
      if (options) pending.set(id, { options, events: [] });
      const append = pending.get(id)!;
      append.events.push(...request.getProposedMessagesList().map((message) => messages.proposed(message)));
      if (!request.getIsFinal()) return;
      pending.delete(id);
      await this.taken('append');
      if (call.cancelled || !this.batches.has(call)) return;
      const refusal = this.refusal(call);
      if (refusal) {
        this.batches.delete(call);
        return void call.emit('error', refusal);
      }
      const stream = messages.streamOf(append.options);
      this.count(stream).appends += 1;
      const judged = this.tooLarge(append.events)
        ? { tooLarge: this.maxAppendSize }
        : this.log.append(stream, messages.expectedOf(append.options), append.events);
      if (this.lostAnswers > 0) this.lostAnswers -= 1;
      else call.write(messages.batchAppended(judged, request.getCorrelationId()!, append.options));
    };
    this.batches.add(call);
    call.on('cancelled', () => this.batches.delete(call));
    let received = this.taken('batches');
    call.on('data', (request: BatchAppendReq) => void (received = received.then(() => receive(request))));
    call.on('end', () => call.end());
  }

  private async read(call: Reading): Promise<void> {
    const options = call.request.getOptions()!;
    const kind = options.hasSubscription() ? 'subscribe' : 'read';
    await this.taken(kind);
    const refusal = this.refusal(call);
    if (refusal) return void call.emit('error', refusal);
    if (kind === 'subscribe') return this.subscribe(call, options);
    const name = options.hasStream() && messages.streamOf(options.getStream()!);
    if (name) this.count(name).reads += 1;
    if (name && this.log.isDeleted(name)) return void call.emit('error', messages.refusals.deleted(name));
    const left = name ? this.log.stream(name).length - this.log.beginningOf(name) : 0;
    if (name && left <= 0) await send(call, messages.notFound(name));
    let most = Number(options.getCount());
    const records = name ? this.ofStream(options, name) : this.ofAll(options);
    if (!records) return void call.emit('error', messages.refusals.invalidPosition());
    for (const record of records) {
      if (most-- <= 0 || call.cancelled) break;
      this.sent += 1;
      await send(call, messages.read(record));
    }
    call.end();
  }

  private ofStream(options: ReadReq.Options, name: string): readonly LogRecord[] {
    const records = this.log.stream(name).filter(({ revision }) => revision >= this.log.beginningOf(name));
    const stream = options.getStream()!;
    const backwards = options.getReadDirection() === ReadReq.Options.ReadDirection.BACKWARDS;
    const at = stream.hasRevision() ? Number(stream.getRevision()) : undefined;
    if (backwards) return records.filter(({ revision }) => revision <= (at ?? Infinity)).reverse();
    return stream.hasEnd() ? [] : records.filter(({ revision }) => revision >= (at ?? 0));
  }

  /** Undefined when it is to begin at a position where no record begins. */
  private ofAll(options: ReadReq.Options): readonly LogRecord[] | undefined {
    const { records } = this.log;
    const all = options.getAll()!;
    const position = all.hasPosition() ? Number(all.getPosition()!.getCommitPosition()) : undefined;
    const at = position === undefined ? undefined : this.log.indexAt(position);
    if (at !== undefined && (records[at]?.position ?? position) !== position) return undefined;
    const backwards = options.getReadDirection() === ReadReq.Options.ReadDirection.BACKWARDS;
    if (backwards) return all.hasStart() ? [] : records.slice(0, at).reverse();
    return all.hasEnd() ? [] : records.slice(at ?? 0);
  }

  /**
   * Catches up in windows of records, then goes on with what is appended, record by record. A checkpoint in between is the
   * position where its window begins; the last one, before the end, is the newest position that was told, of no meaning
   * (the largest number) when there was none.
   */
  private async subscribe(call: Reading, options: ReadReq.Options): Promise<void> {
    const filter = messages.filterOf(options);
    this.subscriptions.add(call);
    call.on('cancelled', () => this.subscriptions.delete(call));
    await send(call, messages.confirmation(uuid()));
    let index = this.firstOf(options);
    if (index === undefined) return void call.emit('error', messages.refusals.invalidPosition());
    const all = options.getAll()!;
    let told = all.hasPosition() ? all.getPosition()!.getCommitPosition() : messages.NOWHERE;
    let begins = all.hasPosition() ? told : '0';
    let considered = 0;
    for (
      let window = this.window(index, filter.window);
      window.length > 0;
      window = this.window(index, filter.window)
    ) {
      for (const record of window.filter(filter.wants)) {
        this.sent += 1;
        await send(call, messages.read(record));
        told = `${record.position}`;
      }
      index += window.length;
      considered += window.length;
      if (considered >= filter.every && index < this.log.records.length) {
        considered %= filter.every;
        if (BigInt(begins) > BigInt(told) || told === messages.NOWHERE) told = begins;
        await send(call, messages.checkpoint(told));
      }
      begins = `${window.at(-1)!.position}`;
    }
    if (considered > 0 && filter.every < Infinity) await send(call, messages.checkpoint(told));
    considered = 0;
    await send(call, messages.caughtUp());
    while (this.subscriptions.has(call)) {
      const record = this.log.records[index];
      if (!record) {
        await this.appended(call);
        continue;
      }
      await this.taken('live');
      index += 1;
      considered += 1;
      if (filter.wants(record)) {
        this.sent += 1;
        await send(call, messages.read(record));
      }
      if (considered < filter.every) continue;
      considered = 0;
      await send(call, messages.checkpoint(`${record.position}`));
    }
  }

  private window(index: number, size: number): readonly LogRecord[] {
    return this.log.records.slice(index, index + size);
  }

  /** The record at the position has been seen: the one after it comes first. */
  private firstOf(options: ReadReq.Options): number | undefined {
    const all = options.getAll()!;
    if (all.hasStart()) return 0;
    if (all.hasEnd()) return this.log.records.length;
    const position = Number(all.getPosition()!.getCommitPosition());
    const index = this.log.indexAt(position);
    const record = this.log.records[index];
    if (record && record.position !== position) return undefined;
    return record ? index + 1 : index;
  }

  /** Resolves at the next append, and when a subscription ends. */
  private appended(call: Reading): Promise<void> {
    return new Promise((resolve) => {
      const resume = () => {
        this.log.listeners.delete(resume);
        call.off('cancelled', resume).off('close', resume);
        resolve();
      };
      this.log.listeners.add(resume);
      call.on('cancelled', resume).on('close', resume);
    });
  }

  private count(stream: string): { reads: number; appends: number } {
    const counted = this.streams.get(stream) ?? { reads: 0, appends: 0 };
    this.streams.set(stream, counted);
    return counted;
  }

  private async taken(kind: Kind): Promise<void> {
    this.calls[kind] += 1;
    await this.stalled.get(kind)?.over;
  }

  private refusal({ metadata }: Pick<ServerUnaryCall<unknown, unknown>, 'metadata'>): messages.Refusal | undefined {
    if (this.notReady > 0) {
      this.notReady -= 1;
      return messages.refusals.notReady();
    }
    if (!this.leader || metadata.get('requires-leader')[0] !== 'true') return undefined;
    return this.leader === 'nobody' ? messages.refusals.noLeader() : messages.refusals.notLeader(this.leader);
  }

  private tooLarge(events: readonly Proposed[]): boolean {
    const size = (event: Proposed) => 2 * event.type.length + event.data.length + event.metadata.length;
    return events.reduce((sum, event) => sum + size(event), 0) > this.maxAppendSize;
  }
}

/** Writes no faster than the client reads. */
async function send(call: Reading, message: ReadResp): Promise<void> {
  if (call.cancelled || call.destroyed || call.writableEnded || call.write(message)) return;
  await new Promise<void>((resolve) => {
    const resume = () => {
      call.off('drain', resume).off('cancelled', resume).off('close', resume);
      resolve();
    };
    call.on('drain', resume).on('cancelled', resume).on('close', resume);
  });
}
