import {
  type EventStore,
  holder,
  type IsGone,
  type Metadata,
  nameStream,
  release,
  reserveName,
  StreamDeleted,
} from '..';
import { MemoryEventStore } from '../testing';

class NameTaken extends Error {
  constructor(readonly owner: string) {
    super(owner);
  }
}

const reserve = (
  inStore: EventStore,
  wanted: string,
  owner: string,
  metadata: Metadata,
  isGone: IsGone = async () => false,
) => reserveName(inStore, wanted, owner, isGone, { metadata, taken: (holding) => new NameTaken(holding) });

const name = nameStream('thingName', 'tenant', 'agent');
let store: MemoryEventStore;
beforeEach(() => (store = new MemoryEventStore()));
afterEach(() => jest.useRealTimers());

const begin = (stream: string) => store.append(stream, 0, [{ type: 'Begun', data: {} }], {});

it('gives a name to one owner only', async () => {
  await reserve(store, name, 'thing-1', {});
  await expect(reserve(store, name, 'thing-2', {})).rejects.toMatchObject({ owner: 'thing-1' });
  expect(await holder(store, name)).toBe('thing-1');
});

it('changes nothing when the owner reserves again', async () => {
  await reserve(store, name, 'thing-1', {});
  await reserve(store, name, 'thing-1', {});
  expect(await store.read(name)).toHaveLength(1);
});

it('keeps names of tenants apart', async () => {
  await reserve(store, name, 'thing-1', {});
  await reserve(store, nameStream('thingName', 'other', 'agent'), 'thing-2', {});
  expect(nameStream('thingName', 'a', 'b c')).not.toBe(nameStream('thingName', 'a b', 'c'));
});

it('lets exactly one of many win', async () => {
  const tries = await Promise.allSettled([1, 2, 3, 4, 5].map((n) => reserve(store, name, `thing-${n}`, {})));
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

it('frees a name when its owner gives it back, and only then', async () => {
  await reserve(store, name, 'thing-1', {});
  await begin('thing-1');
  await release(store, name, 'thing-2', {});
  await expect(reserve(store, name, 'thing-2', {})).rejects.toBeInstanceOf(NameTaken);
  await release(store, name, 'thing-1', {});
  await reserve(store, name, 'thing-2', {});
  expect(await holder(store, name)).toBe('thing-2');
});

it('takes over the name of an owner that never came to be, once the same reservation was seen a minute before', async () => {
  jest.useFakeTimers();
  await reserve(store, name, 'thing-1', {});
  await expect(reserve(store, name, 'thing-2', {})).rejects.toBeInstanceOf(NameTaken);
  jest.advanceTimersByTime(59_000);
  await expect(reserve(store, name, 'thing-2', {})).rejects.toBeInstanceOf(NameTaken);
  jest.advanceTimersByTime(2_000);
  await reserve(store, name, 'thing-2', {});
  expect(await holder(store, name)).toBe('thing-2');
});

it('takes over the name of an owner that is gone, once for all who ask at the same time', async () => {
  await reserve(store, name, 'thing-1', {});
  await begin('thing-1');
  const isGone = async (owner: string) => owner === 'thing-1';
  const tries = await Promise.allSettled([2, 3, 4].map((n) => reserve(store, name, `thing-${n}`, {}, isGone)));
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const holding = await holder(store, name);
  expect(holding).not.toBe('thing-1');
  // A release that comes late does not take the name from its new owner.
  await release(store, name, 'thing-1', {});
  expect(await holder(store, name)).toBe(holding);
});

it('counts from anew when the name has been reserved again meanwhile', async () => {
  jest.useFakeTimers();
  await reserve(store, name, 'thing-1', {});
  await expect(reserve(store, name, 'thing-2', {})).rejects.toBeInstanceOf(NameTaken);
  jest.advanceTimersByTime(61_000);
  await release(store, name, 'thing-1', {});
  await reserve(store, name, 'thing-1', {});
  await expect(reserve(store, name, 'thing-2', {})).rejects.toMatchObject({ owner: 'thing-1' });
});

it.each([-5, 5])(
  'leaves a reservation in progress alone when its time is %i minutes from the own clock',
  async (minutes) => {
    jest.useFakeTimers({ now: Date.now() + minutes * 60_000 });
    await reserve(store, name, 'thing-1', {});
    jest.setSystemTime(Date.now() - minutes * 60_000);
    await expect(reserve(store, name, 'thing-2', {})).rejects.toMatchObject({ owner: 'thing-1' });
    jest.advanceTimersByTime(30_000);
    await expect(reserve(store, name, 'thing-2', {})).rejects.toMatchObject({ owner: 'thing-1' });
    await begin('thing-1');
    jest.advanceTimersByTime(3_600_000);
    await expect(reserve(store, name, 'thing-2', {})).rejects.toMatchObject({ owner: 'thing-1' });
  },
);

it.each(['read', 'append'] as const)(
  'a name whose stream was deleted by hand is given back by itself (%s)',
  async (at) => {
    await reserve(store, name, 'thing-1', {});
    jest.spyOn(store, at).mockRejectedValue(new StreamDeleted(name));
    await expect(release(store, name, 'thing-1', {})).resolves.toBeUndefined();
    jest.restoreAllMocks();
  },
);
