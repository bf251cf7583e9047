import type { Recorded } from '../core/event';
import { KeptEvents } from './kept-events';

const event = (position: number, data: object = {}) => ({ position: BigInt(position), data }) as Recorded;
const positions = (events: readonly Recorded[]) => events.map(({ position }) => Number(position));

it('drops the older half when there are too many events', () => {
  const kept = new KeptEvents({ events: 4, bytes: 1_000_000 });
  expect(kept.add([1, 2, 3, 4].map((n) => event(n)))).toEqual([]);
  expect(positions(kept.add([event(5)]))).toEqual([1, 2, 3]);
  expect(positions(kept.all)).toEqual([4, 5]);
});

it('drops as many as it must when they are large', () => {
  const kept = new KeptEvents({ events: 1000, bytes: 10_000 });
  for (let n = 1; n <= 9; n++) expect(kept.add([event(n, { text: 'x'.repeat(1000) })])).toEqual([]);
  expect(positions(kept.add([event(10, { text: 'x'.repeat(1000) })]))).toEqual([1, 2, 3, 4, 5, 6]);
  expect(positions(kept.all)).toEqual([7, 8, 9, 10]);
  expect(positions(kept.add([event(11, { text: 'x'.repeat(20_000) })]))).toEqual([7, 8, 9, 10, 11]);
  expect(kept.all).toEqual([]);
  kept.add([event(12)]);
  expect(positions(kept.all)).toEqual([12]);
});
