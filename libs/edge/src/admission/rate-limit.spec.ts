import { RateLimit } from './rate-limit';

describe('A rate limit', () => {
  const start = 1_000_000;
  const taking = (limit: RateLimit, name: string, now: number) => !limit.exceeds(limit.take(name, now));

  it('gives a quota at once and then evenly over the window', () => {
    const limit = new RateLimit('key', { requests: 3, seconds: 6 });
    expect([0, 0, 0, 0].map((after) => taking(limit, 'a', start + after))).toEqual([true, true, true, false]);
    expect([1_999, 2_000, 2_001].map((after) => taking(limit, 'a', start + after))).toEqual([true, false, false]);
    expect([0, 1, 2, 3].map(() => taking(limit, 'a', start + 60_000))).toEqual([true, true, true, false]);
  });

  it('keeps names apart', () => {
    const limit = new RateLimit('key', { requests: 1, seconds: 60 });
    expect([taking(limit, 'a', start), taking(limit, 'b', start), taking(limit, 'a', start)]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('tells the policy, what is left, and when to come again', () => {
    const limit = new RateLimit('key', { requests: 10, seconds: 60 });
    expect(limit.policy).toBe('"key";q=10;w=60');
    expect(limit.state(limit.take('a', start))).toBe('"key";r=9;t=6');
    for (let n = 0; n < 9; n++) limit.take('a', start);
    const refused = limit.take('a', start);
    expect([limit.state(refused), limit.retryAfter(refused)]).toEqual(['"key";r=0;t=60', 6]);
  });

  it('counts a request that comes to it after others that began later as one of now', () => {
    const limit = new RateLimit('key', { requests: 10, seconds: 1 });
    expect(taking(limit, 'a', start + 5_000)).toBe(true);
    expect(limit.exceeds(limit.look('a', start))).toBe(false);
    expect([taking(limit, 'a', start), taking(limit, 'a', start)]).toEqual([true, true]);
    for (let n = 3; n < 10; n++) limit.take('a', start);
    expect(taking(limit, 'a', start)).toBe(false);
  });

  it('looks without taking', () => {
    const limit = new RateLimit('key', { requests: 1, seconds: 1 });
    expect([limit.look('a', start), limit.look('a', start)].map((spent) => limit.exceeds(spent))).toEqual([
      false,
      false,
    ]);
  });

  it('still remembers over the turn of its two halves', () => {
    const limit = new RateLimit('key', { requests: 2, seconds: 10 });
    limit.take('a', start);
    limit.take('a', start + 4_000);
    expect(taking(limit, 'b', start + 10_500)).toBe(true);
    expect([taking(limit, 'a', start + 10_500), taking(limit, 'a', start + 10_500)]).toEqual([true, true]);
    expect(taking(limit, 'a', start + 10_600)).toBe(false);
  });

  it('remembers a bounded number of names, however many come', () => {
    const limit = new RateLimit('address', { requests: 1, seconds: 3600 }, 1000);
    for (let n = 0; n < 100_000; n++) limit.take(`10.0.${n}`, start);
    const remembered = Array.from({ length: 100_000 }, (_, n) => limit.look(`10.0.${n}`, start)).filter((spent) =>
      limit.exceeds(spent),
    );
    expect(remembered.length).toBeLessThanOrEqual(2000);
    expect(taking(limit, '10.0.99999', start)).toBe(false);
  });
});
