import { GossipService } from '@eventstore/db-client/generated/gossip_grpc_pb';
import { ClusterInfo, EndPoint, MemberInfo } from '@eventstore/db-client/generated/gossip_pb';
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb';
import { SupportedMethod, SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb';
import {
  AllStreamPosition,
  Empty,
  MaximumAppendSizeExceeded,
  StreamDeleted,
  StreamIdentifier,
  UUID,
  WrongExpectedVersion,
} from '@eventstore/db-client/generated/shared_pb';
import { Status } from '@eventstore/db-client/generated/status_pb';
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb';
import {
  type AppendReq,
  AppendResp,
  type BatchAppendReq,
  BatchAppendResp,
  DeleteResp,
  ReadReq,
  ReadResp,
  TombstoneResp,
} from '@eventstore/db-client/generated/streams_pb';
import { Metadata, type StatusObject, status } from '@grpc/grpc-js';
import { Any } from 'google-protobuf/google/protobuf/any_pb';
import { Empty as ProtobufEmpty } from 'google-protobuf/google/protobuf/empty_pb';
import { DELETED, type Expected, type Judged, type LogRecord, type Proposed } from './esdb-log';

/** The services of EventStoreDB that the double speaks, as the client package describes them. */
export const services = { streams: StreamsService, gossip: GossipService, features: ServerFeaturesService };

export interface Address {
  readonly address: string;
  readonly port: number;
}

type Message = AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage;
type Wanted = AppendReq.Options | BatchAppendReq.Options;

export function proposed(message: Message): Proposed {
  const metadata = message.getMetadataMap();
  return {
    id: message.getId()!.getString(),
    type: metadata.get('type') ?? '',
    contentType: metadata.get('content-type') ?? '',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
}

export function streamOf(options: { getStreamIdentifier(): StreamIdentifier | undefined }): string {
  return Buffer.from(options.getStreamIdentifier()!.getStreamName_asU8()).toString();
}

export function expectedOf(options: Wanted): Expected {
  if (options.hasAny()) return 'any';
  if (options.hasNoStream()) return 'no stream';
  if (options.hasStreamExists()) return 'stream exists';
  return Number('getRevision' in options ? options.getRevision() : options.getStreamPosition());
}

export function appended(judged: Exclude<Judged, { deleted: string }>, expected: Expected): AppendResp {
  const answer = new AppendResp();
  if ('nothing' in judged) {
    const success = new AppendResp.Success().setNoPosition(new Empty());
    return answer.setSuccess(
      judged.nothing < 0 ? success.setNoStream(new Empty()) : success.setCurrentRevision(`${judged.nothing}`),
    );
  }
  if ('last' in judged) {
    const { revision, position } = judged.last;
    const at = new AppendResp.Position().setCommitPosition(`${position}`).setPreparePosition(`${position}`);
    return answer.setSuccess(new AppendResp.Success().setCurrentRevision(`${revision}`).setPosition(at));
  }
  const wrong = new AppendResp.WrongExpectedVersion();
  if (judged.current < 0) wrong.setCurrentNoStream(new Empty());
  else wrong.setCurrentRevision(`${judged.current}`);
  if (typeof expected === 'number') wrong.setExpectedRevision(`${expected}`);
  else wrong.setExpectedNoStream(new Empty());
  return answer.setWrongExpectedVersion(wrong);
}

export function batchAppended(
  judged: Judged | { readonly tooLarge: number },
  id: UUID,
  options: BatchAppendReq.Options,
): BatchAppendResp {
  const answer = new BatchAppendResp()
    .setCorrelationId(structured(id))
    .setStreamIdentifier(options.getStreamIdentifier());
  if ('nothing' in judged) {
    const success = new BatchAppendResp.Success().setNoPosition(new ProtobufEmpty());
    return answer.setSuccess(
      judged.nothing < 0 ? success.setNoStream(new ProtobufEmpty()) : success.setCurrentRevision(`${judged.nothing}`),
    );
  }
  if ('last' in judged) {
    const { revision, position } = judged.last;
    const at = new AllStreamPosition().setCommitPosition(`${position}`).setPreparePosition(`${position}`);
    return answer.setSuccess(new BatchAppendResp.Success().setCurrentRevision(`${revision}`).setPosition(at));
  }
  if ('deleted' in judged) {
    const name = new StreamDeleted().setStreamIdentifier(named(judged.deleted));
    return answer.setError(failed('event_store.client.StreamDeleted', name.serializeBinary()));
  }
  if ('tooLarge' in judged) {
    const limit = new MaximumAppendSizeExceeded().setMaxappendsize(judged.tooLarge);
    return answer.setError(failed('event_store.client.MaximumAppendSizeExceeded', limit.serializeBinary()));
  }
  const wrong = new WrongExpectedVersion();
  if (judged.current >= 0) wrong.setCurrentStreamRevision(`${judged.current}`);
  return answer.setError(failed('event_store.client.WrongExpectedVersion', wrong.serializeBinary()));
}

export function read({
  id,
  stream,
  revision,
  position,
  type,
  contentType,
  data,
  metadata,
  created,
}: LogRecord): ReadResp {
  const event = new ReadResp.ReadEvent.RecordedEvent()
    .setId(new UUID().setString(id))
    .setStreamIdentifier(named(stream))
    .setStreamRevision(`${revision === DELETED ? 2n ** 63n - 1n : revision}`)
    .setCommitPosition(`${position}`)
    .setPreparePosition(`${position}`)
    .setData(data)
    .setCustomMetadata(metadata);
  const facts = { type, 'content-type': contentType, created: `${created}0000` };
  for (const [name, value] of Object.entries(facts)) event.getMetadataMap().set(name, value);
  return new ReadResp().setEvent(new ReadResp.ReadEvent().setEvent(event).setCommitPosition(`${position}`));
}

export function notFound(stream: string): ReadResp {
  return new ReadResp().setStreamNotFound(new ReadResp.StreamNotFound().setStreamIdentifier(named(stream)));
}

export function confirmation(id: string): ReadResp {
  return new ReadResp().setConfirmation(new ReadResp.SubscriptionConfirmation().setSubscriptionId(id));
}

/** Position that a server sends when it knows none. */
export const NOWHERE = `${2n ** 64n - 1n}`;

export function checkpoint(position: string): ReadResp {
  const at = new ReadResp.Checkpoint().setCommitPosition(position).setPreparePosition(position);
  return new ReadResp().setCheckpoint(at);
}

export function caughtUp(): ReadResp {
  return new ReadResp().setCaughtUp(new ReadResp.CaughtUp());
}

export function clusterInfo(members: readonly (Address & { readonly leads: boolean })[]): ClusterInfo {
  const { LEADER, FOLLOWER } = MemberInfo.VNodeState;
  return new ClusterInfo().setMembersList(
    members.map(({ address, port, leads }) =>
      new MemberInfo()
        .setIsAlive(true)
        .setState(leads ? LEADER : FOLLOWER)
        .setHttpEndPoint(new EndPoint().setAddress(address).setPort(port)),
    ),
  );
}

export function deleted(): DeleteResp {
  return new DeleteResp().setNoPosition(new Empty());
}

export function tombstoned(): TombstoneResp {
  return new TombstoneResp().setNoPosition(new Empty());
}

export function supportedMethods(): SupportedMethods {
  const method = new SupportedMethod()
    .setServiceName('event_store.client.streams.streams')
    .setMethodName('batchappend');
  return new SupportedMethods().setMethodsList([method]).setEventStoreServerVersion('24.6.0.0');
}

/** Which records a subscription wants, and after how many it is told how far it has come. */
export function filterOf(options: ReadReq.Options): {
  wants: (record: LogRecord) => boolean;
  window: number;
  every: number;
} {
  const filter = options.getFilter();
  if (!filter) return { wants: () => true, window: 32, every: Infinity };
  const expression = filter.getStreamIdentifier() ?? filter.getEventType()!;
  const pattern = expression.getRegex() ? new RegExp(expression.getRegex()) : undefined;
  const prefixes = expression.getPrefixList();
  const window = filter.hasMax() ? filter.getMax() : 32;
  return {
    window,
    every: window * filter.getCheckpointintervalmultiplier(),
    wants(record) {
      const text = filter.hasStreamIdentifier() ? record.stream : record.type;
      return pattern ? pattern.test(text) : prefixes.some((prefix) => text.startsWith(prefix));
    },
  };
}

export const refusals = {
  notReady: () => refusal(status.UNAVAILABLE, 'Server Is Not Ready'),
  dropped: () => refusal(status.UNAVAILABLE, 'The subscription was dropped'),
  noLeader: () => refusal(status.UNKNOWN, 'No leader info available in response'),
  invalidPosition: () => refusal(status.UNKNOWN, 'Unexpected ReadAllResult: InvalidPosition'),
  notLeader: ({ address, port }: Address) =>
    refusal(status.NOT_FOUND, 'Leader info available', {
      exception: 'not-leader',
      'leader-endpoint-host': address,
      'leader-endpoint-port': `${port}`,
    }),
  deleted: (stream: string) =>
    refusal(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
      exception: 'stream-deleted',
      'stream-name': stream,
    }),
  tooLarge: (most: number) =>
    refusal(status.INVALID_ARGUMENT, `Maximum Append Size of ${most} Exceeded.`, {
      exception: 'maximum-append-size-exceeded',
      'maximum-append-size': `${most}`,
    }),
};

export type Refusal = Error & StatusObject;

function refusal(code: status, details: string, trailers: Readonly<Record<string, string>> = {}): Refusal {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(trailers)) metadata.set(name, value);
  return Object.assign(new Error(details), { code, details, metadata });
}

function named(stream: string): StreamIdentifier {
  return new StreamIdentifier().setStreamName(Buffer.from(stream));
}

function failed(type: string, details: Uint8Array): Status {
  const any = new Any();
  any.pack(details, type);
  return new Status().setDetails(any);
}

/** As a server answers with an id: two signed numbers. */
function structured(id: UUID): UUID {
  const hex = id.getString().replaceAll('-', '');
  const [high, low] = [hex.slice(0, 16), hex.slice(16)].map((half) => `${BigInt.asIntN(64, BigInt(`0x${half}`))}`);
  return new UUID().setStructured(new UUID.Structured().setMostSignificantBits(high!).setLeastSignificantBits(low!));
}
