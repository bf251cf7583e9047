import { setTimeout as delay } from 'node:timers/promises';
import { eventingMigrations, follow, OlderLog, requireSameLog } from '@fairlead/eventing';
import { testDatabase, type TestDatabase } from '@fairlead/postgres/testing';
import { EventStoreDbStore } from '.';
import { type EsdbLog, EventStoreDbDouble } from './testing';

const noted = (text: string) => ({ type: 'Noted', data: { text } });
const limits = { attempt: 2000, total: 20_000 };
const SENTENCE = /^The log is older than the database: .+ run `npm run replay -- --from-older-log`, which .+\.$/;

let database: TestDatabase;
let double: EventStoreDbDouble;
let stores: EventStoreDbStore[];
beforeEach(async () => {
  [database, double, stores] = [await testDatabase(eventingMigrations), await EventStoreDbDouble.start(), []];
});
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await double.stop();
  await database.drop();
});

function open(): EventStoreDbStore {
  const store = new EventStoreDbStore(double.url, { limits });
  stores.push(store);
  return store;
}
/** The server comes back at the same place with another log. */
async function restore(log: EsdbLog): Promise<void> {
  const { port } = double.address;
  await double.stop();
  double = await EventStoreDbDouble.start({ port, log });
}
/** Runs a follower until it has handled so many events. */
async function followed(store: EventStoreDbStore, events: number, filter: { types?: string[] } = {}): Promise<void> {
  const stop = new AbortController();
  const handle = (some: readonly unknown[]) => {
    events -= some.length;
    if (events <= 0) stop.abort();
    return Promise.resolve();
  };
  await follow('view', store, database.pool, stop.signal, handle, filter);
}
const failed = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: Error) => error,
  );

describe('A log that is compared with the checkpoints', () => {
  it('is the same while it only grows, with or without an event at the checkpoint', async () => {
    const store = open();
    await requireSameLog(store, database.pool);
    await store.append('note-1', 0, [noted('a'), noted('b')], {});
    await followed(store, 2);
    const { rows } = await database.pool.query('select event_id, event_position, event_stream from checkpoints');
    const last = (await store.read('note-1'))[1]!;
    expect(rows).toEqual([{ event_id: last.id, event_position: String(last.position), event_stream: 'note-1' }]);
    await requireSameLog(store, database.pool);
    await store.append('note-2', 0, [noted('c')], {});
    double.log.appendSystemEvent();
    await requireSameLog(store, database.pool);
    // A checkpoint may lie at a record of the server's own.
    await database.pool.query('update checkpoints set "position" = $1', [await store.end()]);
    await requireSameLog(store, database.pool);
    await database.pool.query('update checkpoints set event_id = null, event_position = null, event_stream = null');
    await requireSameLog(store, database.pool);
  });

  it('is older when it ends before a checkpoint, also before one of an earlier version', async () => {
    const store = open();
    await store.append('note-1', 0, [noted('a')], {});
    const backup = double.log.backup();
    await store.append('note-1', 1, [noted('b')], {});
    await followed(store, 2);
    await restore(backup);
    await expect(requireSameLog(open(), database.pool)).rejects.toThrow(SENTENCE);
    await database.pool.query('update checkpoints set event_id = null, event_position = null, event_stream = null');
    await expect(requireSameLog(open(), database.pool)).rejects.toThrow(
      /it ends at position \d+, and view has come to/,
    );
  });

  it.each(['an event', 'no event'])(
    'is older when it went on, with %s at the place of the checkpoint',
    async (what) => {
      const store = open();
      await store.append('note-1', 0, [noted('a')], {});
      const backup = double.log.backup();
      await store.append('note-1', 1, [noted('b')], {});
      await followed(store, 2);
      await restore(backup);
      const other = open();
      const text = what === 'an event' ? 'c' : 'longer than before';
      if (what === 'no event') await other.append('note-1', 1, [noted('x'.repeat(77))], {});
      for (let version = (await other.read('note-1')).length; version < 6; version++)
        await other.append('note-1', version, [noted(text)], {});
      await expect(requireSameLog(open(), database.pool)).rejects.toThrow(
        /it holds another event than the one that view/,
      );
    },
  );

  it('is the same when the stream of the last event was deleted in the server by hand', async () => {
    const store = open();
    await store.append('note-1', 0, [noted('a')], {});
    await followed(store, 1);
    double.log.tombstone('note-1');
    await requireSameLog(store, database.pool);
    // The server forgets its events when it is scavenged.
    const index = double.log.records.findIndex(({ type }) => type === 'Noted');
    double.log.records.splice(index, 1);
    await requireSameLog(store, database.pool);
  });
});

describe('A server that comes back with an older log while a process is connected', () => {
  it('takes no append and moves no follower, and goes on when the newer log is back', async () => {
    const store = open();
    await store.append('note-1', 0, [noted('a')], {});
    const older = double.log.backup();
    const seen: string[] = [];
    const stop = new AbortController();
    const following = (async () => {
      while (!stop.signal.aborted) {
        const handle = (events: readonly { data: unknown }[]) => {
          seen.push(...events.map(({ data }) => (data as { text: string }).text));
          return Promise.resolve();
        };
        await failed(follow('view', store, database.pool, stop.signal, handle));
        await delay(10);
      }
    })();
    await store.append('note-1', 1, [noted('b')], {});
    while (seen.length < 2) await delay(10);
    const newer = double.log.backup();

    await restore(older);
    const refusals = await Promise.all([
      failed(store.append('note-1', 1, [noted('c')], {})),
      failed(store.append('note-new', 0, [noted('c')], {})),
      failed(store.append('note-2', 'any', [noted('c')], {})),
      failed(
        store.appendInOrder([
          { stream: 'note-3', version: 0, events: [{ ...noted('c'), id: seen[0]! }], metadata: {} },
        ]),
      ),
      failed(store.ready()),
    ]);
    expect(refusals.map((error) => [error instanceof OlderLog, SENTENCE.test(error?.message ?? '')])).toEqual(
      refusals.map(() => [true, true]),
    );
    expect(await failed(store.subscribe(0n, stop.signal)[Symbol.asyncIterator]().next())).toBeInstanceOf(OlderLog);
    expect(double.log.events).toHaveLength(1);
    // Another process that does not know what was lost writes on: that makes it no newer.
    const other = open();
    for (let version = 1; version < 9; version++) await other.append('note-1', version, [noted('of another')], {});
    await expect(store.append('note-new', 0, [noted('c')], {})).rejects.toBeInstanceOf(OlderLog);
    expect(seen).toEqual(['a', 'b']);

    await restore(newer);
    expect(await store.append('note-1', 2, [noted('c')], {})).toMatchObject({ version: 3 });
    while (seen.length < 3) await delay(10);
    expect(seen).toEqual(['a', 'b', 'c']);
    await store.ready();
    stop.abort();
    await following;
  });

  it('asks the server once for each loss of the connection, not for each append', async () => {
    const store = open();
    await store.append('note-1', 0, [noted('a')], {});
    await restore(double.log);
    await store.append('note-1', 1, [noted('b')], {});
    const { read } = double.calls;
    for (let version = 2; version < 12; version++) await store.append('note-1', version, [noted('c')], {});
    expect(double.calls.read).toBe(read);
  });
});
