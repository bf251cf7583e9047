import type { Recorded } from '../core/event';
import type { KafkaCluster } from './cluster';

export interface Publications {
  readonly topics: ReadonlyMap<string, string>;
  /** Returns the public facts of an event of these types: the content of its message. */
  data(event: Recorded): object;
}

export interface KafkaLink {
  readonly cluster: KafkaCluster;
  readonly publications: Publications;
}

export interface KafkaMessage {
  readonly key: string;
  readonly value: string;
  readonly timestamp: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Pointer {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly version: number;
}

/** Longer text is cut, so that no message comes near the size that brokers refuse. */
const LONGEST_TEXT = 4096;

/** An event as a CloudEvent 1.0 in binary mode. Its key is its stream, so the events of a stream stay in order. */
export function toMessage(event: Recorded, topic: string, data: object): KafkaMessage {
  const { id, stream, type, time, version, metadata } = event;
  const headers: Record<string, string> = {
    ce_specversion: '1.0',
    ce_id: id,
    ce_source: `/fairlead/${topic}`,
    ce_type: type,
    ce_time: time,
    ce_subject: stream,
    ce_partitionkey: stream,
    ce_streamversion: String(version),
    'content-type': 'application/json',
  };
  if (metadata.tenant !== undefined) headers.ce_tenantid = metadata.tenant;
  if (metadata.traceparent !== undefined) headers.traceparent = metadata.traceparent;
  return { key: stream, value: JSON.stringify(data, cut), timestamp: String(Date.parse(time)), headers };
}

/** Which event a message tells of; undefined when it is not one of ours. */
export function toPointer(headers: Readonly<Record<string, unknown>> | undefined): Pointer | undefined {
  const read = (name: string) => (headers?.[name] as Buffer | string | undefined)?.toString();
  const [id, type, stream] = [read('ce_id'), read('ce_type'), read('ce_subject')];
  const version = Number(read('ce_streamversion'));
  if (!id || !type || !stream || !Number.isSafeInteger(version) || version < 1) return undefined;
  return { id, type, stream, version };
}

function cut(_: string, value: unknown): unknown {
  return typeof value === 'string' && value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT)}…` : value;
}
