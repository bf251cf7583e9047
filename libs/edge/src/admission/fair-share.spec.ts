import { array, assert, constantFrom, integer, property, tuple } from 'fast-check';
import { FairShare } from './fair-share';

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
    const wait = (owner: string, name: string) => share.takeSoon(owner, 1, 60_000).then(() => order.push(name));
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
    expect(await share.takeSoon('b', 1, 5)).toBe(false);
    share.give('a');
    expect([share.used, await share.takeSoon('b', 1, 5)]).toEqual([0, true]);
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
});
