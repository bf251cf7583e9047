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
    expect([inFlight.isSpentBy('a'), inFlight.isSpentBy('b')]).toEqual([true, false]);
  });

  it('are refused while there is a standing queue, beyond what is finished in 0.4 seconds', () => {
    const inFlight = new InFlight({ total: 450, perKey: 450 });
    enter(inFlight, 400, 0);
    // 400 a second leave, and as many ask to come.
    for (let now = 5; now <= 4000; now += 5) {
      leave(inFlight, 2);
      enter(inFlight, 2, now);
    }
    expect(inFlight.count).toBeGreaterThan(150);
    expect(inFlight.count).toBeLessThan(170);
  });

  it('take no refusal of one that was let in for something finished', () => {
    const inFlight = new InFlight({ total: 450, perKey: 450 });
    enter(inFlight, 400, 0);
    for (let now = 5; now <= 4000; now += 5) {
      leave(inFlight, 2);
      enter(inFlight, 2, now);
      for (let refused = 0; refused < 10 && inFlight.enter(now); refused++) inFlight.leave(undefined, true);
    }
    expect(inFlight.count).toBeLessThan(170);
  });

  it('leave room for others while one key brings a standing queue', () => {
    const inFlight = new InFlight({ total: 400, perKey: 200 });
    const enterAll = (key: string, now: number) => {
      while (!inFlight.isOverloadedBy(key) && inFlight.enter(now)) inFlight.enterKey(key);
    };
    for (let now = 0; now <= 4000; now += 5) {
      enterAll('greedy', now);
      inFlight.leave('greedy');
      inFlight.leave('greedy');
    }
    expect(inFlight.countOf('greedy')).toBeLessThan(130);
    expect([inFlight.enter(4000), inFlight.enterKey('modest')]).toEqual([true, true]);
  });

  it('of one workspace close nothing for others when less can be done than was let in before', () => {
    const inFlight = new InFlight({ total: 64, perKey: 64 });
    const enterAll = (key: string, now: number) => {
      while (!inFlight.isOverloadedBy(key) && inFlight.enter(now)) inFlight.enterKey(key);
    };
    enterAll('greedy', 0);
    expect(inFlight.countOf('greedy')).toBe(48);
    for (let now = 0; now <= 2000; now += 100) {
      expect(inFlight.isFull(now)).toBe(false);
      enterAll('greedy', now);
      expect([inFlight.enter(now), inFlight.enterKey('modest')]).toEqual([true, true]);
      inFlight.leave('modest');
    }
    // Nothing of it was finished, and nothing more of it let in.
    expect([inFlight.countOf('greedy'), inFlight.isOverloadedBy('greedy')]).toEqual([48, true]);
  });

  it('may come in a burst that is soon done', () => {
    const inFlight = new InFlight({ total: 800, perKey: 800 });
    for (let now = 0; now < 10_000; now += 100) {
      expect(enter(inFlight, 700, now)).toBe(700);
      leave(inFlight, 700);
    }
  });

  it('are always let in up to a quarter of the capacity, of a single key too', () => {
    const inFlight = new InFlight({ total: 80, perKey: 40 });
    enter(inFlight, 80, 0);
    enter(inFlight, 1, 600);
    enter(inFlight, 1, 1200);
    leave(inFlight, 75);
    expect(enter(inFlight, 80, 1201)).toBe(22);
    const enterKey = (key: string) => Array.from({ length: 80 }, () => inFlight.enterKey(key)).filter(Boolean).length;
    expect(enterKey('a')).toBe(20);
    expect(enterKey('b')).toBeGreaterThan(0);
  });

  it('are counted for each workspace by itself, however many keys it has', () => {
    const inFlight = new InFlight({ total: 100, perKey: 10 });
    const enterAll = (workspace: string) => {
      let count = 0;
      while (inFlight.enter(0) && inFlight.enterKey(`${workspace} ${count % 20}`, workspace)) count++;
      return count;
    };
    expect([enterAll('greedy'), enterAll('modest')]).toEqual([75, 19]);
    inFlight.leave('greedy 0', false, 'greedy');
    expect(inFlight.isOverloadedBy('greedy 0', 'greedy')).toBe(true);
    expect(inFlight.isOverloadedBy('third 0', 'third')).toBe(false);
  });
});
