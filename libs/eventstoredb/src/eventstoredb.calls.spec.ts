import {
  type DomainEvent,
  handle,
  load,
  type Metadata,
  type Model,
  type Recorded,
  reserveName,
} from '@fairlead/eventing';
import { until } from '@fairlead/postgres/testing';
import { EventStoreDbStore } from '.';
import { EventStoreDbDouble } from './testing';

type Added = DomainEvent<'Added', { amount: number }>;
const sum: Model<number, Added> = { initial: 0, evolve: (state, { data }) => state + data.amount };
const add = (amount: number) => (): Added[] => [{ type: 'Added', data: { amount } }];

let double: EventStoreDbDouble;
let store: EventStoreDbStore;
beforeEach(async () => {
  double = await EventStoreDbDouble.start();
  store = new EventStoreDbStore(double.url, { limits: { attempt: 20_000, total: 60_000 } });
  await subscribed();
});
afterEach(async () => {
  await store.close();
  await double.stop();
});

/** Counts the calls that the server receives while `work` runs. */
async function calls(work: () => Promise<unknown>): Promise<{ append: number; read: number }> {
  const { append, read } = double.calls;
  await work();
  return { append: double.calls.append - append, read: double.calls.read - read };
}
/** Subscribes, as every process of a service does: it then knows the markers of deleted streams. */
async function subscribed(): Promise<void> {
  const stop = new AbortController();
  const first = store.subscribe(0n, stop.signal)[Symbol.asyncIterator]().next();
  await until(async () => (await calls(() => store.read('nothing-1'))).read === 1);
  stop.abort();
  await first;
}
const command = (causationId: string): Metadata => ({ tenant: 'a', actor: 'key', causationId });

describe('What a command asks of EventStoreDB (double)', () => {
  it('is one append on a stream that the process has written before, with a command id as well', async () => {
    await handle(store, sum, 'sum-1', add(1), {});
    expect(await calls(() => handle(store, sum, 'sum-1', add(1), {}))).toEqual({ append: 1, read: 0 });
    expect(await calls(() => handle(store, sum, 'sum-1', add(1), command('first')))).toEqual({ append: 1, read: 0 });
    expect(await calls(() => handle(store, sum, 'sum-1', add(1), {}, 3))).toEqual({ append: 1, read: 0 });
  });

  it('is an append for its name and one for itself where something is created, and a look whether the name is free', async () => {
    const creating = async () => {
      const claim = { metadata: {}, taken: () => new Error('taken') };
      await reserveName(store, 'name-a', 'sum-2', async () => false, claim);
      await handle(store, sum, 'sum-2', add(1), command('create'));
    };
    expect(await calls(creating)).toEqual({ append: 2, read: 1 });
  });

  it('is no reading of a growing stream for each of its commands', async () => {
    const growing = async () => {
      for (let n = 0; n < 50; n++) await handle(store, sum, 'sum-3', add(1), command(`step ${n}`));
    };
    expect(await calls(growing)).toEqual({ append: 50, read: 0 });
  });

  it('is a reading where the command was there before, in this process or in another one', async () => {
    const first = await handle(store, sum, 'sum-4', add(5), command('once'));
    await handle(store, sum, 'sum-4', add(1), {});
    expect(await handle(store, sum, 'sum-4', add(5), command('once'))).toEqual({ ...first, state: 5 });
    const other = new EventStoreDbStore(double.url, { limits: { attempt: 20_000, total: 60_000 } });
    expect(await handle(other, sum, 'sum-4', add(5), command('once'))).toMatchObject({ state: 5, version: 1 });
    await other.close();
    expect(await store.read('sum-4')).toHaveLength(2);
  });

  it('is no reading for a state after events that are at hand, unless there are unknown ones before them', async () => {
    const other = new EventStoreDbStore(double.url, { limits: { attempt: 20_000, total: 60_000 } });
    for (const amount of [1, 2, 3]) await handle(other, sum, 'sum-5', add(amount), {});
    await other.close();
    const seen = await store.read('sum-5');
    const after = async (events: Recorded[]) => (await load(store, sum, 'sum-5', events)).state;
    expect(await calls(async () => expect(await after(seen.slice(0, 2))).toBe(3))).toEqual({ append: 0, read: 0 });
    expect(await calls(async () => expect(await after([seen[0]!, seen[2]!])).toBe(6))).toEqual({ append: 0, read: 1 });
    expect(await calls(async () => expect(await after(seen.slice(1, 2))).toBe(6))).toEqual({ append: 0, read: 0 });
    expect(await calls(async () => expect(await after([])).toBe(6))).toEqual({ append: 0, read: 1 });
  });

  it('is one append for what goes behind whatever is there, once the process knows how long the stream is', async () => {
    const note = () => store.append('note-1', 'any', [{ type: 'Noted', data: {} }], {});
    await note();
    expect(await calls(note)).toEqual({ append: 1, read: 0 });
  });
});
