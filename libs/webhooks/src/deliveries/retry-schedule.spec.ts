import { type Attempt, judge, retryAfter } from './retry-schedule';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const failed: Attempt = { at: 0, latency: 0, status: 500, response: '', error: 'It failed.', retryAfter: 0 };

/** When a delivery is tried that always fails, in seconds since the first time. */
function triedAt(random: number, wait = 0): number[] {
  const times: number[] = [];
  for (let at: number | undefined = 0; at !== undefined;) {
    times.push(Math.round(at / 1000));
    const outcome = judge({ ...failed, at, retryAfter: wait }, { count: times.length, startedAt: 0 }, random);
    at = outcome.status === 'pending' ? outcome.dueAt : undefined;
  }
  return times;
}

it('tries for a day, with growing pauses', () => {
  expect(triedAt(0.5)).toEqual([0, 5, 305, 2105, 9305, 27_305, 63_305, 86_400]);
});

it('spreads what failed together', () => {
  expect(triedAt(0).slice(0, 4)).toEqual([0, 5, 275, 1895]);
  expect(triedAt(0.999).slice(0, 4)).toEqual([0, 5, 335, 2315]);
});

it('obeys Retry-After to the end of the day', () => {
  expect(triedAt(0.5, 6 * HOUR)).toEqual([0, 21_600, 43_200, 64_800, 86_400]);
  expect(triedAt(0.5, 48 * HOUR)).toEqual([0, 86_400]);
});

it('counts the pause from the end of an attempt', () => {
  const slow = { ...failed, latency: 15_000, status: null };
  expect(judge(slow, { count: 1, startedAt: 0 }, 0.5)).toEqual({ status: 'pending', gone: false, dueAt: 20_000 });
});

it('is done with a success, with 410, and with the last failure', () => {
  const tries = { count: 3, startedAt: 0 };
  expect(judge({ ...failed, status: 204, error: null }, tries, 0)).toEqual({ status: 'delivered', gone: false });
  expect(judge({ ...failed, status: 410 }, tries, 0)).toEqual({ status: 'failed', gone: true });
  expect(judge({ ...failed, at: DAY }, tries, 0)).toEqual({ status: 'failed', gone: false });
});

it.each([
  [null, 0],
  ['120', 120_000],
  ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
  ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
  ['-5', 0],
  ['soon', 0],
])('reads Retry-After %j as %d ms', (header, ms) => {
  expect(retryAfter(header, Date.parse('2026-01-01T00:00:00Z'))).toBe(ms);
});
