import { setMaxListeners } from 'node:events';
import { array, assert, asyncProperty, constantFrom, integer, property, tuple } from 'fast-check';
import { FairShare, NoPlace } from './fair-share';

function takeAll(share: FairShare, owner: string): number {
  let count = 0;
  while (share.take(owner)) count++;
  return count;
}

describe('A fair share', () => {
  it('leaves a quarter to others, of which the next leaves a part again', () => {
    const share = new FairShare(512);
    expect(['a', 'b', 'c', 'd'].map((owner) => takeAll(share, owner))).toEqual([384, 96, 24, 6]);
    expect(takeAll(share, 'a')).toBe(0);
  });

  it('is the whole of something very small', () => {
    expect([1, 2, 3].map((total) => takeAll(new FairShare(total), 'a'))).toEqual([1, 2, 3]);
  });

  it('lets in who uses little while another takes whatever becomes free', () => {
    const share = new FairShare(100);
    takeAll(share, 'greedy');
    for (let n = 0; n < 1000; n++) {
      expect(share.take('modest')).toBe(true);
      share.give('greedy');
      takeAll(share, 'greedy');
      share.give('modest');
      takeAll(share, 'greedy');
    }
  });

  it('goes first to the waiting owner that holds least, in the order of asking', async () => {
    const share = new FairShare(4);
    expect([takeAll(share, 'a'), takeAll(share, 'b')]).toEqual([3, 1]);
    const order: string[] = [];
    const wait = (owner: string, name: string) => share.wait(owner).then(() => order.push(name));
    const all = [wait('a', 'a1'), wait('b', 'b1'), wait('c', 'c1'), wait('c', 'c2')];
    for (const owner of ['a', 'a', 'a', 'b']) share.give(owner);
    await Promise.all(all);
    expect(order[0]).toBe('c1');
    expect(order.indexOf('c1')).toBeLessThan(order.indexOf('c2'));
    expect(share.used).toBe(4);
  });

  it('is not waited for beyond the patience, and nothing is lost of it then', async () => {
    const share = new FairShare(1);
    share.take('a');
    await expect(share.wait('b', { patience: 1 })).rejects.toThrow(NoPlace);
    const aborting = new AbortController();
    const waiting = share.wait('b', { signal: aborting.signal });
    aborting.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(share.wait('b', { signal: aborting.signal })).rejects.toThrow('enough');
    share.give('a');
    expect([share.used, share.waiting]).toEqual([0, 0]);
    (await share.wait('b'))();
    expect(share.used).toBe(0);
  });

  it('is never exceeded, and whoever holds nothing gets something while anything is free', () => {
    const steps = array(tuple(constantFrom('a', 'b', 'c', 'd'), integer({ min: -20, max: 20 })), { maxLength: 200 });
    assert(
      property(integer({ min: 1, max: 100 }), steps, (total, all) => {
        const share = new FairShare(total);
        for (const [owner, amount] of all) {
          if (amount > 0) share.take(owner, amount);
          else share.give(owner, Math.min(-amount, share.of(owner)));
          expect(share.used).toBe(['a', 'b', 'c', 'd'].reduce((sum, name) => sum + share.of(name), 0));
          expect(share.used).toBeLessThanOrEqual(total);
          expect(share.allows('new')).toBe(share.used < total);
        }
      }),
    );
  });

  it('serves owners in turn, however many requests of one wait', async () => {
    const share = new FairShare(1, { perOwner: 1 });
    const leave = await share.wait('first');
    const order: string[] = [];
    const waits = ['a', 'a', 'a', 'a', 'b', 'c'].map(async (owner) => {
      const done = await share.wait(owner);
      order.push(owner);
      done();
    });
    leave();
    await Promise.all(waits);
    expect(order).toEqual(['a', 'b', 'c', 'a', 'a', 'a']);
  });

  it('bounds the queue of an owner and of all, but for requests that have begun', async () => {
    const share = new FairShare(1, { waiting: 10, waitingTogether: 15 });
    await share.wait('a');
    const aborting = new AbortController();
    const { signal } = aborting;
    setMaxListeners(0, signal);
    const waiting = Array.from({ length: 10 }, () => share.wait('a', { signal }));
    await expect(share.wait('a', { signal })).rejects.toThrow(NoPlace);
    waiting.push(...Array.from({ length: 5 }, () => share.wait('b', { signal })));
    await expect(share.wait('c', { signal })).rejects.toThrow(NoPlace);
    waiting.push(share.wait('a', { signal, hasBegun: true }));
    expect(share.waiting).toBe(16);
    aborting.abort();
    await Promise.allSettled(waiting);
    expect(share.waiting).toBe(0);
  });

  it('serves the next request of an owner when a larger one gives up', async () => {
    const share = new FairShare(10, { perOwner: 10 });
    share.take('a', 8);
    const large = share.wait('b', { amount: 5, patience: 1 });
    const small = share.wait('b', { amount: 1 });
    await expect(large).rejects.toThrow(NoPlace);
    await small;
    expect(share.used).toBe(9);
  });

  it('never gives out more than there is, to all or to one, and serves each request in the end', async () => {
    const owners = array(constantFrom('a', 'b', 'c'), { maxLength: 60 });
    await assert(
      asyncProperty(owners, integer({ min: 1, max: 6 }), integer({ min: 1, max: 4 }), async (all, total, perOwner) => {
        const share = new FairShare(total, { perOwner });
        const inside: string[] = [];
        let done = 0;
        const work = all.map(async (owner, n) => {
          const leave = await share.wait(owner);
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
        expect([done, share.used, share.waiting]).toEqual([all.length, 0, 0]);
      }),
    );
  });
});
