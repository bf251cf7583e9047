import { BaseRpcContext, type CustomTransportStrategy, type MessageHandler, Server } from '@nestjs/microservices';
import { isObservable, lastValueFrom } from 'rxjs';
import { CONSUMER_HOLDS } from './inbox';
import type { Consumers } from './consumers';
import type { Metadata, Recorded } from '../core/event';
import { PAUSE_MS } from '../followers/follow';
import type { Followers } from '../followers/followers';
import { traceHandling } from '../core/tracing';

export class EventContext extends BaseRpcContext<[Recorded]> {
  get event(): Recorded {
    return this.getArgByIndex(0) as Recorded;
  }

  get metadata(): Metadata {
    return this.event.metadata;
  }
}

export async function callHandlers(handler: MessageHandler, event: Recorded): Promise<void> {
  await traceHandling(`process ${event.type}`, [event], async () => {
    const result: unknown = await handler(event.data, new EventContext([event]));
    if (isObservable(result)) await lastValueFrom(result, { defaultValue: undefined });
  });
}

/**
 * A Nest microservice transport that follows the event store: `@EventPattern<string>('DeploymentCreated')` methods
 * are called with the event's data and an {@link EventContext}. Delivery is as {@link Consumers} promises.
 */
export class EventStoreTransport extends Server implements CustomTransportStrategy {
  /** True: the failure of a handler parks the subject of its event. */
  override readonly propagatesEventHandlerErrors = true;

  constructor(
    private readonly followers: Followers,
    private readonly consumers: Consumers,
    /** Name of the consumer group, which all replicas share; it is part of the names of the checkpoints. */
    private readonly group: string,
  ) {
    super();
  }

  override listen(callback: () => void): void {
    for (const [pattern, handler] of this.messageHandlers) {
      const name = `${this.group}.${pattern}`;
      this.consumers.register(name, pattern, (event) => callHandlers(handler, event));
      this.followers.register({
        name,
        types: [pattern],
        setsAside: false,
        holds: CONSUMER_HOLDS,
        gatherMs: PAUSE_MS,
        handle: async (events) => void (await this.consumers.deliver(name, events)),
      });
    }
    callback();
  }

  /** The followers stop with the application. */
  override close(): void {}

  override on(): void {
    throw new Error('The event store transport emits no events of its own.');
  }

  override unwrap<T>(): T {
    return this.followers as T;
  }
}
