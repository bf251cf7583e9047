import type { Recorded } from '../core/event';
import { LogTail } from './log-tail';

it('reads what many appends of other processes leave behind in few reads, and misses none', async () => {
  const log: Recorded[] = [];
  let reads = 0;
  const tail = new LogTail(
    async () => 0n,
    async (position) => {
      reads++;
      return readAll(log, position);
    },
  );
  await tail.extend();
  reads = 0;
  for (let n = 1; n <= 200; n++) {
    log.push(event(n));
    tail.hear(BigInt(n));
    await new Promise(setImmediate);
  }
  const { signal } = new AbortController();
  for (let position = 0n; position < 200n;) {
    const { count } = tail;
    const batch = tail.after(position, 1000, {})!;
    if (batch.position === position) await tail.wait(position, signal, 10_000, count);
    position = batch.position;
  }
  expect(tail.after(0n, 1000, {})!.events).toEqual(log);
  expect(reads).toBeLessThan(20);
});

it('reads at once what this process has appended, also while it is between reads for others', async () => {
  const log: Recorded[] = [];
  const tail = new LogTail(
    async () => 0n,
    async (position) => readAll(log, position),
  );
  await tail.extend();
  log.push(event(1));
  tail.hear(1n);
  log.push(event(2), event(3));
  await tail.extend(3n);
  expect(tail.after(0n, 1000, {})!.events).toEqual(log);
});

it('reads on at once when a read that nobody announced did not reach the end of the log', async () => {
  const log = Array.from({ length: 100 }, (_, n) => event(n + 1));
  const tail = new LogTail(
    async () => 0n,
    async (position) => {
      const events = log.slice(Number(position), Number(position) + 16);
      return { events, position: position + BigInt(events.length), head: 100n };
    },
  );
  await tail.extend();
  expect(tail.after(0n, 1000, {})!.events).toEqual(log);
});

function readAll(log: readonly Recorded[], position: bigint) {
  const head = BigInt(log.length);
  return { events: log.slice(Number(position)), position: head, head };
}

function event(n: number): Recorded {
  const metadata = { tenant: 'a', actor: 'b', requestId: 'c' };
  const time = '2026-01-01T00:00:00.000Z';
  return { id: String(n), stream: 'tests-1', version: n, position: BigInt(n), time, type: 'Noted', data: {}, metadata };
}
