import { Catch, type INestApplication, type RpcExceptionFilter } from '@nestjs/common';
import type { CustomTransportStrategy, NestMicroservice } from '@nestjs/microservices';
import { type Observable, throwError } from 'rxjs';
import { kafka as loadKafka } from './clients';
import type { Consumers } from './consumers/consumers';
import type { Degradation } from './followers/degradation';
import type { EventStore } from './core/event-store';
import { EventStoreTransport } from './consumers/event-store-transport';
import type { Followers } from './followers/followers';
import type { KafkaLink } from './kafka/message';

export class Transports {
  constructor(
    private readonly store: EventStore,
    private readonly followers: Followers,
    private readonly consumers: Consumers,
    private readonly degradation: Degradation,
    private readonly kafka?: KafkaLink,
  ) {}

  /**
   * Returns a transport from Kafka if it is set, otherwise from the event store. Replicas of a service use the same
   * group.
   */
  of(group: string): CustomTransportStrategy {
    const { store, followers, consumers, degradation, kafka } = this;
    if (!kafka) return new EventStoreTransport(followers, consumers, group);
    const { KafkaTransport } = loadKafka();
    return new KafkaTransport(kafka, store, consumers, degradation, group);
  }
}

/** Passes the error of a handler to the transport unchanged, because operators see it as the reason. */
@Catch()
export class UnchangedErrors implements RpcExceptionFilter {
  catch(error: unknown): Observable<never> {
    return throwError(() => error);
  }
}

/** Connects the consumers of an application, as replicas of this group, once it has started. */
export async function connectConsumers(app: INestApplication, group: string): Promise<void> {
  const strategy = app.get(Transports).of(group);
  // Once it is initialised it takes no filter; the modules are those of the application, and have begun.
  const microservice = app.connectMicroservice({ strategy }, { deferInitialization: true }) as NestMicroservice;
  microservice.setIsInitHookCalled(true);
  microservice.useGlobalFilters(new UnchangedErrors());
  await app.startAllMicroservices();
}
