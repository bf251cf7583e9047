import { testDatabase, type TestDatabase } from '@fairlead/postgres/testing';
import {
  chain,
  type DomainEvent,
  eventingMigrations,
  type EventStore,
  handle,
  type Model,
  PostgresEventStore,
  type Recorded,
  release,
  reserveName,
  upcast,
} from '..';
import { verifyChain } from '../testing';

type Counted = DomainEvent<'Counted', { by: number }>;
const counter: Model<number, Counted> = { initial: 0, evolve: (total, event) => total + event.data.by };
const twice = (by: number) => (): Counted[] => [
  { type: 'Counted', data: { by } },
  { type: 'Counted', data: { by } },
];

let database: TestDatabase;
let store: PostgresEventStore;
beforeAll(async () => {
  database = await testDatabase(eventingMigrations);
  store = new PostgresEventStore(database.pool);
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

/** A stream of five appends of two events each; every other one by a writer that remembers nothing. */
async function counted(stream: string): Promise<Recorded[]> {
  for (let by = 1; by <= 5; by++) {
    const writer = by % 2 === 0 ? Object.assign(Object.create(store) as EventStore) : store;
    await handle(writer, counter, stream, twice(by), { actor: 'tester', reason: `step ${by}` });
  }
  return store.read(stream);
}

const tamperings: Record<string, (events: Recorded[], at: number) => Recorded[]> = {
  'changed data': (events, at) => events.with(at, { ...events[at]!, data: { by: 99 } }),
  'another actor': (events, at) =>
    events.with(at, { ...events[at]!, metadata: { ...events[at]!.metadata, actor: 'someone else' } }),
  'another time': (events, at) => events.with(at, { ...events[at]!, time: '2020-01-01T00:00:00.000Z' }),
  'another type': (events, at) => events.with(at, { ...events[at]!, type: 'Recounted' }),
  'a removed event': (events, at) => events.toSpliced(at, 1).map((event, index) => ({ ...event, version: index + 1 })),
  'events in another order': (events, at) =>
    events
      .with(at, events[at + 1]!)
      .with(at + 1, events[at]!)
      .map((event, index) => ({ ...event, version: index + 1 })),
};

describe('the chain of a stream', () => {
  it('holds for what commands wrote, whoever wrote it', async () => {
    const events = await counted('chain-1');
    expect(events).toHaveLength(10);
    expect(events[0]!.metadata.previous).toBeUndefined();
    expect(events[4]!.metadata.previous).toBe(chain(events.slice(0, 4)));
    expect(events[5]!.metadata.previous).toBe(events[4]!.metadata.previous);
    expect(verifyChain(events)).toEqual({ hash: chain(events), covered: 8, broken: [] });
  });

  it.each(Object.keys(tamperings))('shows %s, and where', async (tampering) => {
    const events = await counted(`chain-${tampering.replaceAll(' ', '')}`);
    for (let at = 0; at < 7; at++) {
      const { broken } = verifyChain(tamperings[tampering]!(events, at));
      expect(broken.length).toBeGreaterThan(0);
      expect(broken[0]!.after).toBeLessThanOrEqual(at);
      expect(broken[0]!.until).toBeGreaterThanOrEqual(at);
      expect(broken[0]!.until).toBeLessThanOrEqual(at + 3);
    }
  });

  it('shows a hole', async () => {
    const events = await counted('chain-hole');
    expect(verifyChain(events.toSpliced(3, 1)).broken).toEqual([
      { after: 3, until: 5, reason: 'version 4 is missing' },
    ]);
  });

  it('names one broken part only: what follows is held against what was there', async () => {
    const events = await counted('chain-one');
    expect(verifyChain(tamperings['changed data']!(events, 2)).broken).toEqual([
      { after: 2, until: 4, reason: 'version 5 was written after other events' },
    ]);
  });

  it('covers what was appended without reading, by the next append that did read', async () => {
    const stream = 'chain-any';
    await handle(store, counter, stream, twice(1), {});
    await store.append(stream, 'any', [{ type: 'Counted', data: { by: 7 } }], {});
    await handle(store, counter, stream, twice(2), {});
    const events = await store.read(stream);
    expect(verifyChain(events)).toMatchObject({ covered: 3, broken: [] });
    expect(verifyChain(tamperings['changed data']!(events, 2)).broken).toHaveLength(1);
  });

  it('holds for reserved names', async () => {
    for (const owner of ['thing-1', 'thing-2']) {
      const claim = { metadata: {}, taken: () => new Error('taken') };
      await reserveName(store, 'chainName-1', owner, async () => false, claim);
      await release(store, 'chainName-1', owner, {});
    }
    expect(verifyChain(await store.read('chainName-1'))).toMatchObject({ covered: 3, broken: [] });
  });

  it('is that of the events as they were written, in whatever shape they are read', async () => {
    const events = await counted('chain-upcast');
    const renamed = { Counted: (event: Recorded) => ({ ...event, data: { amount: 1 } }) };
    const read = events.map((event) => upcast(renamed, event));
    expect(read[0]!.data).toEqual({ amount: 1 });
    expect(verifyChain(read)).toEqual(verifyChain(events));
  });
});
