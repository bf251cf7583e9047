import { Controller, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { transaction } from '@fairlead/postgres';
import { testDatabase, until } from '@fairlead/postgres/testing';
import { Pool } from 'pg';
import {
  checkpoint,
  Consumers,
  type EventContext,
  eventingMigrations,
  EventStoreTransport,
  Followers,
  once,
  ParkedSubjects,
  PostgresEventStore,
  type Projection,
} from '..';
import { MemoryEventStore } from '../testing';

let database: Awaited<ReturnType<typeof testDatabase>>;
let store: PostgresEventStore;
let started: Followers[];
beforeAll(async () => {
  database = await testDatabase(eventingMigrations);
  store = new PostgresEventStore(database.pool);
  await database.pool.query('create table seen (n serial, follower text, stream text, version int)');
});
beforeEach(() => (started = []));
afterEach(() => Promise.all(started.map((followers) => followers.onApplicationShutdown())));
afterAll(async () => {
  await store.close();
  await database.drop();
});

const noted = { type: 'Noted', data: {} };
function start(...projections: Projection[]): Followers {
  const followers = new Followers(store, database.pool);
  for (const projection of projections) followers.register(projection);
  followers.onApplicationBootstrap();
  started.push(followers);
  return followers;
}
function writing(name: string, categories?: string[]): Projection {
  return {
    name,
    categories,
    async handle(events, tx) {
      for (const { stream, version } of events) {
        await tx.query('insert into seen (follower, stream, version) values ($1, $2, $3)', [name, stream, version]);
      }
    },
  };
}
async function seenBy(name: string, stream: string): Promise<number[]> {
  const { rows } = await database.pool.query<{ version: number }>(
    'select version from seen where follower = $1 and stream = $2 order by n',
    [name, stream],
  );
  return rows.map(({ version }) => version);
}

it('hands every event to a follower once and in order, old ones first', async () => {
  await store.append('old-1', 0, [noted, noted], {});
  const followers = start(writing('all'));
  const { position } = await store.append('old-1', 2, [noted], {});
  expect(await followers.passed(position, ['all'], 60_000)).toBe(true);
  expect(await seenBy('all', 'old-1')).toEqual([1, 2, 3]);
});

it('does not keep a process from stopping when it hangs, and is named', async () => {
  let letGo: (() => void) | undefined;
  const followers = new Followers(store, database.pool, undefined, 1000);
  const told = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  followers.register({ name: 'hangs', handle: () => new Promise<void>((resolve) => (letGo = resolve)) });
  followers.register(writing('does not hang', ['other']));
  followers.onApplicationBootstrap();
  const { position } = await store.append('hanging-1', 'any', [noted], {});
  await until(() => letGo);
  // What is under way when it stops would have to end in time.
  await followers.passed(position, ['does not hang'], 60_000);
  await followers.onApplicationShutdown();
  expect(told.mock.calls).toEqual([['The followers (hangs) did not stop within 1000 ms and is left behind.']]);
  told.mockRestore();
  letGo!();
});

it('goes on from its checkpoint after a restart', async () => {
  const first = start(writing('restarted', ['again']));
  const { position } = await store.append('again-1', 0, [noted], {});
  await first.passed(position, ['restarted'], 60_000);
  await first.onApplicationShutdown();
  const next = await store.append('again-1', 1, [noted], {});
  await start(writing('restarted', ['again'])).passed(next.position, ['restarted'], 60_000);
  expect(await seenBy('restarted', 'again-1')).toEqual([1, 2]);
});

it('shares the log among replicas without doing anything twice', async () => {
  const replicas = [1, 2, 3].map(() => start(writing('shared', ['shared'])));
  for (let n = 0; n < 40; n++) await store.append('shared-1', n, [noted], {});
  const head = await store.head();
  for (const replica of replicas) expect(await replica.passed(head, ['shared'], 60_000)).toBe(true);
  expect(await seenBy('shared', 'shared-1')).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
});

it('shares the log among replicas that send their writes ahead', async () => {
  const replicas = [1, 2, 3].map(() => start({ ...writing('ahead', ['ahead']), pipelined: true }));
  for (let n = 0; n < 40; n++) await store.append('ahead-1', n, [noted], {});
  const head = await store.head();
  for (const replica of replicas) expect(await replica.passed(head, ['ahead'], 60_000)).toBe(true);
  expect(await seenBy('ahead', 'ahead-1')).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
});

it.each([false, true])('passes nothing whose failure a handler keeps to itself (ahead: %s)', async (pipelined) => {
  const name = `silent ${pipelined}`;
  const handler = writing(name, [`silent${Number(pipelined)}`]);
  let broken = true;
  const followers = start({
    ...handler,
    pipelined,
    async handle(events, tx) {
      if (broken) await tx.query('insert into nowhere values (1)').catch(() => undefined);
      else await handler.handle(events, tx);
    },
  });
  const stream = `silent${Number(pipelined)}-1`;
  const { position } = await store.append(stream, 0, [noted], {});
  while (!(await followers.status())[0]!.failing) await followers.passed(position, [name], 20);
  broken = false;
  expect(await followers.passed(position, [name], 60_000)).toBe(true);
  expect(await seenBy(name, stream)).toEqual([1]);
});

it('never stops because all followers wait for a connection that another one holds', async () => {
  const pool = new Pool({ connectionString: database.url, max: 4 });
  const followers = new Followers(store, pool);
  const names = Array.from({ length: 8 }, (_, n) => `crowd ${n}`);
  for (const name of names) {
    followers.register({
      name,
      categories: ['crowd'],
      holds: 2,
      handle: () => transaction(pool, async () => void (await pool.query('select pg_sleep(0.05)'))),
    });
  }
  const { position } = await store.append('crowd-1', 0, [noted], {});
  followers.onApplicationBootstrap();
  expect(await followers.passed(position, names, 60_000)).toBe(true);
  await followers.onApplicationShutdown();
  await pool.end();
});

it('says that the log was not passed in time', async () => {
  let end!: () => void;
  const handled = new Promise<void>((resolve) => (end = resolve));
  const followers = start({ name: 'slow', handle: () => handled });
  const { position } = await store.append('slow-1', 0, [noted], {});
  const passed = await followers.passed(position, ['slow'], 20);
  end();
  expect(passed).toBe(false);
});

it.each([false, true])(
  'undoes what a failing handler wrote, says so and goes on by itself (ahead: %s)',
  async (pipelined) => {
    let broken = true;
    const stream = `stumbling-${Number(pipelined)}`;
    const handler = writing(`${stream} view`, ['stumbling']);
    const followers = start({
      ...handler,
      pipelined,
      async handle(events, tx) {
        await handler.handle(events, tx);
        if (broken) throw new Error('disk full');
      },
    });
    const { position } = await store.append(stream, 0, [noted], {});
    while (!(await followers.status())[0]!.failing) await followers.passed(position, [`${stream} view`], 20);
    expect(await followers.status()).toMatchObject([{ name: `${stream} view`, failing: 'disk full' }]);
    expect(await seenBy(`${stream} view`, stream)).toEqual([]);
    broken = false;
    expect(await followers.passed(position, [`${stream} view`], 60_000)).toBe(true);
    expect(await seenBy(`${stream} view`, stream)).toEqual([1]);
    expect((await followers.status())[0]!.failing).toBeUndefined();
  },
);

it('passes events of other categories, and moves its checkpoint over them in large steps', async () => {
  const followers = start(writing('picky', ['picked']));
  await store.append('picked-1', 0, [noted], {});
  const { position } = await store.append('passedOver-1', 0, [noted], {});
  expect(await followers.passed(position, ['picky'], 60_000)).toBe(true);
  expect(await seenBy('picky', 'picked-1')).toEqual([1]);
  const many = Array.from({ length: 10_000 }, () => noted);
  const last = await store.append('passedOver-1', 1, many, {});
  expect(await followers.passed(last.position, ['picky'], 60_000)).toBe(true);
  expect(await checkpoint(database.pool, 'picky')).toBeGreaterThan(position);
});

it('does an effect once per event of a subject, however often it is delivered', async () => {
  let effects = 0;
  const work = () => Promise.resolve(void effects++);
  expect(await once(database.pool, 'mailer', 'deployment-1', 1, work)).toBe(true);
  expect(await once(database.pool, 'mailer', 'deployment-1', 1, work)).toBe(false);
  expect(await once(database.pool, 'mailer', 'deployment-1', 3, work)).toBe(true);
  expect(await once(database.pool, 'mailer', 'deployment-1', 2, work)).toBe(false);
  expect(effects).toBe(2);
  await expect(
    once(database.pool, 'mailer', 'deployment-2', 1, () => Promise.reject(new Error('no'))),
  ).rejects.toThrow();
  expect(await once(database.pool, 'mailer', 'deployment-2', 1, work)).toBe(true);
});

it('delivers events to Nest microservice handlers, again until they succeed', async () => {
  const heard: unknown[] = [];
  let failures = 2;
  @Controller()
  class Listener {
    @EventPattern<string>('Shouted')
    hear(@Payload() data: unknown, @Ctx() context: EventContext) {
      if (failures-- > 0) throw new Error('not yet');
      heard.push([data, context.event.stream, context.metadata.tenant]);
    }
  }
  const followers = start();
  const consumers = new Consumers(store, database.pool, new ParkedSubjects(database.pool));
  @Module({ controllers: [Listener], providers: [{ provide: Consumers, useValue: consumers }] })
  class ListenerModule {}
  const strategy = new EventStoreTransport(followers, consumers, 'consumers');
  const app = await NestFactory.createMicroservice(ListenerModule, { strategy, logger: false });
  await app.listen();
  await store.append('voice-1', 0, [{ type: 'Shouted', data: { word: 'hi' } }], { tenant: 't' });
  await until(async () => heard.length > 0);
  expect(heard).toEqual([[{ word: 'hi' }, 'voice-1', 't']]);
  await app.close();
});

it('follows a log in memory as well', async () => {
  const memory = new MemoryEventStore();
  const followers = new Followers(memory, database.pool);
  followers.register(writing('memory'));
  followers.onApplicationBootstrap();
  started.push(followers);
  await memory.append('memory-1', 0, [noted], {});
  expect(await followers.passed(1n, ['memory'], 60_000)).toBe(true);
  expect(await seenBy('memory', 'memory-1')).toEqual([1]);
});

describe('when a crash of the database takes back what was not on the disk yet', () => {
  const loseLast = (name: string) =>
    database.pool.query(
      `with lost as (delete from seen where follower = '${name}' and version = 2)
       update checkpoints set "position" = "position" - 1 where name = '${name}'`,
    );

  it('hands it out again before what comes next', async () => {
    const followers = start(writing('lost', ['lost']));
    const { position } = await store.append('lost-1', 0, [noted, noted], {});
    expect(await followers.passed(position, undefined, 60_000)).toBe(true);
    await loseLast('lost');
    await store.append('lost-1', 2, [noted], {});
    await until(async () => (await seenBy('lost', 'lost-1')).length === 3);
    expect(await seenBy('lost', 'lost-1')).toEqual([1, 2, 3]);
  });

  it('hands it out again when nothing comes next', async () => {
    const followers = start(writing('idle', ['idle']));
    const { position } = await store.append('idle-1', 0, [noted, noted], {});
    expect(await followers.passed(position, undefined, 60_000)).toBe(true);
    await loseLast('idle');
    await database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where query in ('listen events', 'select 1') and pid <> pg_backend_pid() and datname = current_database()`,
    );
    await until(async () => (await seenBy('idle', 'idle-1')).length === 2);
    expect(await seenBy('idle', 'idle-1')).toEqual([1, 2]);
  });
});

it('makes no pause after a full batch, however long it would gather', async () => {
  const { position } = await store.append('much-1', 0, Array(2500).fill(noted), {});
  let events = 0;
  const handle: Projection['handle'] = (batch) => {
    events += batch.length;
    return Promise.resolve();
  };
  const followers = start({ name: 'gathering', categories: ['much'], gatherMs: 3_600_000, handle });
  expect(await followers.passed(position, ['gathering'], 60_000)).toBe(true);
  expect(events).toBe(2500);
});

it('calls a lag usual only where no request waits for the follower', async () => {
  const handle = () => Promise.resolve();
  const followers = start(
    { name: 'prompt', handle },
    { name: 'patient', gatherMs: 50, handle },
    { name: 'awaited', gatherMs: 50, pipelined: true, handle },
  );
  const told = (await followers.status()).map(({ name, gathers }) => [name, gathers]);
  expect(told).toEqual([
    ['prompt', false],
    ['patient', true],
    ['awaited', false],
  ]);
});
