import { Lookup } from './lookup';

const rows = (...ids: string[]) => ids.map((id) => ({ id, version: 1 }));

it('asks for all ids wanted meanwhile in one query, one query at a time', async () => {
  const asked: string[][] = [];
  let running = 0;
  const lookup = new Lookup(async (ids) => {
    asked.push(ids);
    expect(++running).toBe(1);
    await Promise.resolve();
    running--;
    return rows(...ids.filter((id) => id !== 'unknown'));
  });
  const wanted = ['a', 'b', 'unknown', 'a'];
  expect(await Promise.all(wanted.map((id) => lookup.get(id)))).toEqual([...rows('a', 'b'), undefined, ...rows('a')]);
  expect(asked).toEqual([['a', 'b', 'unknown']]);
});

it('asks neither for known nor for unknown ids again soon', async () => {
  const load = jest.fn((ids: string[]) => Promise.resolve(rows(...ids.filter((id) => id === 'a'))));
  const lookup = new Lookup(load);
  for (let n = 0; n < 5; n++) expect([await lookup.get('a'), await lookup.get('b')]).toEqual([...rows('a'), undefined]);
  expect(load).toHaveBeenCalledTimes(2);
});

it('does not return to an older row than the one put', async () => {
  const asked: (() => void)[] = [];
  const lookup = new Lookup(async () => {
    await new Promise<void>((resolve) => asked.push(resolve));
    return [{ id: 'a', version: 1 }];
  });
  const found = lookup.get('a');
  while (asked.length === 0) await Promise.resolve();
  lookup.put({ id: 'a', version: 2 });
  asked[0]!();
  expect(await found).toEqual({ id: 'a', version: 2 });
  expect(await lookup.get('a')).toEqual({ id: 'a', version: 2 });
});

it('goes on after a query that failed', async () => {
  const load = jest.fn().mockRejectedValueOnce(new Error('away')).mockResolvedValue(rows('a'));
  const lookup = new Lookup<{ id: string; version: number }>(load);
  await expect(lookup.get('a')).rejects.toThrow('away');
  expect(await lookup.get('a')).toEqual({ id: 'a', version: 1 });
});

it('keeps a bounded number of ids', async () => {
  const load = jest.fn((ids: string[]) => Promise.resolve(rows(...ids)));
  const lookup = new Lookup(load);
  for (let n = 0; n <= 10_000; n++) lookup.put({ id: String(n), version: 1 });
  await lookup.get('10000');
  expect(load).not.toHaveBeenCalled();
  await lookup.get('0');
  expect(load).toHaveBeenCalledWith(['0']);
});
