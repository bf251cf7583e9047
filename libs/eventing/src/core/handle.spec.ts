import {
  type Command,
  type DomainEvent,
  handle,
  load,
  type Metadata,
  type Model,
  type NewEvent,
  recall,
  VersionMismatch,
} from '..';
import { MemoryEventStore } from '../testing';

type Counted = DomainEvent<'Counted', { by: number }>;
const counter: Model<{ total: number }, Counted> = {
  initial: { total: 0 },
  evolve: (state, event) => ({ total: state.total + event.data.by }),
};
const count = (by: number) => (): Counted[] => [{ type: 'Counted', data: { by } }];
const countTo = (total: number) => (state: { total: number }) => (state.total < total ? count(1)() : []);

let store: MemoryEventStore;
beforeEach(() => (store = new MemoryEventStore()));

/** A process of its own: it remembers nothing of what others appended through the same log. */
class OtherProcess extends MemoryEventStore {
  constructor(private readonly shared: MemoryEventStore) {
    super();
  }
  override append(stream: string, expected: number | 'any', events: readonly NewEvent[], metadata: Metadata) {
    return this.shared.append(stream, expected, events, metadata);
  }
  override read(stream: string, after?: number) {
    return this.shared.read(stream, after);
  }
}

it('answers the state, version and events after the command', async () => {
  const first = await handle(store, counter, 'counter-1', count(2), {});
  const second = await handle(store, counter, 'counter-1', count(3), { actor: 'k' });
  expect(first).toMatchObject({ state: { total: 2 }, version: 1, position: 1n });
  expect(second).toMatchObject({ state: { total: 5 }, version: 2, position: 2n, events: [{ version: 2 }] });
  expect(await store.read('counter-1', 1)).toEqual(second.events);
});

it('compares If-Match with the edition of a model that has one, whatever else was appended', async () => {
  /** A model whose edition counts only changes by more than one. */
  const editioned: Model<{ total: number; edition: number }, Counted> = {
    initial: { total: 0, edition: 0 },
    evolve: (state, { data }) => ({
      total: state.total + data.by,
      edition: state.edition + Number(data.by > 1),
    }),
    edition: ({ edition }) => edition,
  };
  const other = new OtherProcess(store);
  const first = await handle(store, editioned, 'counter-1', count(2), {});
  await handle(other, editioned, 'counter-1', count(1), {});
  expect(await handle(store, editioned, 'counter-1', count(5), {}, first.state.edition)).toMatchObject({
    state: { total: 8, edition: 2 },
    version: 3,
  });
  await expect(handle(store, editioned, 'counter-1', count(5), {}, first.state.edition)).rejects.toThrow(
    new VersionMismatch('counter-1', 1, 2),
  );
  await expect(handle(store, editioned, 'counter-1', count(5), {}, 3)).rejects.toThrow(VersionMismatch);
});

it('remembers a stream for all models that know it as a whole, without a read after an append of this process', async () => {
  const largest: Model<number, Counted> = { initial: 0, evolve: (state, { data }) => Math.max(state, data.by) };
  const read = jest.spyOn(store, 'read');
  const recalled = async (version?: number) => (await recall(store, largest, 'counter-1', version)).state;
  await handle(store, counter, 'counter-1', count(2), {});
  expect([await recalled(), read.mock.calls.length]).toEqual([2, 1]);
  for (const by of [5, 3]) await handle(store, counter, 'counter-1', count(by), {});
  expect([await recalled(3), read.mock.calls.length]).toEqual([5, 1]);
  await handle(new OtherProcess(store), counter, 'counter-1', count(9), {});
  read.mockClear();
  expect([await recalled(3), read.mock.calls.length]).toEqual([5, 0]);
  expect([await recalled(4), read.mock.calls.length]).toEqual([9, 1]);
  // An append that follows one of another process is of no use to a fold that lacks that one.
  await handle(new OtherProcess(store), counter, 'counter-1', count(11), {});
  await handle(store, counter, 'counter-1', count(1), {});
  expect([await recalled(4), await recalled(6)]).toEqual([9, 11]);
});

it('decides again on what another process has appended to a stream that it remembers', async () => {
  await handle(store, counter, 'counter-1', count(1), {});
  await recall(store, counter, 'counter-1');
  await handle(new OtherProcess(store), counter, 'counter-1', countTo(2), {});
  expect(await handle(store, counter, 'counter-1', countTo(2), {})).toMatchObject({ state: { total: 2 }, events: [] });
});

it('writes nothing when nothing is decided, and answers the position the stream is at', async () => {
  await handle(store, counter, 'counter-1', count(1), {});
  expect(await handle(store, counter, 'counter-1', () => [], {})).toMatchObject({
    version: 1,
    position: 1n,
    events: [],
  });
});

it('decides again on the newer state when another writer was faster', async () => {
  const other = new OtherProcess(store);
  await handle(store, counter, 'counter-1', count(1), {});
  await handle(other, counter, 'counter-1', count(10), {});
  expect(await handle(store, counter, 'counter-1', count(1), {})).toMatchObject({ state: { total: 12 }, version: 3 });
});

it('never refuses or does nothing on a state that is behind the stream', async () => {
  const other = new OtherProcess(store);
  const onlyAfterTen = (state: { total: number }) => {
    if (state.total < 10) throw new Error('too early');
    return count(1)();
  };
  await handle(store, counter, 'counter-1', count(1), {});
  await handle(other, counter, 'counter-1', count(9), {});
  expect(await handle(store, counter, 'counter-1', onlyAfterTen, {})).toMatchObject({ state: { total: 11 } });
  await handle(other, counter, 'counter-1', count(-11), {});
  expect(await handle(store, counter, 'counter-1', countTo(1), {})).toMatchObject({ state: { total: 1 } });
});

it('passes on the refusal of a command', async () => {
  const refuse = (): Counted[] => {
    throw new RangeError('no');
  };
  await expect(handle(store, counter, 'counter-1', refuse, {})).rejects.toThrow(RangeError);
});

it('adds up what 50 concurrent commands on one stream do', async () => {
  await Promise.all(Array.from({ length: 50 }, () => handle(store, counter, 'counter-1', count(1), {})));
  expect(await load(store, counter, 'counter-1')).toMatchObject({ state: { total: 50 }, version: 50 });
});

it('gives concurrent commands on one stream turns, so that none is refused by the store and decided again', async () => {
  await handle(store, counter, 'counter-1', count(1), {});
  const append = jest.spyOn(store, 'append');
  const read = jest.spyOn(store, 'read');
  await Promise.all(Array.from({ length: 20 }, () => handle(store, counter, 'counter-1', count(1), {})));
  expect(append).toHaveBeenCalledTimes(20);
  expect(read).not.toHaveBeenCalled();
});

it('lets a command go ahead of one that does not end, and goes on after one that fails', async () => {
  const append = jest.spyOn(store, 'append');
  append.mockReturnValueOnce(new Promise(() => undefined)).mockRejectedValueOnce(new Error('the disk is full'));
  void handle(store, counter, 'counter-1', count(100), {});
  await expect(handle(store, counter, 'counter-1', count(1), {})).rejects.toThrow('the disk is full');
  expect(await handle(store, counter, 'counter-1', count(1), {})).toMatchObject({ state: { total: 1 }, version: 1 });
});

describe('with If-Match', () => {
  it('appends when the stream is at that version, though this process remembers an older one', async () => {
    const other = new OtherProcess(store);
    await handle(store, counter, 'counter-1', count(1), {});
    await handle(other, counter, 'counter-1', count(1), {});
    expect(await handle(store, counter, 'counter-1', count(1), {}, 2)).toMatchObject({ version: 3 });
  });

  it('refuses another version, also when nothing would change', async () => {
    await handle(store, counter, 'counter-1', count(1), {});
    await expect(handle(store, counter, 'counter-1', count(1), {}, 7)).rejects.toBeInstanceOf(VersionMismatch);
    await expect(handle(store, counter, 'counter-1', () => [], {}, 0)).rejects.toMatchObject({
      expected: 0,
      actual: 1,
    });
  });

  it('refuses the loser of two that name the same version', async () => {
    await handle(store, counter, 'counter-1', count(1), {});
    const both = await Promise.allSettled([1, 2].map((by) => handle(store, counter, 'counter-1', count(by), {}, 1)));
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { expected: 1, actual: 2 } });
  });
});

it('answers a repeated command with what it left behind and appends nothing', async () => {
  const first = await handle(store, counter, 'counter-1', count(2), { causationId: 'c1' });
  await handle(store, counter, 'counter-1', count(5), { causationId: 'c2' });
  expect(await handle(store, counter, 'counter-1', count(2), { causationId: 'c1' })).toEqual(first);
  expect(await store.read('counter-1')).toHaveLength(2);
});

it('knows a repeated command also in a stream with more commands than are remembered', async () => {
  const first = await handle(store, counter, 'counter-1', count(7), { causationId: 'long ago' });
  for (let n = 0; n < 600; n++) await handle(store, counter, 'counter-1', count(0), { causationId: `later ${n}` });
  expect(await handle(store, counter, 'counter-1', count(7), { causationId: 'long ago' })).toEqual(first);
  expect(await store.read('counter-1')).toHaveLength(601);
});

it('takes a command of another tenant with the same causation id for another command', async () => {
  await handle(store, counter, 'counter-1', count(2), { causationId: 'c1', tenant: 'a' });
  const refuse = (): Counted[] => {
    throw new RangeError('not yours');
  };
  await expect(handle(store, counter, 'counter-1', refuse, { causationId: 'c1', tenant: 'b' })).rejects.toThrow(
    RangeError,
  );
});

it('does a command once that is sent twice at the same time', async () => {
  const twice = [1, 2].map(() => handle(store, counter, 'counter-1', count(2), { causationId: 'c1' }));
  const [first, second] = await Promise.all(twice);
  expect(second).toEqual(first);
  expect(await store.read('counter-1')).toHaveLength(1);
});

describe('a command of a request', () => {
  const metadata = { tenant: 'a', request: 'POST /counters', causationId: 'key' };
  /** An attempt; `mayBeRepeated` when another one may have been before. */
  const attempt = (mayBeRepeated: boolean, id = 'c1'): Command => ({
    mayBeRepeated,
    changes: new Map(),
    idFor: (purpose, nth = 0) => `${id} ${purpose} ${nth}`,
  });
  const change = (by: number, command?: Command) =>
    handle(store, counter, 'counter-1', count(by), metadata, undefined, command);

  it('is known by the ids of its events, whatever happened since', async () => {
    const first = await change(2, attempt(false));
    await change(5);
    const refuse = (): Counted[] => {
      throw new RangeError('refused now');
    };
    const again = handle(store, counter, 'counter-1', refuse, metadata, 7, attempt(true));
    expect(await again).toEqual(first);
    expect(await store.read('counter-1')).toHaveLength(2);
  });

  it('is not known by its key', async () => {
    await change(2);
    await change(2);
    expect(await store.read('counter-1')).toHaveLength(2);
  });

  it('is carried out when no attempt came so far', async () => {
    await change(1, attempt(false, 'another'));
    expect(await change(2, attempt(true))).toMatchObject({ state: { total: 3 }, version: 2 });
  });

  it('has ids of its own for each of its changes of a stream', async () => {
    const [first, second] = [attempt(false), attempt(true)];
    const before = [await change(1, first), await change(2, first)];
    expect([await change(1, second), await change(2, second)]).toEqual(before);
    expect(await store.read('counter-1')).toHaveLength(2);
  });

  it('has the result that is stored when two processes carry it out at the same time', async () => {
    const append = store.append.bind(store);
    const slow = jest.spyOn(store, 'append').mockImplementation(async (stream, version, events, by) => {
      slow.mockRestore();
      await append(stream, version, [{ ...events[0]!, type: 'Counted', data: { by: 9 } }], by);
      return append(stream, version, events, by);
    });
    expect(await change(2, attempt(true))).toMatchObject({
      state: { total: 9 },
      version: 1,
      events: [{ data: { by: 9 } }],
    });
    expect(await change(1)).toMatchObject({ state: { total: 10 }, version: 2 });
  });

  it('is not taken for the command of a consumer that reacts to an event of the same id', async () => {
    await change(2);
    await handle(store, counter, 'counter-1', count(3), { tenant: 'a', causationId: 'key' });
    expect(await store.read('counter-1')).toHaveLength(2);
  });
});
