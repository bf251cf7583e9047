import type { RunChange } from '../run/run-change';
import { countedBytes, mergedRuns } from './merged-runs';

const time = '2026-01-01T00:00:00.000Z';
const merged = (...changes: readonly RunChange[]) => mergedRuns([{ runs: changes, time }]);

it('the last value of a member wins, and members that are absent stay', () => {
  const [one, two, ...others] = merged(
    { id: 'a', name: 'first', inputs: '1', outputs: undefined },
    { id: 'b', name: 'other' },
    { id: 'a', name: 'second', outputs: '2', inputs: undefined },
  );
  expect(others).toEqual([]);
  expect(one!.change).toMatchObject({ id: 'a', name: 'second', inputs: '1', outputs: '2' });
  expect(two!.change).toMatchObject({ id: 'b', name: 'other' });
});

it('a run without a start began when its first change ended, else with the event', () => {
  const end = '2025-05-05T00:00:00.000Z';
  expect(merged({ id: 'a', end_time: end })[0]!.start).toBe(end);
  expect(merged({ id: 'a' }, { id: 'a', end_time: end })[0]!.start).toBe(time);
});

it('a member is left out until it comes, and again when it is left out later', () => {
  const leftOut = (...changes: readonly RunChange[]) => merged(...changes)[0]!.change.left_out;
  expect(leftOut({ id: 'a', left_out: ['outputs', 'inputs'] })).toEqual(['inputs', 'outputs']);
  expect(leftOut({ id: 'a', left_out: ['outputs'] }, { id: 'a', outputs: '1' })).toBeUndefined();
  expect(leftOut({ id: 'a', outputs: '1' }, { id: 'a', left_out: ['outputs'] })).toEqual(['outputs']);
});

it('tokens and cost stay until another change says them', () => {
  const usage = (total: number) => JSON.stringify({ usage_metadata: { total_tokens: total } });
  expect(merged({ id: 'a', outputs: usage(3) }, { id: 'a', outputs: '{}' })[0]!.usage.total_tokens).toBe(3);
  expect(merged({ id: 'a', outputs: usage(3) }, { id: 'a', outputs: usage(4) })[0]!.usage.total_tokens).toBe(4);
});

it('an attachment takes the place of an earlier one of its name', () => {
  const of = (name: string, sha256: string) => ({ name, sha256, type: 'text/plain', bytes: 1 });
  const changes = [[of('a', '1'), of('b', '2')], [of('a', '3')]].map((attachments) => ({ id: 'r', attachments }));
  expect(merged(...changes)[0]!.change.attachments).toEqual([of('a', '3'), of('b', '2')]);
});

it('the bytes of changes are counted, but not of those that repeat what was known', () => {
  const counted = (differing: readonly string[] | undefined, ...changes: readonly RunChange[]) =>
    countedBytes(merged(...changes)[0]!, differing && new Set(differing));
  const [told, ended] = [
    { id: 'a', name: 'n', inputs: 'x' },
    { id: 'a', outputs: 'yy' },
  ] as const;
  const [one, two] = [counted(undefined, told), counted(undefined, ended)];
  expect(two).toBe(one);
  expect(counted([], told)).toBe(0);
  expect(counted(undefined, told, ended)).toBe(one + two);
  expect(counted(undefined, told, ended, told, ended)).toBe(one + two);
  expect(counted(['outputs'], told, ended)).toBe(two);
  expect(counted(['inputs'], told, ended)).toBe(one);
  expect(counted([], told, { ...told, inputs: 'z' })).toBe(one);
  expect(counted(undefined, told, { ...told, inputs: 'z' }, told)).toBe(3 * one);
});
