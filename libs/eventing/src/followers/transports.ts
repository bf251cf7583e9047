import { Catch, type INestApplication, type RpcExceptionFilter } from '@nestjs/common';
import type { CustomTransportStrategy, NestMicroservice } from '@nestjs/microservices';
import { type Observable, throwError } from 'rxjs';
import type { Consumers } from '../consumers/consumers';
import type { Degradation } from './degradation';
import type { EventStore } from '../core/event-store';
import { EventStoreTransport } from './event-store-transport';
import type { Followers } from './followers';
import type { KafkaCluster } from '../kafka/cluster';
import type { Publications } from '../kafka/message';
import { KafkaTransport } from '../kafka/transport';

/** A Kafka cluster and what of the log goes to it. */
export interface KafkaLink {
  readonly cluster: KafkaCluster;
  readonly publications: Publications;
}

/** The transport that brings events to the consumers of this application. */
export class Transports {
  constructor(
    private readonly store: EventStore,
    private readonly followers: Followers,
    private readonly consumers: Consumers,
    private readonly degradation: Degradation,
    private readonly kafka?: KafkaLink,
  ) {}

  /** From Kafka where there is one, else from the event store. Replicas of the same service name the same group. */
  of(group: string): CustomTransportStrategy {
    const { store, followers, consumers, degradation, kafka } = this;
    if (!kafka) return new EventStoreTransport(followers, consumers, group);
    return new KafkaTransport(kafka, store, consumers, degradation, group);
  }
}

/** Gives the transport a handler's error as it was thrown: it is the reason that an operator is shown. */
@Catch()
export class UnchangedErrors implements RpcExceptionFilter {
  catch(error: unknown): Observable<never> {
    return throwError(() => error);
  }
}

/** Lets the consumers of an application, as replicas of this group, hear of events from the moment it has started. */
export async function connectConsumers(app: INestApplication, group: string): Promise<void> {
  const strategy = app.get(Transports).of(group);
  // Once it is initialised it takes no filter; the modules are those of the application, and have begun.
  const microservice = app.connectMicroservice({ strategy }, { deferInitialization: true }) as NestMicroservice;
  microservice.setIsInitHookCalled(true);
  microservice.useGlobalFilters(new UnchangedErrors());
  await app.startAllMicroservices();
}
