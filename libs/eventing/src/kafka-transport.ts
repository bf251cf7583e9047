import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { type CustomTransportStrategy, Server } from '@nestjs/microservices';
import type { Consumer, EachBatchPayload } from 'kafkajs';
import type { Consumers } from './consumers';
import type { Degradation } from './degradation';
import type { EventStore } from './event-store';
import { callHandlers } from './event-store-transport';
import { KafkaReceiver } from './kafka-receiver';
import type { KafkaLink } from './transports';

/** The least that brokers allow: so long nobody has the partitions of a member that was killed. */
const SESSION_MS = 6000;
const HEARTBEAT_MS = 1000;
/** After so long a partition that was added is noticed. */
const METADATA_MS = 15_000;
const PAUSE_MS = 1000;

/**
 * A Nest microservice transport on Kafka: what `EventStoreTransport` does, with the same names, payloads and contexts.
 * A message only says which event there is; the event itself is read from the store. Offsets are committed once every
 * event before them has been handled or waits as parked.
 */
export class KafkaTransport extends Server implements CustomTransportStrategy {
  /** The failure of a handler parks the subject of its event. */
  override readonly propagatesEventHandlerErrors = true;
  protected override readonly logger = new Logger('KafkaTransport');
  private readonly stopping = new AbortController();
  private readonly receiver: KafkaReceiver;
  private readonly part: string;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly kafka: KafkaLink,
    store: EventStore,
    private readonly consumers: Consumers,
    private readonly degradation: Degradation,
    private readonly group: string,
  ) {
    super();
    this.part = `Kafka consumer ${group}`;
    this.receiver = new KafkaReceiver(group, store, consumers);
  }

  /** @throws Error when no message ever tells of an event that a handler waits for. */
  override listen(callback: () => void): void {
    const topics = new Set<string>();
    for (const [pattern, handler] of this.messageHandlers) {
      const topic = this.kafka.publications.topics.get(pattern);
      if (topic === undefined) throw new Error(`${pattern} is not sent to Kafka, but has a consumer.`);
      topics.add(topic);
      this.receiver.accept(pattern);
      this.consumers.register(`${this.group}.${pattern}`, pattern, (event) => callHandlers(handler, event));
    }
    if (topics.size > 0) this.running = this.consumeUntilStopped([...topics]);
    callback();
  }

  override async close(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  override on(): void {
    throw new Error('The Kafka transport emits no events of its own.');
  }

  override unwrap<T>(): T {
    return this.kafka.cluster.client as T;
  }

  private async consumeUntilStopped(topics: readonly string[]): Promise<void> {
    const { signal } = this.stopping;
    await Promise.race([this.consumers.started, once(signal, 'abort')]);
    while (!signal.aborted) {
      try {
        await this.kafka.cluster.prepare(topics);
        await this.consume(topics, signal);
      } catch (error) {
        if (signal.aborted) return;
        const reason = (error as Error).message;
        if (this.degradation.report(this.part, reason)) this.logger.error(`${this.part} is interrupted: ${reason}`);
        await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** Consumes until the signal aborts. @throws Error when the connection to the group is lost for good. */
  private async consume(topics: readonly string[], signal: AbortSignal): Promise<void> {
    const { cluster } = this.kafka;
    const consumer = cluster.client.consumer({
      groupId: cluster.name(`fairlead.${this.group}`),
      sessionTimeout: SESSION_MS,
      heartbeatInterval: HEARTBEAT_MS,
      rebalanceTimeout: 4 * SESSION_MS,
      maxWaitTimeInMs: 500,
      metadataMaxAge: METADATA_MS,
      allowAutoTopicCreation: false,
      retry: { initialRetryTime: 100, maxRetryTime: 1000, retries: 4, restartOnFailure: () => Promise.resolve(false) },
    });
    const { CRASH, GROUP_JOIN, REBALANCING, REQUEST_TIMEOUT } = consumer.events;
    let stop = (): void => undefined;
    const ended = new Promise<void>((resolve, reject) => {
      stop = resolve;
      consumer.on(CRASH, ({ payload }) => reject(payload.error));
      // Its connection may be dead, and the library would go on asking there.
      consumer.on(REQUEST_TIMEOUT, ({ payload }) => reject(new Error(`no answer from ${payload.broker} in time`)));
    });
    ended.catch(() => undefined);
    consumer.on(GROUP_JOIN, () => void this.degradation.report(this.part));
    consumer.on(REBALANCING, () => this.logger.debug(`${this.part} is given its partitions anew`));
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: topics.map((topic) => cluster.name(topic)), fromBeginning: true });
      await consumer.run({
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: 3,
        eachBatch: (payload) => this.take(payload),
      });
      await ended;
    } finally {
      signal.removeEventListener('abort', stop);
      await disconnect(consumer);
    }
  }

  /** Handles a batch while the group is told that this member lives; leaves the rest when it has lost the partition. */
  private async take(payload: EachBatchPayload): Promise<void> {
    let lost: unknown;
    const beat = setInterval(() => {
      payload.heartbeat().catch((error: unknown) => (lost = error));
    }, HEARTBEAT_MS);
    const goesOn = () =>
      lost === undefined && payload.isRunning() && !payload.isStale() && !this.stopping.signal.aborted;
    try {
      await this.receiver.receive(payload.batch.messages, goesOn, (offset) => payload.resolveOffset(offset));
    } finally {
      clearInterval(beat);
    }
    // The library then joins the group again.
    if (lost !== undefined) throw lost as Error;
    await payload.heartbeat();
  }
}

/** The library may wait for ever for a broker that is gone. */
async function disconnect(consumer: Consumer): Promise<void> {
  await Promise.race([consumer.disconnect().catch(() => undefined), delay(2000, undefined, { ref: false })]);
}
