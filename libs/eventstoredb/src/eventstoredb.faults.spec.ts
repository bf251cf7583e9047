import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStoreDBClient, NO_STREAM, jsonEvent, MaxAppendSizeExceededError } from '@eventstore/db-client';
import { v7 as uuid } from 'uuid';
import { AppendTooLarge, handle, load, MAX_APPEND_BYTES, StreamDeleted, VersionConflict } from '@fairlead/eventing';
import { take } from '@fairlead/eventing/testing';
import { until } from '@fairlead/postgres/testing';
import { EventStoreDbStore, EventStoreUnreachable } from '.';
import { EsdbLog, EventStoreDbDouble } from './testing';

const ROOT = join(__dirname, '../../..');
const noted = (text: string) => ({ type: 'Noted', data: { text } });
/** Short enough for a test, long enough for a slow machine. */
const limits = { attempt: 2000, total: 60_000 };
/** No attempt is repeated because the machine has stopped for a while. */
const patient = { attempt: 20_000, total: 60_000 };

let doubles: EventStoreDbDouble[];
let stores: EventStoreDbStore[];
beforeEach(() => ([doubles, stores] = [[], []]));
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await Promise.all(doubles.map((double) => double.stop()));
});

async function start(options?: Parameters<typeof EventStoreDbDouble.start>[0]): Promise<EventStoreDbDouble> {
  const double = await EventStoreDbDouble.start(options);
  doubles.push(double);
  return double;
}
function storeOn(url: string, times = limits): EventStoreDbStore {
  const store = new EventStoreDbStore(url, { limits: times });
  stores.push(store);
  return store;
}
describe('Appending to EventStoreDB', () => {
  it('sends an append whose answer was lost again, and appends it once', async () => {
    const double = await start();
    double.lostAnswers = 1;
    const store = storeOn(double.url);
    expect(await store.append('note-1', 0, [noted('a'), noted('b')], {})).toMatchObject({ version: 2 });
    expect(double.calls.append).toBeGreaterThanOrEqual(2);
    expect(await store.read('note-1')).toHaveLength(2);
  });

  it('appends once at any version too, although the server has forgotten the ids by then', async () => {
    const double = await start();
    const store = storeOn(double.url);
    await store.append('note-1', 'any', [noted('a')], {});
    double.lostAnswers = 1;
    const appending = store.append('note-1', 'any', [noted('b')], {});
    await until(() => double.lostAnswers === 0);
    double.log.forget();
    expect(await appending).toMatchObject({ version: 2 });
    expect(await store.read('note-1')).toHaveLength(2);
  });

  it('does not wait for ever for a server that stalls, and goes on when it is back', async () => {
    const double = await start();
    const store = storeOn(double.url);
    await store.append('note-1', 0, [noted('a')], {});
    double.stall('append');
    const appending = store.append('note-1', 1, [noted('b')], {});
    await until(() => double.calls.append >= 3);
    double.resume('append');
    expect(await appending).toMatchObject({ version: 2 });
    // What was taken while it stalled is carried out late, and changes nothing.
    expect(await store.read('note-1')).toHaveLength(2);
    const impatient = storeOn(double.url, { attempt: 100, total: 200 });
    double.stall('append');
    await expect(impatient.append('note-1', 2, [noted('c')], {})).rejects.toBeInstanceOf(EventStoreUnreachable);
    await expect(impatient.append('note-1', 2, [noted('c')], {})).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  });

  it('waits for a server that is starting, and for one that is not there yet', async () => {
    const double = await start();
    double.notReady = 3;
    expect(await storeOn(double.url).append('note-1', 0, [noted('a')], {})).toMatchObject({ version: 1 });
    const { log, address } = double;
    await double.stop();
    const store = storeOn(double.url);
    const appending = store.append('note-1', 1, [noted('b')], {});
    await start({ port: address.port, log });
    expect(await appending).toMatchObject({ version: 2 });
  });

  it('says which version a stream is at, also for one that does not exist', async () => {
    const store = storeOn((await start()).url);
    await expect(store.append('note-1', 3, [noted('a')], {})).rejects.toMatchObject({ expected: 3, actual: 0 });
    await store.append('note-1', 0, [noted('a')], {});
    const refused = store.append('note-1', 0, [noted('b')], {});
    await expect(refused).rejects.toBeInstanceOf(VersionConflict);
    await expect(refused).rejects.toMatchObject({ expected: 0, actual: 1 });
  });

  it('lets appends at any version of one stream follow each other', async () => {
    const store = storeOn((await start()).url);
    const appended = await Promise.all(
      Array.from({ length: 20 }, (_, n) => store.append('note-1', 'any', [noted(`${n}`)], {})),
    );
    expect(appended.map(({ version }) => version)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    const ids = [uuid(), uuid()];
    const again = () =>
      store.append(
        'note-1',
        'any',
        [
          { ...noted('x'), id: ids[0] },
          { ...noted('y'), id: ids[1] },
        ],
        {},
      );
    expect(await again()).toEqual(await again());
    expect(await store.read('note-1')).toHaveLength(22);
  });

  it('takes what is just within the limit and refuses what is over it before it is sent', async () => {
    const double = await start();
    const store = storeOn(double.url, patient);
    const metadata = { tenant: 't' };
    const rest = 2 * 'Noted'.length + JSON.stringify({ text: '' }).length + JSON.stringify(metadata).length;
    const most = 'x'.repeat(MAX_APPEND_BYTES - rest);
    expect(await store.append('note-1', 0, [noted(most)], metadata)).toMatchObject({ version: 1 });
    await expect(store.append('note-1', 1, [noted(`${most}x`)], metadata)).rejects.toBeInstanceOf(AppendTooLarge);
    expect(double.calls.append).toBe(1);
    expect((await store.read('note-1'))[0]!.data).toEqual({ text: most });
    const client = EventStoreDBClient.connectionString(double.url);
    const event = jsonEvent({ type: 'Noted', data: { text: 'x'.repeat(1024 * 1024) } });
    await expect(client.appendToStream('note-2', event, { expectedRevision: NO_STREAM })).rejects.toBeInstanceOf(
      MaxAppendSizeExceededError,
    );
    await client.dispose();
  });
});

describe('A cluster of EventStoreDB', () => {
  async function cluster() {
    const log = new EsdbLog();
    const [one, two] = [await start({ log }), await start({ log })];
    for (const node of [one, two]) node.members = [one, two];
    two.leader = one.address;
    const elect = (leader: EventStoreDbDouble) => {
      for (const node of [one, two]) node.leader = node === leader ? undefined : leader.address;
      log.forget();
    };
    const url = `esdb://127.0.0.1:${one.address.port},127.0.0.1:${two.address.port}?tls=false`;
    return { log, one, two, url, elect };
  }

  it('is followed to its leader, from any node', async () => {
    const { one, two } = await cluster();
    const store = storeOn(two.url, patient);
    expect(await store.append('note-1', 0, [noted('a')], {})).toMatchObject({ version: 1 });
    expect([one.calls.append, (await store.read('note-1')).length]).toEqual([1, 1]);
  });

  it('is followed to the next leader, and waited for while there is none', async () => {
    const { one, two, url, elect } = await cluster();
    const store = storeOn(url);
    await store.append('note-1', 0, [noted('a')], {});
    one.leader = two.leader = 'nobody';
    const appending = store.append('note-1', 1, [noted('b')], {});
    // Asked whether the log is still the same one, and to append.
    const asked = () => [one, two].reduce((sum, { calls }) => sum + calls.append + calls.read, 0);
    await until(() => asked() >= 4);
    elect(two);
    expect(await appending).toMatchObject({ version: 2 });
    await one.stop();
    expect(await store.append('note-1', 2, [noted('c')], {})).toMatchObject({ version: 3 });
  });

  it('is left for another node when the leader stalls', async () => {
    const { one, two, url, elect } = await cluster();
    const store = storeOn(url);
    await store.append('note-1', 0, [noted('a')], {});
    for (const kind of ['append', 'read', 'gossip'] as const) one.stall(kind);
    const appending = store.append('note-1', 1, [noted('b')], {});
    await until(() => one.calls.append >= 2);
    elect(two);
    expect(await appending).toMatchObject({ version: 2 });
  });
});

describe('A leader of EventStoreDB that hangs', () => {
  const KINDS = ['append', 'batches', 'read', 'subscribe', 'live', 'gossip'] as const;

  it('is left by all who wait for it as soon as another node leads, long before their own time is over', async () => {
    const log = new EsdbLog();
    const nodes = [await start({ log }), await start({ log }), await start({ log })];
    for (const node of nodes) node.members = nodes;
    const elect = (leader: EventStoreDbDouble) => {
      for (const node of nodes) node.leader = node === leader ? undefined : leader.address;
    };
    elect(nodes[0]!);
    const hosts = nodes.map(({ address }) => `127.0.0.1:${address.port}`).join(',');
    const store = storeOn(`esdb://${hosts}?tls=false`, { attempt: 600_000, total: 600_000 });
    await store.append('note-1', 0, [noted('a')], {});
    for (const kind of KINDS) nodes[0]!.stall(kind);
    const writing = Array.from({ length: 30 }, (_, n) => store.append(`more-${n}`, 0, [noted('b')], {}));
    const reading = store.read('note-1');
    // A process that does not follow the log asks whether a new stream was deleted.
    await until(() => nodes[0]!.calls.read >= 31 && nodes[1]!.calls.gossip >= 2 && nodes[2]!.calls.gossip >= 2);
    elect(nodes[1]!);
    expect((await Promise.all(writing)).every(({ version }) => version === 1)).toBe(true);
    expect(await reading).toHaveLength(1);
    expect([nodes[0]!.calls.append, nodes[1]!.calls.append]).toEqual([1, 30]);
    // All nodes are asked at the same time, and those who wait ask together.
    expect(nodes[1]!.calls.gossip).toBeLessThan(30);
  });

  it('takes itself for the leader when it wakes up, and is believed by nobody', async () => {
    const log = new EsdbLog();
    const [old, two, three] = [await start({ log }), await start({ log }), await start({ log })];
    old.members = [old];
    for (const node of [two, three]) node.members = [two, three];
    three.leader = two.address;
    const hosts = [old, two, three].map(({ address }) => `127.0.0.1:${address.port}`).join(',');
    const store = storeOn(`esdb://${hosts}?tls=false`, patient);
    await store.append('note-1', 0, [noted('a')], {});
    expect([old.calls.append, two.calls.append]).toEqual([0, 1]);
  });

  it('is not believed when it goes on with its old log and epoch, neither for reads nor for appends', async () => {
    const log = new EsdbLog();
    const nodes = [await start({ log }), await start({ log }), await start({ log })] as const;
    const [one, two, three] = nodes;
    for (const node of nodes) node.members = [...nodes];
    const elect = (leader: EventStoreDbDouble) => {
      for (const node of nodes) if (node !== leader) node.leader = leader.address;
      leader.leader = undefined;
    };
    elect(one);
    const hosts = nodes.map(({ address }) => `127.0.0.1:${address.port}`).join(',');
    const store = storeOn(`esdb://${hosts}?tls=false`);
    for (let n = 0; n < 10; n++) await store.append(`note-${n}`, 0, [noted('before')], {});
    one.hang();
    elect(two);
    for (let n = 0; n < 10; n++) await store.append(`note-${n}`, 1, [noted('meanwhile')], {});
    one.wake();
    // Whoever looks for the leader now hears of two of them from every node.
    const { gossip } = three.calls;
    const before = two.calls.append;
    two.dropSubscriptions();
    two.stall('read');
    two.stall('append');
    const reading = Array.from({ length: 10 }, (_, n) => store.read(`note-${n}`, 1));
    const writing = Array.from({ length: 10 }, (_, n) => store.append(`note-${n}`, 2, [noted('after')], {}));
    await until(() => three.calls.gossip > gossip + 1);
    one.follow(two);
    two.resume('read');
    two.resume('append');
    expect((await Promise.all(reading)).map(([event]) => event?.data)).toEqual(Array(10).fill({ text: 'meanwhile' }));
    expect((await Promise.all(writing)).map(({ version }) => version)).toEqual(Array(10).fill(3));
    expect(two.calls.append).toBeGreaterThan(before);
  });

  it('says neither that the log is older nor that a stream was deleted, when a process is connected to it', async () => {
    const log = new EsdbLog();
    const [one, two] = [await start({ log }), await start({ log })];
    for (const node of [one, two]) node.members = [one, two];
    two.leader = one.address;
    const store = storeOn(`esdb://${[one, two].map(({ address }) => `127.0.0.1:${address.port}`).join(',')}?tls=false`);
    for (let version = 0; version < 3; version++) await store.append('note-1', version, [noted('a')], {});
    const old = await start({ log: new EsdbLog() });
    // The only one that is named; it has none of the events.
    for (const node of [one, two, old]) node.members = [old];
    one.leader = two.leader = old.address;
    one.dropSubscriptions();
    const outcomes: unknown[] = [];
    const asked = [store.read('note-1', 2), store.read('note-1'), store.append('note-1', 3, [noted('b')], {})];
    const settled = asked.map((work) => work.then((done) => outcomes.push(done)));
    await until(() => old.calls.read > 3);
    expect(outcomes).toEqual([]);
    for (const node of [one, two, old]) node.members = [one, two];
    one.leader = undefined;
    two.leader = old.leader = one.address;
    await Promise.all(settled);
    expect((await store.read('note-1')).map(({ version }) => version)).toEqual([1, 2, 3, 4]);
  });

  it('is asked with a limit of a second, also where nodes are found by a name', () => {
    const url = jest.spyOn(EventStoreDBClient, 'connectionString');
    storeOn('esdb+discover://cluster.example:2113?tls=false');
    storeOn('esdb+discover://cluster.example:2113?tls=false&gossipTimeout=2');
    expect(url.mock.calls.map(([text]) => /gossipTimeout=\d+/g.exec(String(text))?.[0])).toEqual([
      'gossipTimeout=1',
      'gossipTimeout=2',
    ]);
    url.mockRestore();
  });
});

it('says nothing of a node whose TLS name is its IP address', () => {
  const connect = `require('node:tls').connect({ host: '127.0.0.1', port: 1, servername: '127.0.0.1' }).on('error', () => {});`;
  const said = (before: string) =>
    spawnSync(process.execPath, ['-r', join(ROOT, 'tools/test/typescript.cjs'), '-e', `${before}${connect}`], {
      cwd: ROOT,
      encoding: 'utf8',
    }).stderr;
  const open = `new (require('./libs/eventstoredb/src/connection.ts').EventStoreDbConnection)('esdb://127.0.0.1:1');`;
  expect(said('')).toContain('DEP0123');
  expect(said(open)).toBe('');
});

describe('A stream that was deleted in EventStoreDB by hand', () => {
  async function withMetadata(double: EventStoreDbDouble, stream: string, metadata: object) {
    const client = EventStoreDBClient.connectionString(double.url);
    const event = jsonEvent({ type: '$metadata', data: { ...metadata } });
    await client.appendToStream(`$$${stream}`, event);
    await client.dispose();
  }

  it('is named as deleted where it is read or written, and stops nobody else', async () => {
    const double = await start();
    const store = storeOn(double.url);
    const before = take(store, 0n, 3);
    await store.append('note-1', 0, [noted('a')], {});
    await store.append('note-2', 0, [noted('b')], {});
    double.log.tombstone('note-1');
    const last = await store.append('note-3', 0, [noted('c')], {});
    expect((await before).map(({ stream }) => stream)).toEqual(['note-1', 'note-2', 'note-3']);
    expect((await take(storeOn(double.url), 0n, 3)).at(-1)!.position).toBe(last.position);
    double.log.tombstone('note-3');
    expect(await storeOn(double.url).head()).toBe(last.position);
    const gone = { name: 'StreamDeleted', stream: 'note-1' };
    await expect(store.read('note-1')).rejects.toMatchObject(gone);
    await expect(store.append('note-1', 1, [noted('d')], {})).rejects.toMatchObject(gone);
    await expect(store.append('note-1', 'any', [noted('d')], {})).rejects.toMatchObject(gone);
    expect(await store.deletedStreams()).toEqual(['note-1', 'note-3']);
  });

  it.each(['deleted', 'tombstone', '$tb', '$maxCount'])(
    'is refused alike by a process that has it in memory and by a new one: %s',
    async (how) => {
      const double = await start();
      const [store, client] = [storeOn(double.url), EventStoreDBClient.connectionString(double.url)];
      const counts = { initial: 0, evolve: (count: number) => count + 1 };
      const add = (on: EventStoreDbStore) => handle(on, counts, 'note-1', () => [noted('x')] as never[], {});
      const following = new AbortController();
      const followed = store.subscribe(0n, following.signal)[Symbol.asyncIterator]().next();
      for (let n = 0; n < 3; n++) await add(store);
      await followed;
      if (how === 'deleted') await client.deleteStream('note-1');
      if (how === 'tombstone') await client.tombstoneStream('note-1');
      if (how === '$tb') await client.setStreamMetadata('note-1', { truncateBefore: 2 });
      if (how === '$maxCount') await client.setStreamMetadata('note-1', { maxCount: 1 });
      await client.dispose();
      await until(() => store.deletedById().has('1'));
      const { append } = double.calls;
      await expect(add(store)).rejects.toBeInstanceOf(StreamDeleted);
      expect(double.calls.append).toBe(append);
      for (const on of [store, storeOn(double.url)]) {
        await expect(add(on)).rejects.toBeInstanceOf(StreamDeleted);
        await expect(load(on, counts, 'note-1')).rejects.toBeInstanceOf(StreamDeleted);
        await expect(on.read('note-1')).rejects.toBeInstanceOf(StreamDeleted);
        await expect(on.append('note-1', 'any', [noted('x')], {})).rejects.toBeInstanceOf(StreamDeleted);
      }
      expect(double.log.stream('note-1').filter(({ type }) => type === 'Noted')).toHaveLength(3);
      following.abort();
    },
  );

  it.each([{ $tb: 2 }, { $maxCount: 1 }])('is no stream of other events when its metadata is %j', async (metadata) => {
    const double = await start();
    const store = storeOn(double.url);
    for (let n = 0; n < 3; n++) await store.append('note-1', n, [noted(`${n}`)], {});
    await withMetadata(double, 'note-1', metadata);
    await expect(store.read('note-1')).rejects.toBeInstanceOf(StreamDeleted);
    expect(await store.deletedStreams()).toEqual(['note-1']);
    await withMetadata(double, 'note-1', { $tb: 3 });
    await expect(store.read('note-1', 3)).rejects.toBeInstanceOf(StreamDeleted);
    await withMetadata(double, 'note-1', {});
    expect(await store.read('note-1')).toHaveLength(3);
    expect(await store.deletedStreams()).toEqual([]);
  });
});

describe('Subscribing to EventStoreDB', () => {
  it('goes on where it was when subscriptions are dropped, and misses and repeats nothing', async () => {
    const double = await start();
    const store = storeOn(double.url);
    const received = take(store, 0n, 300);
    for (let n = 0; n < 30; n++) {
      await store.append(
        `note-${n}`,
        0,
        Array.from({ length: 10 }, (_, m) => noted(`${n} ${m}`)),
        {},
      );
      if (n % 7 === 3) double.dropSubscriptions(n % 2 ? 'error' : 'end');
    }
    const events = await received;
    expect(events.map(({ stream, version }) => `${stream} ${version}`)).toEqual(
      double.log.events.map(({ stream, revision }) => `${stream} ${revision + 1}`),
    );
  });

  it('hears on from a server that was away', async () => {
    const double = await start();
    const store = storeOn(double.url);
    const { log, address } = double;
    await store.append('note-1', 0, [noted('a')], {});
    const received: string[] = [];
    const stop = new AbortController();
    const listening = (async () => {
      let position = 0n;
      while (!stop.signal.aborted) {
        try {
          for await (const batch of store.subscribe(position, stop.signal)) {
            position = batch.position;
            received.push(...batch.events.map(({ data }) => (data as { text: string }).text));
          }
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    })();
    await until(() => received.length === 1);
    await double.stop();
    await start({ port: address.port, log });
    await store.append('note-1', 1, [noted('b')], {});
    await until(() => received.length === 2);
    stop.abort();
    await listening;
    expect(received).toEqual(['a', 'b']);
  });

  it('notices a subscription that hangs', async () => {
    const double = await start();
    const store = storeOn(double.url);
    await store.append('note-1', 0, [noted('a')], {});
    expect(await take(store, 0n, 1)).toHaveLength(1);
    double.stall('live');
    const received = take(store, await store.head(), 1);
    await store.append('note-1', 1, [noted('b')], {});
    expect((await received).map(({ version }) => version)).toEqual([2]);
  });

  it('leaves a connection that is dead without having been closed, for appends and for what it hears', async () => {
    const double = await start();
    const wire = await Wire.to(double.address.port);
    try {
      const store = storeOn(`esdb://127.0.0.1:${wire.port}?tls=false`);
      const first = await store.append('note-1', 0, [noted('a')], {});
      expect(await take(store, 0n, 1)).toHaveLength(1);
      const received = take(store, first.position, 1);
      wire.cut();
      expect(await store.append('note-1', 1, [noted('b')], {})).toMatchObject({ version: 2 });
      expect((await received).map(({ version }) => version)).toEqual([2]);
    } finally {
      wire.close();
    }
  });

  it('says why it hears nothing, once the server is gone', async () => {
    const double = await start();
    const store = storeOn(double.url, { attempt: 3000, total: 3000 });
    const { position } = await store.append('note-1', 0, [noted('a')], {});
    expect(await take(store, 0n, 1)).toHaveLength(1);
    await double.stop();
    await expect(take(store, position, 1)).rejects.toThrow('The event store cannot be reached: ');
  });

  it('passes over the events of the server itself, and knows where the log ends without them', async () => {
    const double = await start();
    const store = storeOn(double.url);
    for (let n = 0; n < 700; n++) double.log.appendSystemEvent();
    expect(await store.head()).toBe(0n);
    const first = await store.append('note-1', 0, [noted('a')], {});
    for (let n = 0; n < 700; n++) double.log.appendSystemEvent();
    expect(await store.head()).toBe(first.position);
    const received = take(store, 0n, 2);
    await store.append('note-1', 1, [noted('b')], {});
    expect((await received).map(({ stream }) => stream)).toEqual(['note-1', 'note-1']);
  });

  it.each([
    ['a new log', 0],
    ['a log without events that it is for', 3],
  ])('takes a checkpoint that names no position for none, on %s', async (_, before) => {
    const double = await start();
    const writer = storeOn(double.url);
    for (let n = 0; n < before; n++) await writer.append(`old-${n}`, 0, [noted('')], {});
    const store = storeOn(double.url);
    const filters = [{}, { categories: ['webhook'] }, { types: ['WebhookAdded'] }];
    const stop = new AbortController();
    const reached = filters.map(() => 0n);
    const following = filters.map(async (filter, index) => {
      for await (const { position } of store.subscribe(0n, stop.signal, filter)) reached[index] = position;
    });
    await until(() => double.calls.subscribe > 0);
    const { position } = await writer.append('note-1', 0, [noted('a')], {});
    await until(() => reached.every((at) => at >= position));
    stop.abort();
    await Promise.all(following);
    expect(reached).toEqual(filters.map(() => position));
  });

  it('lets the server filter what is old, and says how far it has come', async () => {
    const double = await start();
    const store = storeOn(double.url);
    for (let n = 0; n < 8; n++) {
      await store.append(
        `many-${n}`,
        0,
        Array.from({ length: 250 }, () => noted('')),
        {},
      );
      await store.append(`few-${n}`, 0, [{ type: n % 2 ? 'Odd' : 'Even', data: {} }], {});
    }
    const head = await store.head();
    for (const [filter, count] of [
      [{ categories: ['few'] }, 8],
      [{ types: ['Odd'] }, 4],
      [{ categories: ['few'], types: ['Even'] }, 4],
      [{ categories: ['none'] }, 0],
    ] as const) {
      const stop = new AbortController();
      let [reached, events, silent] = [0n, 0, 0];
      for await (const batch of store.subscribe(0n, stop.signal, filter)) {
        expect(batch.position).toBeGreaterThan(reached);
        reached = batch.position;
        events += batch.events.length;
        if (batch.events.length === 0) silent += 1;
        if (reached >= head) stop.abort();
      }
      expect([reached, events]).toEqual([head, count]);
      if (count === 0) expect(silent).toBeGreaterThan(2);
    }
  });

  it('reads no further ahead than a slow consumer allows', async () => {
    const double = await start();
    const store = storeOn(double.url, patient);
    for (let n = 0; n < 60; n++) await store.append(`big-${n}`, 0, [noted('x'.repeat(200_000))], {});
    const stop = new AbortController();
    const batches = store.subscribe(0n, stop.signal, { categories: ['big'] })[Symbol.asyncIterator]();
    const first = await batches.next();
    const stream = 'big-';
    let seen = (first.value as { events: { stream: string }[] }).events.length;
    expect(seen).toBeLessThan(60);
    while (seen < 60) {
      const { value } = (await batches.next()) as { value: { events: { stream: string }[] } };
      expect(value.events.every((event) => event.stream.startsWith(stream))).toBe(true);
      seen += value.events.length;
    }
    expect(seen).toBe(60);
    stop.abort();
    await batches.next();
  });
});

/** Carries connections to a port of this machine; those that are cut stay open and carry nothing any more. */
class Wire {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  static async to(port: number): Promise<Wire> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const wire = new Wire(server, (server.address() as AddressInfo).port);
    server.on('connection', (near) => {
      const far = connect(port, '127.0.0.1');
      wire.sockets.add(near).add(far);
      near.on('error', () => undefined).pipe(far);
      far.on('error', () => undefined).pipe(near);
    });
    return wire;
  }

  cut(): void {
    for (const socket of this.sockets) socket.unpipe().pause();
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}

describe('The double', () => {
  it('is what the client expects of a server: batches of appends, revisions, reading backwards', async () => {
    const double = await start();
    const client = EventStoreDBClient.connectionString(double.url);
    const event = (n: number) => jsonEvent({ type: 'Noted', data: { n } });
    const first = await client.appendToStream('note-1', [event(1), event(2)], { expectedRevision: NO_STREAM });
    expect(first).toMatchObject({ success: true, nextExpectedRevision: 1n });
    await expect(client.appendToStream('note-1', event(3), { expectedRevision: 0n })).rejects.toMatchObject({
      type: 'wrong-expected-version',
      actualVersion: 1n,
    });
    const backwards: bigint[] = [];
    for await (const { event: read } of client.readStream('note-1', { direction: 'backwards', fromRevision: 'end' })) {
      backwards.push(read!.revision);
    }
    expect(backwards).toEqual([1n, 0n]);
    await client.dispose();
  });

  it('keeps its log in a file when it has one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'esdb-'));
    const file = join(folder, 'log.jsonl');
    const double = await start({ log: new EsdbLog(file) });
    const store = storeOn(double.url);
    await store.append('note-1', 0, [noted('a'), noted('ü')], { tenant: 't' });
    const before = await store.read('note-1');
    await double.stop();
    await start({ port: double.address.port, log: new EsdbLog(file) });
    expect(await store.read('note-1')).toEqual(before);
    expect(await store.append('note-1', 2, [noted('c')], {})).toMatchObject({ version: 3 });
    rmSync(folder, { recursive: true });
  });
});
