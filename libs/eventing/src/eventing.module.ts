import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { kafka as loadKafka } from './clients';
import { Consistency } from './followers/consistency';
import { Consumers } from './consumers/consumers';
import { Degradation } from './followers/degradation';
import { EventStore } from './core/event-store';
import { Followers } from './followers/followers';
import { LogSeals, type SealSchedule } from './seals/log-seals';
import { LogSigner } from './seals/log-signer';
import { KeptPages } from './followers/kept-pages';
import { ParkedSubjects } from './followers/parked-subjects';
import { type QuotaLimits, Quotas } from './workspaces/quotas';
import { Transports } from './transports';
import type { KafkaLink } from './kafka/message';
import { StoredBytes } from './workspaces/stored-bytes';
import { Vault } from './vault/vault';
import { DeletedGuard } from './followers/deleted-guard';
import { ViewsGuard } from './followers/views-guard';
import { WorkspaceRemovals } from './workspaces/workspace-removals';
import { Workspaces } from './workspaces/workspaces';

export interface EventingParts {
  readonly store: EventStore;
  readonly db: DataSource;
  readonly pool: Pool;
  readonly vault: Vault;
  /** Kafka, to which the log is sent and from which consumers get events; absent: they read the log. */
  readonly kafka?: KafkaLink;
  /** When the log is sealed; absent: every 10,000 events and every hour. */
  readonly seals?: SealSchedule;
  /** Limits of a workspace; absent: the defaults. */
  readonly quotas?: QuotaLimits;
}

/**
 * Provides {@link EventStore}, `DataSource`, `Pool`, {@link Vault}, {@link Followers}, {@link Consistency}, {@link Consumers},
 * {@link KeptPages}, {@link Transports}, {@link ParkedSubjects}, {@link Quotas}, {@link StoredBytes}, {@link Workspaces},
 * {@link WorkspaceRemovals}, {@link Degradation}, {@link LogSigner} and {@link LogSeals} to the whole
 * application, and relays to Kafka.
 */
@Module({})
export class EventingModule {
  static forRoot({ store, db, pool, vault, kafka, seals, quotas }: EventingParts): DynamicModule {
    return {
      module: EventingModule,
      global: true,
      providers: [
        { provide: EventStore, useValue: store },
        { provide: DataSource, useValue: db },
        { provide: Pool, useValue: pool },
        { provide: Vault, useValue: vault },
        {
          provide: Consumers,
          useFactory: (parked: ParkedSubjects) => new Consumers(store, pool, parked),
          inject: [ParkedSubjects],
        },
        Consistency,
        Degradation,
        Followers,
        { provide: KeptPages, useValue: new KeptPages(pool) },
        { provide: APP_GUARD, useClass: DeletedGuard },
        { provide: APP_GUARD, useClass: ViewsGuard },
        LogSigner,
        {
          provide: LogSeals,
          useFactory: (signer: LogSigner) => new LogSeals(store, pool, signer, seals),
          inject: [LogSigner],
        },
        ParkedSubjects,
        Workspaces,
        WorkspaceRemovals,
        {
          provide: Quotas,
          useFactory: (followers: Followers) => new Quotas(pool, followers, quotas),
          inject: [Followers],
        },
        { provide: StoredBytes, useValue: new StoredBytes(pool, quotas?.stored_bytes) },
        {
          provide: Transports,
          useFactory: (followers: Followers, consumers: Consumers, degradation: Degradation) =>
            new Transports(store, followers, consumers, degradation, kafka),
          inject: [Followers, Consumers, Degradation],
        },
        ...(kafka ? [relayTo(kafka)] : []),
      ],
      exports: [
        EventStore,
        DataSource,
        Pool,
        Vault,
        Consistency,
        Consumers,
        Degradation,
        Followers,
        KeptPages,
        LogSigner,
        LogSeals,
        ParkedSubjects,
        Quotas,
        StoredBytes,
        Transports,
        Workspaces,
        WorkspaceRemovals,
      ],
    };
  }
}

function relayTo({ cluster, publications }: KafkaLink): Provider {
  const { KafkaRelay } = loadKafka();
  return {
    provide: KafkaRelay,
    useFactory: (followers: Followers, degradation: Degradation) =>
      new KafkaRelay(cluster, publications, followers, degradation),
    inject: [Followers, Degradation],
  };
}
