import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Partitioners, type Producer } from 'kafkajs';
import type { Degradation } from '../followers/degradation';
import type { Recorded } from '../core/event';
import { Away } from '../core/faults';
import type { Followers } from '../followers/followers';
import type { KafkaCluster } from './cluster';
import { type KafkaMessage, type Publications, toMessage } from './message';
import { disconnect, silence, within } from './silence';
import { Wakeups } from '../followers/wakeups';

/** Brokers take a batch of messages for one partition up to a megabyte. */
const BATCH_BYTES = 512 * 1024;
const HEADER_BYTES = 1024;
const PART = 'Kafka relay';
const PAUSE_MS = 1000;
/** A broker that stalls must not hold the checkpoint's row for ever. */
const SEND_MS = 30_000;

/** A producer, when it is connected; and what rejects when its connection may be dead. */
interface Connected {
  readonly producer: Producer;
  readonly ready: Promise<void>;
  readonly silent: Promise<never>;
}

/**
 * Sends the log to Kafka: a follower whose checkpoint moves once every in-sync replica has the messages. What was sent
 * when it crashed is sent again. There is a checkpoint for each cluster, so a new one is given everything.
 * While the cluster is away it is tried again; the stream of a message that it will not take is set aside.
 */
export class KafkaRelay implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('KafkaRelay');
  private readonly stopping = new AbortController();
  private producer: Connected | undefined;

  constructor(
    private readonly cluster: KafkaCluster,
    private readonly publications: Publications,
    private readonly followers: Followers,
    private readonly degradation: Degradation,
  ) {}

  onApplicationBootstrap(): void {
    void this.begin();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.forgetProducer();
  }

  /** Follows the log from the first moment on at which the cluster can be reached. */
  private async begin(): Promise<void> {
    const { signal } = this.stopping;
    const { topics } = this.publications;
    while (!signal.aborted) {
      try {
        const id = await this.cluster.prepare([...new Set(topics.values())]);
        if (signal.aborted) return;
        this.degradation.report(PART);
        this.followers.register({
          name: this.cluster.name(`relay.${id}`),
          types: [...topics.keys()],
          optional: true,
          handle: (events) => this.send(events),
        });
        return;
      } catch (error) {
        this.report((error as Error).message);
        await new Wakeups().next(signal, PAUSE_MS);
      }
    }
  }

  private async send(events: readonly Recorded[]): Promise<void> {
    const batches = [...this.batches(events)];
    try {
      const { producer, ready, silent } = (this.producer ??= this.connect());
      await Promise.race([silent, ready]);
      for (const batch of batches) {
        const topicMessages = [...batch].map(([topic, messages]) => ({ topic: this.cluster.name(topic), messages }));
        await Promise.race([silent, within(SEND_MS, producer.sendBatch({ acks: -1, topicMessages }))]);
      }
      this.degradation.report(PART);
    } catch (error) {
      // Its sequence numbers may have a gap now: a new one begins anew.
      void this.forgetProducer();
      if (isTooLarge(error)) throw new RangeError((error as Error).message, { cause: error });
      this.report((error as Error).message);
      throw new Away((error as Error).message, { cause: error });
    }
  }

  /** The messages by topic, in steps that a broker takes at once. */
  private *batches(events: readonly Recorded[]): Iterable<Map<string, KafkaMessage[]>> {
    let batch = new Map<string, KafkaMessage[]>();
    let bytes = 0;
    for (const event of events) {
      const topic = this.publications.topics.get(event.type);
      if (topic === undefined) continue;
      const message = toMessage(event, topic, this.publications.data(event));
      const size = Buffer.byteLength(message.value) + HEADER_BYTES;
      if (bytes > 0 && bytes + size > BATCH_BYTES) {
        yield batch;
        batch = new Map();
        bytes = 0;
      }
      batch.set(topic, [...(batch.get(topic) ?? []), message]);
      bytes += size;
    }
    if (bytes > 0) yield batch;
  }

  private connect(): Connected {
    const producer = this.cluster.client.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      createPartitioner: Partitioners.DefaultPartitioner,
      allowAutoTopicCreation: false,
      retry: { initialRetryTime: 100, maxRetryTime: 1000, retries: 4 },
    });
    return { producer, ready: producer.connect(), silent: silence(producer) };
  }

  private async forgetProducer(): Promise<void> {
    const { producer } = this.producer ?? {};
    this.producer = undefined;
    await disconnect(producer);
  }

  private report(reason: string): void {
    if (this.degradation.report(PART, reason)) this.logger.error(`The log does not reach Kafka: ${reason}`);
  }
}

/** The broker will not take a message of this size, however often it is sent. */
function isTooLarge(error: unknown): boolean {
  const { type, cause } = error as { type?: unknown; cause?: unknown };
  if (type === 'MESSAGE_TOO_LARGE' || type === 'RECORD_LIST_TOO_LARGE') return true;
  return cause instanceof Error && isTooLarge(cause);
}
