import { setImmediate as turn } from 'node:timers/promises';
import { inTurns } from './turns';

it('At most so many are worked on at a time, and each once', async () => {
  const done: number[] = [];
  let [running, most] = [0, 0];
  await inTurns([1, 2, 3, 4, 5], 2, async (item) => {
    most = Math.max(most, ++running);
    await turn();
    running--;
    done.push(item);
  });
  expect(done).toEqual([1, 2, 3, 4, 5]);
  expect(most).toBe(2);
});

it('After a failure nothing further is begun', async () => {
  const begun: number[] = [];
  const work = async (item: number) => {
    begun.push(item);
    await turn();
    if (item === 2) throw new Error('no');
  };
  await expect(inTurns([1, 2, 3, 4, 5, 6], 2, work)).rejects.toThrow('no');
  await turn();
  expect(begun).toEqual([1, 2, 3]);
});
