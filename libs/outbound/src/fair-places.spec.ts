import { setMaxListeners } from 'node:events';
import fc from 'fast-check';
import { FairPlaces, NoPlace } from './fair-places';

const FOREVER = 2 ** 30;

it('never gives out more places than there are, to all or to one, and gives each away in the end', async () => {
  const property = fc.asyncProperty(
    fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 60 }),
    fc.integer({ min: 1, max: 6 }),
    fc.integer({ min: 1, max: 4 }),
    async (owners, total, perOwner) => {
      const places = new FairPlaces(total, perOwner);
      const inside: string[] = [];
      let done = 0;
      const work = owners.map(async (owner, n) => {
        const leave = await places.take(owner, FOREVER);
        inside.push(owner);
        expect(inside.length).toBeLessThanOrEqual(total);
        expect(inside.filter((one) => one === owner).length).toBeLessThanOrEqual(perOwner);
        for (let turn = 0; turn < n % 4; turn++) await Promise.resolve();
        inside.splice(inside.indexOf(owner), 1);
        leave();
        leave();
        done += 1;
      });
      await Promise.all(work);
      expect(done).toBe(owners.length);
    },
  );
  await fc.assert(property);
});

it('serves owners in turn, however many of one wait', async () => {
  const places = new FairPlaces(1, 1);
  const leave = await places.take('first', FOREVER);
  const order: string[] = [];
  const waits = ['a', 'a', 'a', 'a', 'b', 'c'].map(async (owner) => {
    const done = await places.take(owner, FOREVER);
    order.push(owner);
    done();
  });
  leave();
  await Promise.all(waits);
  expect(order.slice(0, 3)).toEqual(['a', 'b', 'c']);
});

it('refuses a wait that is too long, or that is aborted, and forgets it', async () => {
  const places = new FairPlaces(1, 1);
  const leave = await places.take('a', FOREVER);
  await expect(places.take('a', 1)).rejects.toThrow(NoPlace);
  const aborting = new AbortController();
  setMaxListeners(0, aborting.signal);
  const waiting = places.take('a', FOREVER, aborting.signal);
  aborting.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  leave();
  (await places.take('a', FOREVER))();
});

it('bounds the queue of an owner', async () => {
  const places = new FairPlaces(1, 1);
  await places.take('a', FOREVER);
  const aborting = new AbortController();
  setMaxListeners(0, aborting.signal);
  const waiting = Array.from({ length: 1000 }, () => places.take('a', FOREVER, aborting.signal));
  await expect(places.take('a', FOREVER)).rejects.toThrow(NoPlace);
  aborting.abort();
  await Promise.allSettled(waiting);
});
