import { InFlight } from './in-flight';

describe('Requests in flight', () => {
  const enter = (inFlight: InFlight, count: number, now: number) =>
    Array.from({ length: count }, () => inFlight.enter(now)).filter(Boolean).length;
  const leave = (inFlight: InFlight, count: number) => {
    for (let n = 0; n < count; n++) inFlight.leave(undefined);
  };

  it('are let in up to the capacity, and again when one has left', () => {
    const inFlight = new InFlight({ total: 10, perKey: 10 });
    expect(enter(inFlight, 15, 0)).toBe(10);
    leave(inFlight, 3);
    expect([enter(inFlight, 15, 0), inFlight.count]).toEqual([3, 10]);
  });

  it('are counted for each key by itself', () => {
    const inFlight = new InFlight({ total: 10, perKey: 2 });
    enter(inFlight, 4, 0);
    expect(['a', 'a', 'a', 'b'].map((key) => inFlight.enterKey(key))).toEqual([true, true, false, true]);
    inFlight.leave('a');
    expect([inFlight.enterKey('a'), inFlight.enterKey('a')]).toEqual([true, false]);
  });

  it('are refused while there is a standing queue, beyond what is finished in three quarters of a second', () => {
    const inFlight = new InFlight({ total: 800, perKey: 800 });
    enter(inFlight, 400, 0);
    // 200 a second leave, and as many ask to come.
    for (let now = 5; now <= 4000; now += 5) {
      leave(inFlight, 1);
      enter(inFlight, 1, now);
    }
    expect(inFlight.count).toBeGreaterThan(140);
    expect(inFlight.count).toBeLessThan(160);
  });

  it('may come in a burst that is soon done', () => {
    const inFlight = new InFlight({ total: 800, perKey: 800 });
    for (let now = 0; now < 10_000; now += 100) {
      expect(enter(inFlight, 700, now)).toBe(700);
      leave(inFlight, 700);
    }
  });

  it('are always let in up to an eighth of the capacity', () => {
    const inFlight = new InFlight({ total: 80, perKey: 80 });
    enter(inFlight, 80, 0);
    enter(inFlight, 1, 600);
    enter(inFlight, 1, 1200);
    leave(inFlight, 75);
    expect(enter(inFlight, 80, 1201)).toBe(5);
  });
});
