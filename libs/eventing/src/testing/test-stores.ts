import { type EntityClass, type MigrationClass } from '@fairlead/postgres';
import { testDatabase, type TestDatabase } from '@fairlead/postgres/testing';
import type { DynamicModule } from '@nestjs/common';
import type { EventStore } from '../core/event-store';
import { eventingMigrations } from '../domain';
import { EventingModule } from '../eventing.module';
import { PostgresEventStore } from '../postgres/postgres-event-store';
import { parseMasterKeys } from '../vault/master-key';
import { Vault } from '../vault/vault';

/** The database of a test, with an event store and a vault on it. */
export class TestStores {
  readonly store: PostgresEventStore;
  readonly vault: Vault;

  /** On a database that exists, as another process of the same service has it. */
  constructor(readonly database: TestDatabase) {
    this.store = new PostgresEventStore(database.pool);
    this.vault = new Vault(database.pool, parseMasterKeys('11'.repeat(32), 'the test'));
  }

  /** On a new database with the tables of the log and those of the migrations. */
  static async create(
    migrations: readonly MigrationClass[],
    entities: readonly EntityClass[] = [],
  ): Promise<TestStores> {
    return new TestStores(await testDatabase([...eventingMigrations, ...migrations], entities));
  }

  /** Returns the module that gives them to a service, with another store if one is named. */
  module(store: EventStore = this.store): DynamicModule {
    const { db, pool } = this.database;
    return EventingModule.forRoot({ store, db, pool, vault: this.vault });
  }

  async drop(): Promise<void> {
    await this.store.close();
    await this.database.drop();
  }
}
