import { bisect, numberIn, numbersIn, runsAs } from './bisect';

const revision = (number: number, status = 'DEPLOYED') => ({ id: `r${number}`, number, status });
const newestFirst = (count: number) => Array.from({ length: count }, (_, n) => revision(count - n));
const numbers = (list: readonly { number: number }[]) => list.map(({ number }) => number);

it('tries the one in the middle until the first bad one is alone', () => {
  const all = newestFirst(16);
  const isBad = ({ number }: { number: number }) => number >= 11;
  let [good, bad] = [2, 16];
  const tries: number[] = [];
  for (let found = bisect(all, good, bad, []); found?.next; found = bisect(all, good, bad, [])) {
    tries.push(found.next.number);
    expect(found.steps).toBeLessThanOrEqual(4);
    if (isBad(found.next)) bad = found.next.number;
    else good = found.next.number;
  }
  expect(tries.length).toBeLessThanOrEqual(4);
  expect(numbers(bisect(all, good, bad, [])!.suspects)).toEqual([11]);
});

it('leaves out what never ran, and suspects what was skipped', () => {
  const all = [revision(5), revision(4), revision(3, 'BUILD_FAILED'), revision(2), revision(1)];
  expect(numbers(bisect(all, 1, 5, [])!.open)).toEqual([2, 4]);
  const skipped = bisect(all, 2, 5, [4])!;
  expect([skipped.next, numbers(skipped.suspects), skipped.steps]).toEqual([undefined, [4, 5], 0]);
});

it('finds nothing without a good revision that is older than the bad one', () => {
  const all = newestFirst(3);
  for (const [good, bad] of [
    [3, 1],
    [2, 2],
    [undefined, 3],
    [1, 9],
  ] as const) {
    expect(bisect(all, good, bad, [])).toBeUndefined();
  }
});

it('reads the numbers of an address', () => {
  expect([numberIn('v12'), numberIn('7'), numberIn('x'), numberIn(undefined)]).toEqual([12, 7, undefined, undefined]);
  expect(numbersIn('v3,v5,,x')).toEqual([3, 5]);
});

it('knows a revision that was deployed again as another one', () => {
  const live = { id: 'r9', redeployed_from: 'r4', status: 'DEPLOYED' };
  expect([runsAs(live, { id: 'r4' }), runsAs(live, { id: 'r9' }), runsAs(live, { id: 'r5' })]).toEqual([
    true,
    true,
    false,
  ]);
  expect(runsAs({ ...live, status: 'BUILDING' }, { id: 'r4' })).toBe(false);
});
