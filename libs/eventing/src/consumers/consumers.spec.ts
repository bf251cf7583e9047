import { testDatabase, type TestDatabase, until } from '@fairlead/postgres/testing';
import { Logger } from '@nestjs/common';
import { Consumers } from './consumers';
import type { EventHandler } from './parked-retries';
import type { Recorded } from '../core/event';
import { eventingMigrations } from '../domain';
import { ParkedSubjects } from '../followers/parked-subjects';
import { PostgresEventStore } from '../postgres/postgres-event-store';

let database: TestDatabase;
let store: PostgresEventStore;
let parked: ParkedSubjects;
let started: Consumers[];
/** Streams at whose events the consumer fails, and why. */
let poison: Map<string, string>;
let handled: string[];

beforeAll(async () => {
  Logger.overrideLogger(false);
  database = await testDatabase(eventingMigrations);
  store = new PostgresEventStore(database.pool);
  parked = new ParkedSubjects(database.pool);
});
afterAll(async () => {
  await store.close();
  await database.drop();
});
beforeEach(async () => {
  started = [];
  poison = new Map();
  handled = [];
  await database.pool.query('truncate parked_subjects, inbox');
});
afterEach(async () => {
  for (const consumers of started) await consumers.onApplicationShutdown();
});

const record: EventHandler = async ({ stream, version }) => {
  const reason = poison.get(stream);
  if (reason !== undefined) throw new Error(reason);
  handled.push(`${stream}@${version}`);
};

function start(handle = record, attempts = 3): Consumers {
  const consumers = new Consumers(store, database.pool, parked, { attempts, firstMs: 5, mostMs: 20 });
  consumers.register('mailer', 'Noted', handle);
  consumers.onApplicationBootstrap();
  started.push(consumers);
  return consumers;
}

let streams = 0;

/** A new stream that holds so many events for the consumer. */
async function stream(count: number): Promise<{ name: string; events: Recorded[] }> {
  const name = `note-${++streams}`;
  const notes = Array.from({ length: count }, () => ({ type: 'Noted', data: {} }));
  await store.append(name, 0, notes, { tenant: 'tenant-1' });
  return { name, events: await store.read(name) };
}

const list = () => parked.list(100);
const isParked = async (name: string) =>
  (await list()).some(({ subject, status }) => subject === name && status === 'parked');

it('hands events over in order, and each once however often they are delivered', async () => {
  const consumers = start();
  const { name, events } = await stream(3);
  await consumers.deliver('mailer', events);
  await consumers.deliver('mailer', events.slice(1));
  await consumers.deliver('mailer', events);
  expect(handled).toEqual([1, 2, 3].map((version) => `${name}@${version}`));
});

it('records many events as handled at once, at the latest when it stops or has taken long', async () => {
  const consumers = start();
  const written: unknown[] = [];
  const query = database.pool.query.bind(database.pool) as (...asked: unknown[]) => unknown;
  const spies = [
    jest.spyOn(database.pool, 'query').mockImplementation((...asked: unknown[]) => {
      const { name, values } = Object(asked[0]) as { name?: string; values?: unknown[] };
      if (name === 'note handled events') written.push(values);
      return query(...asked);
    }),
    jest.spyOn(performance, 'now').mockReturnValue(0),
  ];
  try {
    const [one, two] = [await stream(3), await stream(2)];
    await consumers.deliver('mailer', [...one.events, ...two.events]);
    expect(written).toEqual([['mailer', [one.name, two.name], [3, 2]]]);
    const stopped = await stream(3);
    let left = 2;
    expect(await consumers.deliver('mailer', stopped.events, () => left-- > 0)).toBe(false);
    expect(written[1]).toEqual(['mailer', [stopped.name], [2]]);
    let now = 0;
    spies[1]!.mockImplementation(() => (now += 1000));
    const slow = await stream(2);
    await consumers.deliver('mailer', slow.events);
    expect(written.slice(2)).toEqual([1, 2].map((version) => ['mailer', [slow.name], [version]]));
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
});

it('parks a stream whose event keeps failing, with the reason, and no other', async () => {
  const consumers = start();
  const [bad, good] = [await stream(2), await stream(2)];
  poison.set(bad.name, 'no such address');
  await consumers.deliver('mailer', [bad.events[0]!, good.events[0]!, bad.events[1]!, good.events[1]!]);
  expect(handled).toEqual([`${good.name}@1`, `${good.name}@2`]);
  await until(() => isParked(bad.name));
  expect(await list()).toEqual([
    expect.objectContaining({
      consumer: 'mailer',
      subject: bad.name,
      tenant_id: 'tenant-1',
      status: 'parked',
      event_type: 'Noted',
      version: 1,
      last_version: 2,
      attempts: 3,
      reason: 'no such address',
      retry_at: null,
    }),
  ]);
  expect(await parked.counts()).toEqual([{ consumer: 'mailer', parked: 1, retrying: 0 }]);
});

it('goes on by itself, in order, when a failure passes', async () => {
  let failures = 2;
  const consumers = start(async (event) => {
    if (event.version === 2 && failures-- > 0) throw new Error('not yet');
    await record(event);
  });
  const { name, events } = await stream(4);
  await consumers.deliver('mailer', events);
  await until(() => handled.length === 4);
  expect(handled).toEqual([1, 2, 3, 4].map((version) => `${name}@${version}`));
  await until(async () => (await list()).length === 0);
});

it('lets what comes later wait behind, and hands all of it over in order once somebody asks for a retry', async () => {
  const consumers = start();
  const { name, events } = await stream(1);
  poison.set(name, 'broken');
  await consumers.deliver('mailer', events);
  await until(() => isParked(name));
  for (let version = 1; version < 4; version++) {
    await store.append(name, version, [{ type: 'Noted', data: {} }], {});
    await consumers.deliver('mailer', await store.read(name, version));
  }
  expect(handled).toEqual([]);
  const [waiting] = await list();
  expect(waiting).toMatchObject({ version: 1, last_version: 4 });
  poison.clear();
  expect(await parked.retry(waiting!.id)).toMatchObject({ status: 'retrying', attempts: 0 });
  await until(async () => (await list()).length === 0);
  expect(handled).toEqual([1, 2, 3, 4].map((version) => `${name}@${version}`));
  await consumers.deliver('mailer', await store.read(name));
  expect(handled).toHaveLength(4);
});

it('parks it again, at the event that fails now, when a retry comes no further than that', async () => {
  const consumers = start(async (event) => {
    if (event.version === 3) throw new Error('third');
    await record(event);
  });
  const { name, events } = await stream(3);
  poison.set(name, 'broken');
  await consumers.deliver('mailer', events);
  await until(() => isParked(name));
  poison.clear();
  await parked.retry((await list())[0]!.id);
  await until(async () => (await isParked(name)) && handled.length === 2);
  expect(await list()).toEqual([
    expect.objectContaining({ version: 3, last_version: 3, reason: 'third', attempts: 3 }),
  ]);
});

it('leaves an attempt to one process at a time', async () => {
  let running = 0;
  const overlaps: number[] = [];
  const handle: EventHandler = async (event) => {
    overlaps.push(++running);
    await new Promise((resolve) => setTimeout(resolve, 20));
    running -= 1;
    await record(event);
  };
  const { name, events } = await stream(1);
  poison.set(name, 'broken');
  const consumers = [start(handle, 6), start(handle, 6), start(handle, 6)];
  await consumers[0]!.deliver('mailer', events);
  await until(() => isParked(name));
  expect(new Set(overlaps)).toEqual(new Set([1]));
  expect(overlaps).toHaveLength(6);
});

it('counts attempts that ended the process', async () => {
  const { name, events } = await stream(1);
  poison.set(name, 'crash');
  const ended = start();
  await ended.deliver('mailer', events);
  // A retry that is under way would write its own number of attempts over this one.
  await ended.onApplicationShutdown();
  await database.pool.query(`update parked_subjects set attempts = 5, retry_at = now()`);
  poison.clear();
  start();
  await until(() => isParked(name));
  expect(handled).toEqual([]);
});
