import { testDatabase, type TestDatabase } from '@fairlead/postgres/testing';
import { Logger } from '@nestjs/common';
import { Registry } from 'prom-client';
import { Consumers } from '../consumers/consumers';
import { Followers } from './followers';
import { measureEventing } from './metrics';
import { eventingMigrations } from '../domain';
import { ParkedSubjects } from './parked-subjects';
import { PostgresEventStore } from '../postgres/postgres-event-store';

let database: TestDatabase;
let store: PostgresEventStore;
let followers: Followers;
let registry: Registry;

beforeAll(async () => {
  Logger.overrideLogger(false);
  database = await testDatabase(eventingMigrations);
  store = new PostgresEventStore(database.pool);
  followers = new Followers(store, database.pool);
  registry = new Registry();
  measureEventing(registry, followers, database.pool);
});
afterAll(async () => {
  await followers.onApplicationShutdown();
  await store.close();
});

it('tell of a follower that does not get on, and of one that does', async () => {
  followers.register({ name: 'broken', handle: () => Promise.reject(new Error('no such column')) });
  followers.register({ name: 'whole', handle: () => Promise.resolve() });
  followers.onApplicationBootstrap();
  const { position } = await store.append('note-1', 0, [{ type: 'Noted', data: {} }], {});
  await followers.passed(position, ['whole'], 60_000);
  while (!(await followers.status()).some(({ failing }) => failing)) await followers.passed(position, ['broken'], 10);
  const text = await registry.metrics();
  expect(text).toContain('fairlead_follower_failing{follower="broken"} 1');
  expect(text).toContain('fairlead_follower_lag_events{follower="broken"} 1');
  expect(text).toContain('fairlead_follower_position{follower="whole"} 1');
  expect(text).toContain('fairlead_follower_failing{follower="whole"} 0');
});

it('tell of parked subjects', async () => {
  const parked = new ParkedSubjects(database.pool);
  const consumers = new Consumers(store, database.pool, parked, { attempts: 1, firstMs: 1, mostMs: 1 });
  consumers.register('mailer', 'Noted', () => Promise.reject(new Error('no such address')));
  consumers.onApplicationBootstrap();
  await consumers.deliver('mailer', await store.read('note-1'));
  while ((await parked.counts())[0]?.parked !== 1) await new Promise((resolve) => setTimeout(resolve, 5));
  await consumers.onApplicationShutdown();
  expect(await registry.metrics()).toContain('fairlead_parked_subjects{consumer="mailer",status="parked"} 1');
});

it('are answered without them when the database is away', async () => {
  await database.drop();
  const text = await registry.metrics();
  expect(text).not.toContain('fairlead_follower_lag_events{');
  expect(text).toContain('fairlead_database_connections_most');
});
