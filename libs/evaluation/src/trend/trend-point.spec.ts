import { columnOf } from '../compare/score-columns';
import { pointOf } from './trend-point';

type Draw = () => number;

/** Numbers between 0 and 1 that are the same in each run (mulberry32). */
function seeded(seed: number): Draw {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function normal(draw: Draw): number {
  return Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
}

/** Scores of rows, and the mean that rows of their kind have. */
interface Shape {
  readonly mean: number;
  readonly row: (draw: Draw) => number;
}

const passFail = (share: number): Shape => ({ mean: share, row: (draw) => Number(draw() < share) });
const SHAPES: Readonly<Record<string, Shape>> = {
  'normal scores': { mean: 0.6, row: (draw) => 0.6 + 0.2 * normal(draw) },
  'even scores': { mean: 0.5, row: (draw) => draw() },
  'ratings in five steps': { mean: 3.6, row: (draw) => [1, 3, 4, 5, 5][Math.floor(draw() * 5)]! },
  'scores at both ends': { mean: 0.5, row: (draw) => (draw() < 0.5 ? 0.1 * draw() : 1 - 0.1 * draw()) },
  'half of the rows passing': passFail(0.5),
  'four of five rows passing': passFail(0.8),
};

const ROUNDS = 1000;

/** The share of intervals that hold the mean, over rows with one run each. */
function covered({ row, mean }: Shape, size: number, isShare: boolean, draw: Draw): number {
  let held = 0;
  const rows = Int32Array.from({ length: size }, (_, place) => place);
  for (let round = 0; round < ROUNDS; round++) {
    const values = Float64Array.from({ length: size }, () => row(draw));
    const { interval } = pointOf(columnOf(rows, values, size), isShare);
    held += Number(interval !== null && interval.low <= mean && mean <= interval.high);
  }
  return held / ROUNDS;
}

describe('The interval of a point', () => {
  const sizes = [10, 30, 100];
  const cases = Object.entries(SHAPES).flatMap(([name, shape]) => sizes.map((size) => [size, name, shape] as const));

  it.each(cases)('holds the mean of rows of their kind in 95 %% of the cases: %i %s', (size, name, shape) => {
    const share = covered(shape, size, name.endsWith('passing'), seeded(size));
    // Of few rows with few values, the shares are steps around 95 %.
    expect(share).toBeGreaterThan(size < 30 ? 0.92 : 0.93);
    expect(share).toBeLessThan(size < 30 ? 0.985 : 0.975);
  });

  it('holds it as well where each row was run several times', () => {
    const draw = seeded(7);
    const [size, runs] = [20, 3];
    const rows = Int32Array.from({ length: size * runs }, (_, place) => Math.floor(place / runs));
    let held = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const levels = Array.from({ length: size }, () => 0.5 + 0.2 * normal(draw));
      const values = Float64Array.from(rows, (row) => levels[row]! + 0.3 * normal(draw));
      const { interval } = pointOf(columnOf(rows, values, size), false);
      held += Number(interval!.low <= 0.5 && interval!.high >= 0.5);
    }
    expect(held / ROUNDS).toBeGreaterThan(0.93);
    expect(held / ROUNDS).toBeLessThan(0.97);
  });
});

describe('Where a mean lies when its rows are run again', () => {
  /** Runs of rows with levels of their own, as often as `runs` says of each row. */
  function again(levels: readonly number[], runs: (row: number) => number, noisy: (level: number) => number) {
    const rows = Int32Array.from(levels.flatMap((_, row) => Array<number>(runs(row)).fill(row)));
    return () =>
      columnOf(
        rows,
        Float64Array.from(rows, (row) => noisy(levels[row]!)),
        levels.length,
      );
  }

  const draw = seeded(11);
  const plain = (level: number) => level + 0.3 * normal(draw);
  const judged = (level: number) => Number(draw() < level);
  it.each([
    ['40 rows twice', 40, () => 2, plain],
    ['15 rows five times', 15, () => 5, plain],
    ['60 rows, every second one three times', 60, (row: number) => (row % 2 === 0 ? 3 : 1), plain],
    ['40 rows four times, passing or not', 40, () => 4, judged],
    ['100 rows twice, passing or not', 100, () => 2, judged],
  ] as const)('is said so that 95 %% of the long-run means of these rows are in it: %s', (_, size, runs, noisy) => {
    let held = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const levels = Array.from({ length: size }, () => 0.1 + 0.8 * draw());
      const mean = levels.reduce((sum, one) => sum + one, 0) / size;
      const { rerun } = pointOf(again(levels, runs, noisy)(), false);
      held += Number(rerun!.low <= mean && mean <= rerun!.high);
    }
    expect(held / ROUNDS).toBeGreaterThan(0.92);
    expect(held / ROUNDS).toBeLessThan(0.975);
  });

  it('is no wider for rows that differ from one another', () => {
    const noise = (width: number) => {
      const other = seeded(3);
      const levels = Array.from({ length: 50 }, (_, row) => (row % 2 === 0 ? width : -width));
      const { rerun } = pointOf(
        again(
          levels,
          () => 3,
          (level) => level + 0.1 * normal(other),
        )(),
        false,
      );
      return rerun!.high - rerun!.low;
    };
    expect(noise(100) / noise(0.001)).toBeCloseTo(1, 6);
  });
});

it('has no interval for one row, and a width where all rows pass', () => {
  expect(pointOf(columnOf(new Int32Array([0]), new Float64Array([0.4]), 1), false)).toMatchObject({
    ...{ mean: 0.4, scored: 1, runs: 1, interval: null, rerun: null, spread: null },
  });
  const all = columnOf(
    Int32Array.from({ length: 20 }, (_, row) => row),
    new Float64Array(20).fill(1),
    20,
  );
  const { interval } = pointOf(all, true);
  expect([interval!.low > 0.8, interval!.low < 0.9, interval!.high]).toEqual([true, true, 1]);
});
