import { currentReading, reading } from '@fairlead/postgres';
import { testDatabase } from '@fairlead/postgres/testing';
import { type Batch, eventingMigrations, PostgresEventStore, type Projection, ViewBehind } from '..';
import { expectOwnWrites, isSeen, noted, processOn, view } from '../testing';
import { NewestEvents } from './newest-events';

let database: Awaited<ReturnType<typeof testDatabase>>;
let stores: PostgresEventStore[];
let stopping: (() => Promise<void>)[];

beforeAll(async () => {
  database = await testDatabase(eventingMigrations);
  await database.pool.query('create table seen (view text, stream text, version int)');
});
beforeEach(() => {
  stores = [];
  stopping = [];
});
afterEach(async () => {
  await Promise.all(stopping.map((stop) => stop()));
  await Promise.all(stores.map((store) => store.close()));
  await database.pool.query('truncate parked_subjects');
});
afterAll(() => database.drop());

/** Everything that one process has: its own store, followers and consistency. */
function process(...projections: Projection[]) {
  const { store, consistency, stop } = processOn(new PostgresEventStore(database.pool), database.pool, ...projections);
  stores.push(store);
  stopping.push(stop);
  return { store, consistency };
}
function deferred<T>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((...both) => ([resolve, reject] = both));
  return { promise, resolve, reject };
}

it('shows every writer what it has written, whichever process reads', async () => {
  await expectOwnWrites(database.pool, 'load', () => new PostgresEventStore(database.pool));
});

it('waits for no event of another workspace, and says so when a view is stuck', async () => {
  const held = deferred<void>();
  stopping.unshift(async () => held.resolve());
  const stuck = view('stuck', {
    async handle(events) {
      if (events.some(({ data }) => (data as { word: string }).word === 'hold')) await held.promise;
    },
  });
  const { store, consistency } = process(stuck);
  await store.append('stuck-1', 0, [noted()], { tenant: 'a' });
  await consistency.upToDate('a', ['stuck'], 20_000);
  await store.append('stuck-2', 0, [noted('hold')], { tenant: 'b' });
  await consistency.upToDate('a', ['stuck'], 20_000);
  await expect(consistency.upToDate('b', ['stuck'], 50)).rejects.toThrow(ViewBehind);
  await expect(consistency.upToDate(undefined, ['stuck'], 50)).rejects.toThrow(ViewBehind);
  // What is no event of the view is not waited for either.
  await store.append('else-1', 0, [noted()], { tenant: 'a' });
  await consistency.upToDate('a', ['stuck'], 20_000);
  held.resolve();
  await consistency.upToDate('b', ['stuck'], 20_000);
});

it.each<[string, () => Error]>([
  ['that can never be applied', () => new TypeError('no such member')],
  ['that fails for a reason that nobody knows', () => new Error('nope')],
])('another workspace cannot keep reads waiting by events %s', async (_, fault) => {
  const name = `poison${Math.random()}`.replace('.', '');
  const poisoned = view(name, {}, (word) => {
    if (word === 'bad') throw fault();
  });
  const { store, consistency } = process(poisoned);
  for (let n = 0; n < 20; n++) {
    // One alone is not told from a follower without what it needs, until something else can be applied.
    await store.append(`${name}-bad${n}`, 0, [noted('bad')], { tenant: 'b' });
    await store.append(`${name}-${n}`, 0, [noted()], { tenant: 'a' });
    await consistency.upToDate('a', [name]);
    expect(await isSeen(database.pool, name, `${name}-${n}`)).toBe(true);
  }
});

it('asks the follower that a request waits for to make no pause', async () => {
  const { store, consistency } = process(view('gathers', { gatherMs: 3_600_000 }));
  for (let version = 0; version < 3; version++) {
    await store.append('gathers-1', version, [noted()], { tenant: 'a' });
    await consistency.upToDate('a', ['gathers'], 20_000);
  }
});

it('is an error to wait for a view that nobody keeps here', async () => {
  const { consistency } = process();
  await expect(consistency.upToDate('a', ['elsewhere'])).rejects.toThrow(
    'No follower of this process is named elsewhere.',
  );
});

it('asks how long the log is on behalf of no request: that of others goes on when its client goes away', async () => {
  const { store, consistency } = process(view('asked'));
  const asked: unknown[] = [];
  const head = store.head.bind(store);
  jest.spyOn(store, 'head').mockImplementation(async () => {
    asked.push(currentReading());
    return head();
  });
  const gone = AbortSignal.abort();
  await reading({ owner: 'a', signal: gone }, () => consistency.upToDate('a', ['asked']));
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.filter((request) => request !== undefined)).toEqual([]);
});

it('remembers the newest events of so many workspaces, and of the others that they are older', () => {
  const newest = new NewestEvents(10n, 2);
  const event = (position: bigint, tenant: string, stream = 'thing-1') => ({ position, stream, metadata: { tenant } });
  const take = (...events: ReturnType<typeof event>[]) =>
    newest.take({ events: events as unknown as Batch['events'], position: events.at(-1)!.position });
  take(event(11n, 'a'), event(12n, 'b', 'other-1'), event(13n, 'a'));
  expect(newest.of('a', undefined)).toBe(13n);
  expect(newest.of('b', ['thing'])).toBe(10n);
  expect(newest.of('b', ['thing', 'other'])).toBe(12n);
  expect(newest.of('unknown', undefined)).toBe(10n);
  expect(newest.of('a', ['other'])).toBe(10n);
  expect(newest.of(undefined, ['other'])).toBe(12n);
  take(event(14n, 'c'));
  expect(newest.of('b', undefined)).toBe(12n);
  expect(newest.of('unknown', undefined)).toBe(12n);
  expect(newest.of('unknown', ['thing'])).toBe(12n);
  expect(newest.of('a', ['thing'])).toBe(13n);
  take(event(15n, 'd'));
  expect(newest.of('a', undefined)).toBe(13n);
  expect(newest.of('unknown', undefined)).toBe(13n);
  expect(newest.of('c', undefined)).toBe(14n);
});
