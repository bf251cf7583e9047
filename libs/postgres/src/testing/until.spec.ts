import { until } from '.';

it('returns what it waited for', async () => {
  let looks = 0;
  expect(await until(() => (++looks > 2 ? 'there' : undefined))).toBe('there');
  expect(
    await until(
      () => ++looks,
      (seen) => seen > 5,
    ),
  ).toBe(6);
});

it('says what it waited for and what it saw last when it gives up', async () => {
  const waiting = until(
    () => ['deployment-7'],
    (left) => left.length === 0,
    30,
  );
  await expect(waiting).rejects.toThrow(
    /30 ms for .*deployment-7.*left\.length === 0.*saw last: \[ 'deployment-7' \]/s,
  );
});

it('fails at once when looking fails', async () => {
  await expect(until(() => Promise.reject(new Error('It ended.')))).rejects.toThrow('It ended.');
});
