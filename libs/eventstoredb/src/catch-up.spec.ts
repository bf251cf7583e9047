import type { Batch } from '@fairlead/eventing';
import { EventStoreDbStore } from '.';
import { EventStoreDbCatchUp } from './catch-up';
import { EventStoreDbDouble } from './testing';

const FOLLOWERS = 24;

describe('Followers of a process that are behind a log in EventStoreDB (double)', () => {
  const EVENTS = 6000;
  let double: EventStoreDbDouble;
  let store: EventStoreDbStore;
  let ending: AbortController;
  beforeEach(async () => {
    double = await EventStoreDbDouble.start();
    store = new EventStoreDbStore(double.url, { limits: { attempt: 20_000, total: 60_000 } });
    ending = new AbortController();
    for (let stream = 0; stream < EVENTS / 100; stream++) {
      const events = Array.from({ length: 100 }, () => ({ type: 'Happened', data: {} }));
      await store.append(`${stream % 2 ? 'odd' : 'even'}-${stream}`, 0, events, {});
    }
    double.sent = 0;
  });
  afterEach(async () => {
    ending.abort();
    await store.close();
    await double.stop();
  });

  /** Reads until it has had every event of its category; `pause` is waited for after each batch. */
  async function follow(category: string | undefined, pause: () => Promise<unknown> = () => Promise.resolve()) {
    const heard: bigint[] = [];
    const filter = category === undefined ? {} : { categories: [category] };
    const expected = category === undefined ? EVENTS : EVENTS / 2;
    for await (const { events } of store.subscribe(0n, ending.signal, filter)) {
      heard.push(...events.map(({ position }) => position));
      if (heard.length >= expected) break;
      await pause();
    }
    return heard;
  }

  it('are sent each event once for all of them, in order and without a gap', async () => {
    const followers = Array.from({ length: FOLLOWERS }, (_, n) => follow([undefined, 'odd', 'even'][n % 3]));
    for (const [n, heard] of (await Promise.all(followers)).entries()) {
      expect(heard).toHaveLength(n % 3 === 0 ? EVENTS : EVENTS / 2);
      expect(heard).toEqual([...new Set(heard)].sort((a, b) => (a < b ? -1 : 1)));
    }
    // The first event of each batch is sent with the batch before it as well.
    expect(double.sent).toBeLessThan(EVENTS * 1.1);
  });

  it('go on without one that does not, for which the events are sent once more', async () => {
    const others: Promise<unknown>[] = [];
    const slow = follow(undefined, () => Promise.all(others));
    for (let n = 1; n < FOLLOWERS; n++) others.push(follow(undefined));
    await Promise.all(others);
    expect(await slow).toHaveLength(EVENTS);
    expect(double.sent).toBeLessThanOrEqual(EVENTS * 2);
  });
});

describe('A shared reading', () => {
  const END = 100n;
  let reads: bigint[];
  const read = async (position: bigint): Promise<Batch> => {
    reads.push(position);
    return { events: [], position: position < END ? position + 1n : position };
  };
  beforeEach(() => (reads = []));
  const shared = () => new EventStoreDbCatchUp(read, { together: 20, behind: 20 });

  async function all(readings: EventStoreDbCatchUp, from: bigint, pause = async () => undefined as void) {
    const positions: bigint[] = [];
    for await (const { position } of readings.from(from, new AbortController().signal)) {
      positions.push(position);
      await pause();
    }
    return positions;
  }
  const range = (from: bigint) => Array.from({ length: Number(END - from) }, (_, n) => from + 1n + BigInt(n));

  it('gives readers who began at different places all that comes after theirs', async () => {
    const readings = shared();
    const starts = [50n, 0n, 99n, 20n, 100n, 7n];
    const heard = await Promise.all(starts.map((start) => all(readings, start)));
    expect(heard).toEqual(starts.map(range));
  });

  it('ends for everybody whatever the others do: slow ones, ones that leave in the middle', async () => {
    const readings = shared();
    const later = () => new Promise<void>((resolve) => setImmediate(resolve));
    const leaving = (async () => {
      for await (const { position } of readings.from(3n, new AbortController().signal)) if (position > 30n) return;
    })();
    const heard = await Promise.all([all(readings, 0n, later), all(readings, 0n), all(readings, 10n, later), leaving]);
    expect(heard.slice(0, 3)).toEqual([range(0n), range(0n), range(10n)]);
  });

  it('is told to the reader whose reading of the log failed, and begins again for the next', async () => {
    let fails = true;
    const readings = new EventStoreDbCatchUp((position) =>
      fails ? Promise.reject(new Error('away')) : read(position),
    );
    await expect(all(readings, 0n)).rejects.toThrow('away');
    fails = false;
    expect(await all(readings, 0n)).toEqual(range(0n));
  });
});
