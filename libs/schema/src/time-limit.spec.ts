import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { TimeLimit, withTimeLimit } from './time-limit';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Does nothing until the signal aborts, with short waits between which nothing refers to the signal but this. */
async function poll(signal: AbortSignal): Promise<never> {
  for (;;) await delay(20, undefined, { signal });
}

const unless = new AbortController();

const LIMITS = [
  ['alone', () => withTimeLimit(1000, [], poll)],
  ['beside another signal', () => withTimeLimit(1000, [unless.signal], poll)],
  ['in a combination of signals', () => poll(AbortSignal.any([unless.signal, new TimeLimit(1000).signal]))],
  [
    'through several combinations',
    () => withTimeLimit(1000, [unless.signal], (signal) => poll(AbortSignal.any([signal, unless.signal]))),
  ],
  ['within a longer limit', () => withTimeLimit(200_000, [new TimeLimit(1000).signal], poll)],
] as const;

describe('a limit, while garbage is collected again and again', () => {
  let collecting: NodeJS.Timeout;
  let begun: Promise<unknown>[];
  beforeAll(() => {
    collecting = setInterval(collectGarbage, 50);
    begun = LIMITS.map(([, begin]) => begin().catch((error: unknown) => error));
  });
  afterAll(() => clearInterval(collecting));

  it.each(LIMITS.map(([how], nth) => [how, nth] as const))('passes: %s', async (_, nth) => {
    expect(await begun[nth]).toMatchObject({ name: 'AbortError', cause: { name: 'TimeoutError' } });
  });
});

it('the reason of another signal is kept, and the time has not passed', async () => {
  const stop = new AbortController();
  const limit = new TimeLimit(200_000, stop.signal);
  stop.abort(new Error('enough'));
  expect(limit.signal.reason).toEqual(new Error('enough'));
  expect(limit.hasPassed).toBe(false);
  limit.end();
});

it('a limit ends with the work, and fits a timer', async () => {
  const seen: AbortSignal[] = [];
  await withTimeLimit(20, [], async (signal) => void seen.push(signal));
  await expect(withTimeLimit(Number.MAX_SAFE_INTEGER, [], async () => delay(50, 'done'))).resolves.toBe('done');
  expect(seen[0]?.aborted).toBe(false);
});
