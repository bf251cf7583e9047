import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { chain, type DomainEvent, handle, type Model } from '@fairlead/eventing';
import { verifyChain } from '@fairlead/eventing/testing';
import { EventStoreDbStore } from '.';
import { EventStoreDbDouble } from './testing';

type Counted = DomainEvent<'Counted', { by: number }>;
const counter: Model<{ total: number }, Counted> = {
  initial: { total: 0 },
  evolve: (state, event) => ({ total: state.total + event.data.by }),
};
const count = (events: number) => (): Counted[] =>
  Array.from({ length: events }, () => ({ type: 'Counted', data: { by: 1 } }));

const FIVE_MINUTES = 300_000;
const limits = { attempt: 20_000, total: 60_000 };

let double: EventStoreDbDouble;
let stores: EventStoreDbStore[];
beforeEach(async () => ([double, stores] = [await EventStoreDbDouble.start(), []]));
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await double.stop();
});
function storeWith(ahead: number): EventStoreDbStore {
  const store = new EventStoreDbStore(double.url, { limits, now: () => Date.now() + ahead });
  stores.push(store);
  return store;
}

it('gives the events of one append one time, so that the next append is linked to what is there', async () => {
  const store = storeWith(0);
  for (let n = 0; n < 20; n++) await handle(store, counter, 'counter-1', count(3), {});
  const created = (version: number) => double.log.stream('counter-1')[version]!.created;
  expect(Array.from({ length: 20 }, (_, n) => created(3 * n) !== created(3 * n + 2))).toContain(true);
  const events = await store.read('counter-1');
  expect(verifyChain(events)).toMatchObject({ broken: [], covered: 57 });
  for (let n = 0; n < 20; n++) expect(new Set(events.slice(3 * n, 3 * n + 3).map(({ time }) => time)).size).toBe(1);
});

it('never gives an event an earlier time than the one before it, whatever the clocks of the services say', async () => {
  const [ahead, behind] = [storeWith(FIVE_MINUTES), storeWith(0)];
  for (let n = 0; n < 10; n++) {
    await handle(ahead, counter, 'counter-1', count(2), {});
    await handle(behind, counter, 'counter-1', count(1), {});
  }
  await behind.append('counter-1', 'any', count(1)(), {});
  const events = await storeWith(0).read('counter-1');
  const times = events.map(({ time }) => time);
  expect(times).toEqual([...times].sort());
  expect(Date.parse(times[0]!)).toBeGreaterThan(Date.now() + FIVE_MINUTES / 2);
  expect(verifyChain(events)).toMatchObject({ broken: [], covered: 29 });
  expect(events.every(({ metadata }) => !('originalTime' in metadata))).toBe(true);
  const other = await behind.append('counter-2', 0, count(1)(), {});
  expect(Date.parse(other.time)).toBeLessThan(Date.now() + 1);
});

it('goes on with a log whose events have the times of the server', async () => {
  const client = EventStoreDBClient.connectionString(double.url);
  const store = storeWith(-FIVE_MINUTES);
  for (let n = 0; n < 3; n++) {
    const before = await store.read('counter-1');
    const metadata = n > 0 ? { previous: chain(before) } : {};
    const events = count(n === 2 ? 1 : 2)().map((event) => jsonEvent({ ...event, metadata }));
    await client.appendToStream('counter-1', events);
  }
  await client.dispose();
  const old = await store.read('counter-1');
  expect(old.map(({ time }) => Date.parse(time))).toEqual(double.log.stream('counter-1').map(({ created }) => created));
  await handle(store, counter, 'counter-1', count(2), {});
  const events = await store.read('counter-1');
  expect(events.slice(0, 5)).toEqual(old);
  expect(events[5]!.time).toBe(old[4]!.time);
  expect(verifyChain(events)).toMatchObject({ broken: [], covered: 5 });
});
