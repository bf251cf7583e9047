import { v7 as uuid } from 'uuid';
import { AppendTooLarge } from '../postgres/append-limit';
import type { Recorded } from '../core/event';
import { type EventStore, VersionConflict } from '../core/event-store';

/** Events after `position` until `count` have come, or the log's end when no count is given. */
export async function take(
  store: EventStore,
  position: bigint,
  count: number,
  categories?: readonly string[],
): Promise<Recorded[]> {
  const stop = new AbortController();
  const events: Recorded[] = [];
  for await (const batch of store.subscribe(position, stop.signal, { categories })) {
    events.push(...batch.events);
    if (events.length >= count) stop.abort();
  }
  return events;
}

const noted = (text: string) => ({ type: 'Noted', data: { text } });

/**
 * Tests the contract of every event store. `make` gives an empty or shared store; the suite uses streams of its own.
 */
export function storeContract(name: string, make: () => EventStore | Promise<EventStore>): void {
  describe(`${name} as an event store`, () => {
    let store: EventStore;
    let stream: string;
    beforeAll(async () => (store = await make()));
    beforeEach(() => (stream = `note-${uuid()}`));

    it('gives back what was appended, in order, with version, metadata and time', async () => {
      const appended = await store.append(stream, 0, [noted('a'), noted('b')], { tenant: 't', actor: 'k' });
      expect(appended.version).toBe(2);
      const events = await store.read(stream);
      expect(events.map(({ type, data, version }) => ({ type, data, version }))).toEqual([
        { ...noted('a'), version: 1 },
        { ...noted('b'), version: 2 },
      ]);
      expect(events[1]).toMatchObject({ stream, position: appended.position, metadata: { tenant: 't', actor: 'k' } });
      expect(events[1]!.time).toBe(appended.time);
      expect(events[0]!.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    });

    it('gives the events after a version', async () => {
      await store.append(stream, 0, [noted('a'), noted('b'), noted('c')], {});
      expect((await store.read(stream, 2)).map(({ version }) => version)).toEqual([3]);
      expect(await store.read(stream, 3)).toEqual([]);
    });

    it('gives the newest events of a stream, oldest first', async () => {
      await store.append(stream, 0, [noted('a'), noted('b'), noted('c')], { tenant: 't' });
      const latest = await store.latest(stream, 2);
      expect(latest).toEqual((await store.read(stream)).slice(1));
      expect((await store.latest(stream, 9)).map(({ version }) => version)).toEqual([1, 2, 3]);
      expect(await store.latest(`${stream}-none`, 1)).toEqual([]);
    });

    it('gives the events of a stream in parts, in order and without a gap', async () => {
      for (let n = 0; n < 24; n++) await store.append(stream, n, [noted(`${n} ${'x'.repeat(900_000)}`)], {});
      for (let n = 24; n < 24 + 300; n += 50) {
        await store.append(
          stream,
          n,
          Array.from({ length: 50 }, (_, more) => noted(`${n + more} `)),
          {},
        );
      }
      for (const after of [0, 23, 324]) {
        const numbers: number[] = [];
        for await (const events of store.parts(stream, after)) {
          expect(events.length).toBeGreaterThan(0);
          numbers.push(...events.map(({ data }) => parseInt((data as { text: string }).text, 10)));
        }
        expect(numbers).toEqual(Array.from({ length: 324 - after }, (_, n) => n + after));
      }
      for await (const events of store.parts(`${stream}-none`)) expect(events).toEqual([]);
    });

    it('refuses an append that is larger than any store takes, and one of nothing', async () => {
      const large = store.append(stream, 0, [noted('x'.repeat(600_000)), noted('y'.repeat(600_000))], {});
      await expect(large).rejects.toBeInstanceOf(AppendTooLarge);
      await expect(store.append(stream, 0, [], {})).rejects.toThrow('at least one event');
      expect(await store.read(stream)).toEqual([]);
    });

    it('knows no events of a stream that does not exist', async () => {
      expect(await store.read(stream)).toEqual([]);
    });

    it('refuses an append at another version and says which one the stream is at', async () => {
      await store.append(stream, 0, [noted('a')], {});
      const refused = store.append(stream, 0, [noted('b')], {});
      await expect(refused).rejects.toBeInstanceOf(VersionConflict);
      await expect(refused).rejects.toMatchObject({ stream, expected: 0, actual: 1 });
      await expect(store.append(stream, 5, [noted('b')], {})).rejects.toMatchObject({ expected: 5, actual: 1 });
      expect(await store.read(stream)).toHaveLength(1);
    });

    it('appends at any version when asked to', async () => {
      await store.append(stream, 'any', [noted('a')], {});
      expect(await store.append(stream, 'any', [noted('b')], {})).toMatchObject({ version: 2 });
    });

    it('takes an append that is repeated with the same ids once', async () => {
      const events = [
        { ...noted('a'), id: uuid() },
        { ...noted('b'), id: uuid() },
      ];
      const first = await store.append(stream, 0, events, {});
      await store.append(stream, 2, [noted('c')], {});
      expect(await store.append(stream, 0, events, {})).toEqual(first);
      expect(await store.read(stream)).toHaveLength(3);
    });

    it('lets exactly one of many concurrent appends at one version win', async () => {
      const attempts = await Promise.allSettled(
        Array.from({ length: 20 }, (_, n) => store.append(stream, 0, [noted(String(n))], {})),
      );
      expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await store.read(stream)).toHaveLength(1);
    });

    it('gives each of many appends at the same time a result of its own', async () => {
      await store.append(stream, 0, [noted('before')], {});
      const names = Array.from({ length: 150 }, (_, n) => `${stream}-${n}`);
      const refused = Promise.allSettled(
        [0, 5].map((version) => store.append(stream, version, [noted('at another version')], {})),
      );
      const large = store.append(`${stream}-large`, 0, [noted('x'.repeat(900_000))], {});
      const appended = await Promise.all(names.map((name, n) => store.append(name, 0, [noted(`${n}`)], {})));
      const [late, early] = await refused;
      expect(late).toMatchObject({
        status: 'rejected',
        reason: { name: 'VersionConflict', stream, expected: 0, actual: 1 },
      });
      expect(early).toMatchObject({
        status: 'rejected',
        reason: { name: 'VersionConflict', stream, expected: 5, actual: 1 },
      });
      expect((await large).version).toBe(1);
      for (const [n, { position, version, time }] of appended.entries()) {
        expect(await store.read(names[n]!)).toMatchObject([{ ...noted(`${n}`), position, version, time }]);
      }
      expect(new Set(appended.map(({ position }) => position)).size).toBe(150);
      expect(await store.read(stream)).toHaveLength(1);
    });

    it('keeps any JSON as it is', async () => {
      const text = '\u0000 \ud800 " \\ \u2028 🙂 __proto__';
      const data = { text, deep: [[[{ n: 1.5, big: 9007199254740991, no: null, yes: true }]]], '': '' };
      await store.append(stream, 0, [{ type: 'Noted', data }], { reason: text });
      const [event] = await store.read(stream);
      expect(event!.data).toEqual(data);
      expect(event!.metadata.reason).toBe(text);
    });

    it('subscribes from a position: what there is, then what comes', async () => {
      const before = await store.head();
      await store.append(stream, 0, [noted('a'), noted('b')], {});
      const received = take(store, before, 3);
      await store.append(stream, 2, [noted('c')], {});
      const events = await received;
      expect(events.map(({ data }) => data)).toEqual([{ text: 'a' }, { text: 'b' }, { text: 'c' }]);
      expect(events.map(({ position }) => position)).toEqual([...events.map(({ position }) => position)].sort(byValue));
      expect(await store.head()).toBe(events.at(-1)!.position);
    });

    it('filters by category and still says how far the log has been read', async () => {
      const before = await store.head();
      const other = `other-${uuid()}`;
      await store.append(stream, 0, [noted('a')], {});
      await store.append(other, 0, [noted('b')], {});
      const last = await store.append(stream, 1, [noted('c')], {});
      expect((await take(store, before, 1, ['other'])).map(({ data }) => data)).toEqual([{ text: 'b' }]);
      const stop = new AbortController();
      let reached = before;
      for await (const batch of store.subscribe(before, stop.signal, { categories: ['nothing'] })) {
        expect(batch.events).toEqual([]);
        reached = batch.position;
        if (reached >= last.position) stop.abort();
      }
      expect(reached).toBe(last.position);
    });

    it('reads a log longer than one batch without a gap', async () => {
      const before = await store.head();
      const many = Array.from({ length: 600 }, (_, n) => noted(String(n)));
      for (let n = 0; n < 5; n++) await store.append(stream, n * 600, many, {});
      const events = (await take(store, before, 3000)).filter((event) => event.stream === stream);
      expect(events.map(({ version }) => version)).toEqual(Array.from({ length: 3000 }, (_, n) => n + 1));
    });

    it('ends a subscription when its signal aborts', async () => {
      const stop = new AbortController();
      const ended = (async () => {
        for await (const batch of store.subscribe(await store.head(), stop.signal)) expect(batch).toBeDefined();
      })();
      stop.abort();
      await ended;
    });
  });
}

function byValue(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
