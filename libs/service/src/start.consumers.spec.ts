import {
  connectConsumers,
  Consumers,
  Degradation,
  eventingMigrations,
  Followers,
  ParkedSubjects,
  PostgresEventStore,
  Transports,
} from '@fairlead/eventing';
import { testDatabase, type TestDatabase } from '@fairlead/postgres/testing';
import { Controller, type INestApplication, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventPattern } from '@nestjs/microservices';
import { FastifyAdapter } from '@nestjs/platform-fastify';

@Controller()
class Failing {
  @EventPattern<string>('Ordered')
  ordered(): void {
    throw new Error('no such address');
  }
}

describe('The consumers of an application that has begun', () => {
  let database: TestDatabase;
  let store: PostgresEventStore;
  let app: INestApplication;
  beforeEach(async () => {
    database = await testDatabase(eventingMigrations);
    const { pool } = database;
    store = new PostgresEventStore(pool);
    const followers = new Followers(store, pool);
    const consumers = new Consumers(store, pool, new ParkedSubjects(pool));
    const transports = new Transports(store, followers, consumers, new Degradation());
    const providers = [
      { provide: Followers, useValue: followers },
      { provide: Consumers, useValue: consumers },
      { provide: Transports, useValue: transports },
    ];
    @Module({ controllers: [Failing], providers })
    class FailingModule {}
    app = await NestFactory.create(FailingModule, new FastifyAdapter(), { logger: false });
    await app.init();
  });
  afterEach(async () => {
    await app.close();
    await store.close();
    await database.drop();
  });

  it('are told apart by why they fail', async () => {
    await connectConsumers(app, 'group');
    await store.append('order-1', 0, [{ type: 'Ordered', data: {} }], {});
    for (;;) {
      const { rows } = await database.pool.query<{ reason: string }>('select reason from parked_subjects');
      if (rows.length > 0) return expect(rows).toEqual([{ reason: 'no such address' }]);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  });
});
