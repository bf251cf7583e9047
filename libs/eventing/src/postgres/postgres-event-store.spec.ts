import { testDatabase, until } from '@fairlead/postgres/testing';
import { v4 as uuid } from 'uuid';
import { eventingMigrations, PostgresEventStore, type Recorded } from '..';
import { storeContract } from '../testing';

let database: Awaited<ReturnType<typeof testDatabase>>;
let store: PostgresEventStore;
beforeAll(async () => {
  database = await testDatabase(eventingMigrations);
  store = new PostgresEventStore(database.pool);
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

storeContract('PostgreSQL', () => store);

it('sends appends that wait together in few commits, each judged by its own version', async () => {
  const appends = Array.from({ length: 200 }, (_, n) =>
    store.append(`batch-${n % 150}`, n < 150 ? 0 : 7, [{ type: 'Noted', data: { n } }], {}),
  );
  const outcomes = await Promise.allSettled(appends);
  expect(outcomes.slice(0, 150).every(({ status }) => status === 'fulfilled')).toBe(true);
  expect(outcomes.slice(150).every(({ status }) => status === 'rejected')).toBe(true);
  const { rows } = await database.pool.query(
    `select count(distinct xmin::text) filter (where stream like 'batch-%')::int as commits, count(*)::int as events,
            max("position")::int as last from events`,
  );
  expect(rows[0]).toMatchObject({ events: rows[0].last });
  expect(rows[0].commits).toBeLessThan(60);
});

it('sends appends at any version of one stream in few commits, in their order', async () => {
  const note = (n: number, id = uuid()) => store.append('busy-0', 'any', [{ id, type: 'Noted', data: { n } }], {});
  const again = uuid();
  const first = store.append('busy-0', 0, [{ type: 'Noted', data: { n: 0 } }], {});
  const appends = Array.from({ length: 300 }, (_, n) => note(n + 1, n === 7 ? again : undefined));
  const late = store.append('busy-0', 9, [{ type: 'Noted', data: { n: -1 } }], {});
  const repeated = note(8, again);
  const last = note(301);
  await expect(late).rejects.toMatchObject({ expected: 9 });
  expect((await first).version).toBe(1);
  expect((await Promise.all(appends)).map(({ version }) => version)).toEqual(
    Array.from({ length: 300 }, (_, n) => n + 2),
  );
  expect((await repeated).version).toBe(9);
  const events = await store.read('busy-0');
  expect(events.map(({ data }) => (data as { n: number }).n)).toEqual(Array.from({ length: 302 }, (_, n) => n));
  expect(events.at(-1)).toMatchObject(await last);
  const { rows } = await database.pool.query(
    `select count(distinct xmin::text)::int as commits from events where stream = 'busy-0'`,
  );
  expect(rows[0].commits).toBeLessThan(10);
});

it('lets an event that cannot be stored fail alone', async () => {
  const [, other] = await Promise.allSettled([
    store.append('fine-0', 0, [{ type: 'Noted', data: {} }], {}),
    store.append('bad-1', 0, [{ id: 'not a uuid', type: 'Noted', data: {} }], {}),
    store.append('fine-1', 0, [{ type: 'Noted', data: {} }], {}),
  ]);
  expect(other.status).toBe('rejected');
  expect(await store.read('fine-0')).toHaveLength(1);
  expect(await store.read('fine-1')).toHaveLength(1);
});

it('reads large events of the log and of a stream in parts that fit into memory, without a gap', async () => {
  const before = await store.head();
  const bytes = 900_000;
  for (let n = 0; n < 45; n++)
    await store.append('large-0', n, [{ type: 'Noted', data: { n, x: 'x'.repeat(bytes) } }], {});
  for (let n = 45; n < 60; n++) await store.append('large-0', n, [{ type: 'Noted', data: { n } }], {});
  const numbers = Array.from({ length: 60 }, (_, n) => n);
  const numbersOf = (parts: readonly Recorded[][]) => parts.flat().map(({ data }) => (data as { n: number }).n);
  const sizes = (parts: readonly Recorded[][]) =>
    parts.map((part) => JSON.stringify(part.map(({ data }) => data)).length);
  const parts: Recorded[][] = [];
  for await (const part of store.parts('large-0')) parts.push(part);
  expect(numbersOf(parts)).toEqual(numbers);
  expect(Math.max(...sizes(parts))).toBeLessThan(20 * bytes);
  // What another process has appended is read from the database.
  const other = new PostgresEventStore(database.pool);
  const stop = new AbortController();
  const batches: Recorded[][] = [];
  for await (const batch of other.subscribe(before, stop.signal, { categories: ['large'] })) {
    batches.push(batch.events);
    if (numbersOf(batches).length === numbers.length) stop.abort();
  }
  await other.close();
  expect(numbersOf(batches)).toEqual(numbers);
  expect(Math.max(...sizes(batches))).toBeLessThan(20 * bytes);
});

it('yields no batch for events of others as long as the subscriber lets them pass', async () => {
  const append = (stream: string, version: number) => store.append(stream, version, [{ type: 'Noted', data: {} }], {});
  const before = await store.head();
  const stop = new AbortController();
  const passed: bigint[] = [];
  const batches: (readonly [bigint, number])[] = [];
  const passes = (position: bigint) => position < before + 5n && passed.push(position) > 0;
  const ended = (async () => {
    for await (const { position, events } of store.subscribe(before, stop.signal, { categories: ['own'], passes })) {
      batches.push([position - before, events.length]);
      if (batches.length === 2) stop.abort();
    }
  })();
  for (let n = 0; n < 3; n++) {
    const { position } = await append('others-1', n);
    await until(() => passed.at(-1) === position);
  }
  await append('own-1', 0);
  await until(() => batches.length === 1);
  await append('others-1', 3);
  await ended;
  expect(batches).toEqual([
    [4n, 1],
    [5n, 0],
  ]);
});
