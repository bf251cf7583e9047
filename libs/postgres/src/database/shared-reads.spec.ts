import { SharedReads } from './shared-reads';

/** A source whose reads end when they are told to, each with what had been written when it began. */
function source() {
  let written = 0;
  const pending: (() => void)[] = [];
  return {
    reads: 0,
    write: () => ++written,
    end: () => pending.shift()!(),
    read() {
      this.reads += 1;
      const seen = written;
      return new Promise<number>((resolve) =>
        pending.push(() => {
          resolve(seen);
        }),
      );
    },
  };
}

it('lets those that wait together share one read, which begins after all of them asked', async () => {
  const from = source();
  const shared = new SharedReads();
  const ask = () => shared.run('page', () => from.read());
  const first = ask();
  const others = [ask(), ask(), ask()];
  from.write();
  const last = ask();
  expect(from.reads).toBe(1);
  from.end();
  expect(await first).toBe(0);
  await new Promise(setImmediate);
  expect(from.reads).toBe(2);
  from.end();
  expect(await Promise.all([...others, last])).toEqual([1, 1, 1, 1]);
});

it('keeps different things apart and reads again once nobody waits', async () => {
  const from = source();
  const shared = new SharedReads();
  const one = shared.run('one', () => from.read());
  const two = shared.run('two', () => from.read());
  expect(from.reads).toBe(2);
  from.end();
  from.end();
  await Promise.all([one, two]);
  from.write();
  const again = shared.run('one', () => from.read());
  from.end();
  expect(await again).toBe(1);
});

it('passes a failure on to those that shared the read, and reads anew for the next', async () => {
  const shared = new SharedReads();
  const first = shared.run('page', () => Promise.reject(new Error('gone')));
  const second = shared.run('page', () => Promise.resolve('there'));
  await expect(first).rejects.toThrow('gone');
  await expect(second).resolves.toBe('there');
});
