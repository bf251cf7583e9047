import { signTest } from '../compare/comparison';
import { flipTest } from './flip-test';

/** All signs, one after the other. */
function counted(differences: readonly number[]): number {
  const observed = Math.abs(differences.reduce((sum, one) => sum + one, 0));
  let [far, all] = [0, 0];
  for (let signs = 0; signs < 2 ** differences.length; signs++) {
    const sum = differences.reduce((total, one, place) => total + ((signs >> place) & 1 ? one : -one), 0);
    if (Math.abs(sum) >= observed - 1e-9) far++;
    all++;
  }
  return far / all;
}

describe('The paired permutation test', () => {
  it.each([
    [0, 0],
    [6, 0],
    [8, 2],
    [30, 12],
    [100, 70],
  ])('is the exact sign test for %i better and %i worse by the same amount', (better, worse) => {
    const differences = [...Array<number>(better).fill(0.25), ...Array<number>(worse).fill(-0.25), 0, 0];
    expect(flipTest(differences)).toBeCloseTo(signTest(better, worse), 10);
  });

  it('is what counting all signs gives, whatever the differences', () => {
    for (let round = 0; round < 30; round++) {
      // Steps of an eighth, so that sums are often the same.
      const differences = Array.from({ length: 10 }, () => Math.round((Math.random() - 0.3) * 16) / 8);
      expect([differences, flipTest(differences)]).toEqual([differences, expect.closeTo(counted(differences), 9)]);
      // The order and the unit do not matter.
      expect(flipTest(differences.toReversed().map((one) => -1000 * one))).toBeCloseTo(flipTest(differences), 10);
    }
  });

  it('goes over to the normal distribution without a step', () => {
    const differences = Array.from({ length: 500 }, (_, place) => Math.sin(place * place) + 0.1);
    const further = [...differences, 0.1];
    expect(flipTest(further) / flipTest(differences)).toBeGreaterThan(0.8);
    expect(flipTest(further) / flipTest(differences)).toBeLessThan(1.25);
  });

  it('takes hundreds of thousands of differences', () => {
    const differences = Array.from({ length: 300_000 }, (_, place) => (place % 2 === 0 ? 1 : -1));
    expect(flipTest(differences)).toBeCloseTo(1, 5);
    expect(flipTest(differences.map((difference) => difference + 0.01))).toBeLessThan(1e-6);
  });

  it('takes numbers of any size', () => {
    expect(flipTest(Array<number>(10).fill(1e308))).toBeCloseTo(2 / 2 ** 10, 12);
    expect(flipTest(Array<number>(10).fill(5e-324))).toBeCloseTo(2 / 2 ** 10, 12);
    expect(flipTest([1e300, ...Array<number>(9).fill(1e-300)])).toBe(1);
  });
});
