import { randomUUID } from 'node:crypto';
import { ErrorType, type EventStoreDBClient, isCommandError } from '@eventstore/db-client';
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError';
import { convertToCommandError } from '@eventstore/db-client/dist/utils/CommandError';
import { StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb';
import { BatchAppendReq, type BatchAppendResp } from '@eventstore/db-client/generated/streams_pb';
import { Unavailable } from '@fairlead/schema';
import type { CallOptions, ClientDuplexStream, Metadata, ServiceError } from '@grpc/grpc-js';
import { Empty } from 'google-protobuf/google/protobuf/empty_pb';
import { Timestamp } from 'google-protobuf/google/protobuf/timestamp_pb';
import { positionOf } from './event';

/**
 * Time limit of an append for the server (ms). The server takes it for a time of day, so it is longer than clocks differ;
 * its own limit is shorter.
 */
const DEADLINE_MS = 3_600_000;
/** Limits on what was sent and is not answered. */
const SENT = { appends: 128, bytes: 8_000_000 };
/** Limits on what waits here until it may be sent. An append above them is refused. */
const QUEUED = { appends: 10_000, bytes: 64_000_000 };
/** Shortest interval at which appends that wait here hear that the server answers others (ms). */
const ALIVE_MS = 250;

type Call = ClientDuplexStream<BatchAppendReq, BatchAppendResp>;
/** Private methods of the client: the channel to the leader of the cluster, and the credentials. */
interface Internals {
  GRPCStreamCreator(
    client: typeof StreamsClient,
    name: string,
    create: (client: StreamsClient) => Call,
  ): () => Promise<Call>;
  callArguments(options: { requiresLeader: boolean }, call: CallOptions): [Metadata, CallOptions];
}

/** An event as it is sent; data and metadata are JSON texts. */
interface BatchedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

/** The revision of the last event that an append wrote, and its position where the server says it. */
interface Answer {
  readonly revision: bigint;
  readonly position: bigint | undefined;
}

interface Waiting {
  readonly stream: string;
  readonly bytes: number;
  readonly alive: () => void;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** The server did not carry out an append, for no reason that is known here: its node may no longer lead. */
export class NotCarriedOut extends Error {}

/** Reasons to refuse one append. An error of the whole call never says them of all others. */
const OF_ONE = new Set<string>([
  ErrorType.WRONG_EXPECTED_VERSION,
  ErrorType.STREAM_DELETED,
  ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED,
]);

/** Too many appends wait for the event store (503). */
class TooManyAppends extends Unavailable {
  constructor() {
    super(1, 'Too many changes wait for the event store, try again.');
  }
}

/**
 * Sends appends one after the other in one call, without waiting for the answers; the server carries them out in their
 * order, and answers each by itself. The appends of the client itself are not used. Its single append throws outside of
 * its promise when its channel was closed, so that nobody hears it. Its batches share one table of waiting appends among
 * all instances, which each broken call empties.
 */
export class EventStoreDbBatches {
  private readonly waiting = new Map<string, Waiting>();
  private readonly queue: { readonly id: string; readonly append: Waiting; readonly request: BatchAppendReq }[] = [];
  private readonly bytes = { sent: 0, queued: 0 };
  private toldAt = 0;
  private failure: Error | undefined;
  private isClosing = false;

  private constructor(
    private readonly call: Call,
    private readonly over: () => void,
  ) {
    call.on('data', (answer: BatchAppendResp) => this.heard(answer));
    call.on('error', (error: ServiceError) => this.end(ofAll(convertToCommandError(error))));
    call.on('end', () => this.end(new Error('the server ended the call')));
  }

  /** Begins the call. `over` is called when it takes no further appends. */
  static async open(client: EventStoreDBClient, over = (): void => undefined): Promise<EventStoreDbBatches> {
    const internals = client as unknown as Internals;
    const create = internals.GRPCStreamCreator(StreamsClient, 'append', (streams) =>
      streams.batchAppend(...internals.callArguments({ requiresLeader: true }, { deadline: Infinity })),
    );
    return new EventStoreDbBatches(await create(), over);
  }

  /**
   * Appends to a stream that holds `version` events; the same ids at the same version are appended once. Resolves when
   * they are durable. `alive` is called while the append waits to be sent and others are answered. @throws
   * WrongExpectedVersionError when the stream holds another number, TooManyAppends, and what ended the call
   */
  append(
    stream: string,
    version: number,
    events: readonly BatchedEvent[],
    alive: () => void = () => undefined,
  ): Promise<Answer> {
    if (this.failure) return Promise.reject(this.failure);
    const bytes = events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0);
    const isFull = this.queue.length >= QUEUED.appends || this.bytes.queued + bytes > QUEUED.bytes;
    if (isFull) return Promise.reject(new TooManyAppends());
    const id = randomUUID();
    const options = new BatchAppendReq.Options()
      .setStreamIdentifier(new StreamIdentifier().setStreamName(Uint8Array.from(Buffer.from(stream))))
      .setDeadline(Timestamp.fromDate(new Date(Date.now() + DEADLINE_MS)));
    if (version === 0) options.setNoStream(new Empty());
    else options.setStreamPosition(String(version - 1));
    const request = new BatchAppendReq()
      .setCorrelationId(new UUID().setString(id))
      .setOptions(options)
      .setProposedMessagesList(events.map(proposed))
      .setIsFinal(true);
    return new Promise((resolve, reject) => {
      this.queue.push({ id, append: { stream, bytes, alive, resolve, reject }, request });
      this.bytes.queued += bytes;
      this.send();
    });
  }

  /** Ends the call at once. Appends without an answer are rejected. */
  cancel(reason = 'the call was ended'): void {
    if (this.failure) return;
    this.end(new Error(reason));
    this.call.cancel();
  }

  /** Ends the call when every append has been answered: a server does not end one whose client has nothing more to say. */
  close(): void {
    this.isClosing = true;
    if (this.waiting.size === 0) this.cancel();
  }

  private send(): void {
    for (let first = this.queue[0]; first && this.hasRoomFor(first.append); first = this.queue[0]) {
      const { id, append, request } = first;
      this.queue.shift();
      this.bytes.queued -= append.bytes;
      this.bytes.sent += append.bytes;
      this.waiting.set(id, append);
      append.alive();
      this.call.write(request);
    }
  }

  private hasRoomFor({ bytes }: Waiting): boolean {
    const { size } = this.waiting;
    return size === 0 || (size < SENT.appends && this.bytes.sent + bytes <= SENT.bytes);
  }

  private heard(answer: BatchAppendResp): void {
    try {
      this.answered(answer);
    } catch {
      this.cancel('the answer of the server is not understood');
    }
  }

  private answered(answer: BatchAppendResp): void {
    const id = textOf(answer.getCorrelationId()!);
    const append = this.waiting.get(id);
    if (!append) return;
    const outcome = outcomeOf(answer, append.stream);
    this.waiting.delete(id);
    this.bytes.sent -= append.bytes;
    if (outcome instanceof Error) append.reject(outcome);
    else append.resolve(outcome);
    this.send();
    if (this.queue.length > 0 && Date.now() - this.toldAt >= ALIVE_MS) {
      this.toldAt = Date.now();
      for (const { append: later } of this.queue) later.alive();
    }
    if (this.isClosing) this.close();
  }

  private end(failure: Error): void {
    if (this.failure) return;
    this.failure = failure;
    this.over();
    for (const { reject } of this.waiting.values()) reject(failure);
    for (const { append } of this.queue.splice(0)) append.reject(failure);
    this.waiting.clear();
  }
}

/** Returns an error of the call for all its appends, which may be repeated unless none of them may be made at all. */
function ofAll(error: Error): Error {
  return isCommandError(error) && OF_ONE.has(error.type) ? new Error(error.message) : error;
}

function outcomeOf(answer: BatchAppendResp, stream: string): Answer | Error {
  const error = answer.getError();
  if (!error) return answerOf(answer.getSuccess()!);
  const reason = unpackToCommandError(error, stream);
  return reason.type === ErrorType.UNKNOWN ? new NotCarriedOut(reason.message) : reason;
}

function answerOf(success: BatchAppendResp.Success): Answer {
  const position = success.getPosition();
  return {
    revision: BigInt(success.getCurrentRevision()),
    position: positionOf(position && BigInt(position.getCommitPosition())),
  };
}

function proposed({ id, type, data, metadata }: BatchedEvent): BatchAppendReq.ProposedMessage {
  const message = new BatchAppendReq.ProposedMessage()
    .setId(new UUID().setString(id))
    .setData(Buffer.from(data).toString('base64'))
    .setCustomMetadata(Buffer.from(metadata).toString('base64'));
  message.getMetadataMap().set('type', type).set('content-type', 'application/json');
  return message;
}

/** Returns the text of an id. A server sends it as two numbers, or as the text that it received. */
function textOf(id: UUID): string {
  const numbers = id.getStructured();
  if (!numbers) return id.getString();
  const [high, low] = [numbers.getMostSignificantBits(), numbers.getLeastSignificantBits()];
  const hex = [high, low].map((bits) => BigInt.asUintN(64, BigInt(bits)).toString(16).padStart(16, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
