import { randomUUID } from 'node:crypto';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError';
import { convertToCommandError } from '@eventstore/db-client/dist/utils/CommandError';
import { StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb';
import { BatchAppendReq, type BatchAppendResp } from '@eventstore/db-client/generated/streams_pb';
import type { CallOptions, ClientDuplexStream, Metadata, ServiceError } from '@grpc/grpc-js';
import { Empty } from 'google-protobuf/google/protobuf/empty_pb';
import { Timestamp } from 'google-protobuf/google/protobuf/timestamp_pb';

/** Time limit of the server for an append that its nodes have not confirmed (ms). */
const DEADLINE_MS = 10_000;

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

interface Waiting {
  readonly stream: string;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * Sends appends one after the other in one call, without waiting for the answers; the server carries them out in their
 * order. The batches of the client itself are not used: all its instances share one table of waiting appends, which
 * each broken call empties.
 */
export class EventStoreDbBatches {
  private readonly waiting = new Map<string, Waiting>();
  private failure: Error | undefined;

  private constructor(private readonly call: Call) {
    call.on('data', (answer: BatchAppendResp) => this.answered(answer));
    call.on('error', (error: ServiceError) => this.end(convertToCommandError(error)));
    call.on('end', () => this.end(new Error('The server ended the call.')));
  }

  static async open(client: EventStoreDBClient): Promise<EventStoreDbBatches> {
    const internals = client as unknown as Internals;
    const create = internals.GRPCStreamCreator(StreamsClient, 'append', (streams) =>
      streams.batchAppend(...internals.callArguments({ requiresLeader: true }, { deadline: Infinity })),
    );
    return new EventStoreDbBatches(await create());
  }

  /**
   * Appends to a stream that holds `version` events; the same ids at the same version are appended once. Resolves when
   * they are durable. @throws WrongExpectedVersionError when it holds another number
   */
  append(stream: string, version: number, events: readonly BatchedEvent[]): Promise<void> {
    if (this.failure) return Promise.reject(this.failure);
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
      this.waiting.set(id, { stream, resolve, reject });
      this.call.write(request);
    });
  }

  /** Ends the call. Appends without an answer are rejected. */
  close(): void {
    this.end(new Error('The call was ended.'));
    this.call.cancel();
  }

  private answered(answer: BatchAppendResp): void {
    const id = textOf(answer.getCorrelationId()!);
    const append = this.waiting.get(id);
    if (!append) return;
    this.waiting.delete(id);
    const error = answer.getError();
    if (error) append.reject(unpackToCommandError(error, append.stream));
    else append.resolve();
  }

  private end(failure: Error): void {
    this.failure ??= failure;
    for (const { reject } of this.waiting.values()) reject(this.failure);
    this.waiting.clear();
  }
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
