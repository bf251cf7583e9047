import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { type CustomTransportStrategy, Server } from '@nestjs/microservices';
import type { Consumers } from '../consumers/consumers';
import type { Degradation } from '../followers/degradation';
import type { EventStore } from '../core/event-store';
import { callHandlers } from '../consumers/event-store-transport';
import { KafkaGroup } from './group';
import { KafkaReceiver } from './receiver';
import type { KafkaLink } from './message';

const PAUSE_MS = 500;

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
  private readonly members: KafkaGroup;
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
    this.members = new KafkaGroup(kafka.cluster, group, this.receiver, () => this.degradation.report(this.part));
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
        await this.members.consume(topics, signal);
      } catch (error) {
        if (signal.aborted) return;
        const reason = (error as Error).message;
        if (this.degradation.report(this.part, reason)) this.logger.error(`${this.part} is interrupted: ${reason}`);
        await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }
}
