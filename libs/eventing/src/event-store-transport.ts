import { BaseRpcContext, type CustomTransportStrategy, Server } from '@nestjs/microservices';
import { isObservable, lastValueFrom } from 'rxjs';
import type { Metadata, Recorded } from './event';
import type { Followers } from './followers';
import { traceHandling } from './tracing';

/** What a consumer learns of an event besides its data. */
export class EventContext extends BaseRpcContext<[Recorded]> {
  /** The event as recorded: stream, version, time, metadata. */
  get event(): Recorded {
    return this.getArgByIndex(0) as Recorded;
  }

  get metadata(): Metadata {
    return this.event.metadata;
  }
}

/**
 * A Nest microservice transport that follows the event store: `@EventPattern<string>('DeploymentCreated')` methods
 * are called with the event's data and an {@link EventContext}. Delivery is at least once and in the order of the
 * log; a handler that throws is called again until it succeeds, and its follower's status says so meanwhile.
 */
export class EventStoreTransport extends Server implements CustomTransportStrategy {
  /** The failure of a handler stops its follower, which reports it. */
  override readonly propagatesEventHandlerErrors = true;

  constructor(
    private readonly followers: Followers,
    /** Names this consumer group's checkpoints; replicas share it. */
    private readonly group: string,
  ) {
    super();
  }

  override listen(callback: () => void): void {
    for (const [pattern, handler] of this.messageHandlers) {
      this.followers.register({
        name: `${this.group}.${pattern}`,
        types: [pattern],
        handle: async (events) => {
          for (const event of events) {
            await traceHandling(`process ${pattern}`, [event], async () => {
              const result: unknown = await handler(event.data, new EventContext([event]));
              if (isObservable(result)) await lastValueFrom(result, { defaultValue: undefined });
            });
          }
        },
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
