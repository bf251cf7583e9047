import { type DynamicModule, Module } from '@nestjs/common';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { EventStore } from './event-store';
import { Followers } from './followers';
import { LogSeals } from './log-seals';
import { LogSigner } from './log-signer';
import { Vault } from './vault';

/** What every domain module is given: the log, the database and the vault. */
export interface EventingParts {
  readonly store: EventStore;
  readonly db: DataSource;
  readonly pool: Pool;
  readonly vault: Vault;
}

/** Provides {@link EventStore}, `DataSource`, `Pool`, {@link Vault}, {@link Followers}, {@link LogSigner} and {@link LogSeals} to the whole application. */
@Module({})
export class EventingModule {
  static with({ store, db, pool, vault }: EventingParts): DynamicModule {
    return {
      module: EventingModule,
      global: true,
      providers: [
        { provide: EventStore, useValue: store },
        { provide: DataSource, useValue: db },
        { provide: Pool, useValue: pool },
        { provide: Vault, useValue: vault },
        Followers,
        LogSigner,
        LogSeals,
      ],
      exports: [EventStore, DataSource, Pool, Vault, Followers, LogSigner, LogSeals],
    };
  }
}
