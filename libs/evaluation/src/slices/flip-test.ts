import { normalTail } from '../compare/comparison';

/** Values that the distribution of the sum is computed for: differences are rounded to this share of their sum. */
const GRID = 4096;
/** Parts of the least difference that the others are tried as multiples of. */
const MOST_PARTS = 12;
/** More differences than these have a sum that is normal, as far as the fifth decimal of `p`. */
const MOST_EXACT = 500;

/**
 * Tests by a paired permutation test that a candidate and a baseline are alike: under that hypothesis each difference has
 * either sign with probability ½. Returns the two-sided probability of a sum that is at least as far from 0; 1 without any
 * difference. Unlike a bootstrap it is exact for few pairs and far out in the tails, which a correction for many tests needs.
 * For differences of one size it is the exact sign test.
 */
export function flipTest(differences: readonly number[]): number {
  const largest = differences.reduce((most, difference) => Math.max(most, Math.abs(difference)), 0);
  if (largest === 0) return 1;
  const shares = differences.map((difference) => difference / largest).filter((share) => share !== 0);
  if (shares.length > MOST_EXACT) return normalTest(shares);
  const steps = stepsOf(shares);
  const sum = Math.abs(steps.reduce((all, step) => all + step, 0));
  const sizes = steps.map(Math.abs);
  const most = sizes.reduce((all, size) => all + size, 0);
  // Sum of those that are positive: most < GRID + the number of differences.
  const chances = new Float64Array(most + 1);
  chances[0] = 1;
  let reached = 0;
  for (const size of sizes) {
    for (let at = reached; at >= 0; at--) {
      const half = chances[at]! / 2;
      chances[at] = half;
      chances[at + size]! += half;
    }
    reached += size;
  }
  let tail = 0;
  for (let at = most; 2 * at - most >= sum && at >= 0; at--) tail += chances[at]!;
  return Math.min(1, 2 * tail);
}

/**
 * Whole numbers in the proportions of the differences: exactly, where these are multiples of one number, as those of ratings
 * are, so that equal sums stay equal; else rounded. The test is exact for the rounded ones: rounding costs power, not
 * validity.
 */
function stepsOf(shares: readonly number[]): readonly number[] {
  const least = Math.min(...shares.map(Math.abs));
  const total = shares.reduce((sum, share) => sum + Math.abs(share), 0);
  for (let parts = 1; parts <= MOST_PARTS && (total * parts) / least <= GRID; parts++) {
    const multiples = shares.map((share) => (share * parts) / least);
    const steps = multiples.map(Math.round);
    if (steps.every((step, place) => Math.abs(step - multiples[place]!) < 1e-6)) return steps;
  }
  return shares.map((share) => Math.round((share * GRID) / total)).filter((step) => step !== 0);
}

function normalTest(differences: readonly number[]): number {
  let [sum, squares] = [0, 0];
  for (const difference of differences) {
    sum += difference;
    squares += difference ** 2;
  }
  return Math.min(1, 2 * normalTail(Math.abs(sum) / Math.sqrt(squares)));
}
