import {
  chain,
  type DomainEvent,
  type EventStore,
  handle,
  load,
  type Model,
  type Recorded,
  type StoredTypes,
  UpcastingEventStore,
} from '..';
import { MemoryEventStore, verifyChain } from '../testing';

type Counted = DomainEvent<'Counted', { by: number }>;
const counter: Model<{ total: number }, Counted> = {
  initial: { total: 0 },
  evolve: (state, { type, data }) => (type === 'Counted' ? { total: state.total + data.by } : state),
};
const count = (by: number) => (): Counted[] => [{ type: 'Counted', data: { by } }];
/** Large numbers are not for processes that know no `LargeCounted`. */
const storedTypes: StoredTypes = {
  LargeCounted: { type: 'Counted', isFor: (data) => (data as Counted['data']).by > 9 },
};

let stored: MemoryEventStore;
let store: UpcastingEventStore;
beforeEach(async () => {
  stored = new MemoryEventStore();
  store = new UpcastingEventStore(stored, {}, storedTypes);
  for (const by of [1, 10, 2]) await handle(store, counter, 'counter-1', count(by), {});
});

/** The first events of a follower that wants `Counted`. */
async function followed(from: EventStore, most: number): Promise<Recorded[]> {
  const stop = new AbortController();
  const events: Recorded[] = [];
  for await (const batch of from.subscribe(0n, stop.signal, { types: ['Counted'] })) {
    events.push(...batch.events);
    if (events.length >= most) stop.abort();
  }
  return events;
}

const types = (events: readonly DomainEvent[]) => events.map(({ type }) => type);

describe('an event that is stored under another type', () => {
  it('is passed over by a process that does not know the type', async () => {
    expect(types(await stored.read('counter-1'))).toEqual(['Counted', 'LargeCounted', 'Counted']);
    const earlier = new UpcastingEventStore(stored, {});
    expect((await load(earlier, counter, 'counter-1')).state).toEqual({ total: 3 });
    const seen = await followed(earlier, 2);
    expect(seen.map(({ version }) => version)).toEqual([1, 3]);
  });

  it('has its own type for all others, however it is read', async () => {
    const events = await store.read('counter-1');
    expect(types(events)).toEqual(Array(3).fill('Counted'));
    expect(await store.at(events[1]!.position)).toEqual(events[1]);
    expect(await followed(store, 3)).toEqual(events);
    const another = new UpcastingEventStore(stored, {}, storedTypes);
    expect((await load(another, counter, 'counter-1')).state).toEqual({ total: 13 });
  });

  it('is hashed as it is stored, by whoever appends after it', async () => {
    const raw = await stored.read('counter-1');
    expect(chain(await store.read('counter-1'))).toBe(chain(raw));
    expect(verifyChain(raw)).toEqual({ hash: chain(raw), covered: 2, broken: [] });
  });
});
