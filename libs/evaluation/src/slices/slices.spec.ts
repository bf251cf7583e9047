import type { ExperimentScores, ScoreTable } from '../compare/score-table';
import { compareSlices, type Group, LEAST_PAIRS } from './slices';

/** Numbers from 0 to 1 that are the same in every run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), 61 | bits);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

const [ROWS, TOPICS] = [300, 10];
const groups: Group[] = Array.from({ length: TOPICS }, (_, topic) => ({
  by: 'metadata.topic',
  value: `topic ${topic}`,
  rows: Int32Array.from({ length: ROWS / TOPICS }, (_unused, place) => place * TOPICS + topic),
}));

function experiment(id: string, means: readonly number[], fails: (row: number) => boolean): ExperimentScores {
  const passFail = means.every((mean) => mean === 0 || mean === 1);
  const key = {
    means: Float64Array.from(means),
    runs: ROWS,
    scores: ROWS,
    passFail,
    least: 0,
    most: 1,
    sources: ['app'],
  };
  return {
    ...{ id, name: id, persisted: true, runCount: ROWS, errorCount: 0, labels: new Map(), structures: new Map() },
    runs: new Uint16Array(ROWS).fill(1),
    failed: Uint16Array.from(means, (_, row) => Number(fails(row))),
    ...{ versions: new Float64Array(ROWS), latencies: new Float64Array(), measures: new Map() },
    keys: new Map([['judge', key]]),
  };
}

type Scores = (random: () => number, topic: number) => readonly [number, number];

/** Slices that are told of a comparison of 300 rows in ten topics, of which `scores` gives each row's before and after. */
async function told(seed: number, scores: Scores, rate = 0.05) {
  const random = numbers(seed);
  const pairs = Array.from({ length: ROWS }, (_, row) => scores(random, row % TOPICS));
  const fails = () => random() < rate;
  const experiments = [0, 1].map((of) =>
    experiment(
      `e${of}`,
      pairs.map((pair) => pair[of]!),
      fails,
    ),
  );
  const table: ScoreTable = { rows: ROWS, ids: Buffer.alloc(0), experiments, labelValues: new Map(), unread: [] };
  const { slices } = await compareSlices(table, [{ key: 'judge', direction: 'higher is better' }], groups);
  expect(slices).toHaveLength(2 * TOPICS);
  return slices.map(({ slice }) => slice).filter(({ verdict }) => verdict !== 'not clear');
}

const shapes: Readonly<Record<string, Scores>> = {
  'pass or fail': (random) => [Number(random() < 0.8), Number(random() < 0.8)],
  'a judge of five steps': (random) => [Math.floor(random() * 5) / 4, Math.floor(random() * 5) / 4],
  'rare large losses and gains': (random) => [
    random() < 0.05 ? 0 : 0.9 + random() / 10,
    random() < 0.05 ? 0 : 0.9 + random() / 10,
  ],
};

describe('Slices of nothing', () => {
  it.each(Object.entries(shapes))('are told in one comparison of twenty at most: %s', async (_, scores) => {
    let named = 0;
    for (let seed = 0; seed < 400; seed++) named += Number((await told(seed, scores)).length > 0);
    // 20 are expected at most; three standard errors above it.
    expect(named).toBeLessThanOrEqual(33);
  });
});

it('A loss in one topic of ten is found and comes first, although the mean is better', async () => {
  let [found, wrong] = [0, 0];
  for (let seed = 0; seed < 100; seed++) {
    const slices = await told(seed, (random, topic) => {
      const before = 0.5 + random() * 0.3;
      const noise = (random() - 0.5) * 0.3;
      return [before, before + noise + (topic === 3 ? -0.25 : 0.05)];
    });
    const lost = slices.filter(({ verdict }) => verdict === 'worse');
    if (lost[0]?.value === 'topic 3') found++;
    wrong += lost.filter(({ value }) => value !== 'topic 3').length;
    expect(slices.findIndex(({ verdict }) => verdict === 'better')).not.toBe(0);
  }
  expect(found).toBeGreaterThanOrEqual(95);
  expect(wrong).toBeLessThanOrEqual(5);
});

it('Failures in one topic are found without any score', async () => {
  const random = numbers(1);
  const none = Array<number>(ROWS).fill(NaN);
  const experiments = [
    experiment('e0', none, () => false),
    experiment('e1', none, (row) => row % TOPICS === 7 && random() < 0.6),
  ];
  const table: ScoreTable = { rows: ROWS, ids: Buffer.alloc(0), experiments, labelValues: new Map(), unread: [] };
  const { slices } = await compareSlices(table, [{ key: 'judge', direction: 'higher is better' }], groups);
  expect(slices[0]!.slice).toMatchObject({
    ...{ by: 'metadata.topic', value: 'topic 7', slice: 'metadata.topic=topic 7', measure: 'errors', key: null },
    ...{ verdict: 'worse', baseline_mean: 0, rows: ROWS / TOPICS },
  });
  expect(slices.filter(({ slice }) => slice.verdict !== 'not clear')).toHaveLength(1);
});

it('Of lower scores that are better, more is a loss; few pairs are not tested', async () => {
  const pairs = Array.from({ length: ROWS }, (_, row) => (row % TOPICS === 2 ? [1, 3] : [1, 1]));
  const experiments = [0, 1].map((of) =>
    experiment(
      `e${of}`,
      pairs.map((pair) => pair[of]!),
      () => false,
    ),
  );
  const table: ScoreTable = { rows: ROWS, ids: Buffer.alloc(0), experiments, labelValues: new Map(), unread: [] };
  const few: Group = {
    by: 'split',
    value: 'tiny',
    rows: Int32Array.from({ length: LEAST_PAIRS - 1 }, (_, row) => row),
  };
  const { slices, tests } = await compareSlices(
    table,
    [{ key: 'judge', direction: 'lower is better' }],
    [...groups, few],
  );
  expect(slices).toHaveLength(2 * TOPICS);
  // Nothing differs in the other topics.
  expect(tests).toBe(1);
  expect(slices[0]!.slice).toMatchObject({
    value: 'topic 2',
    verdict: 'worse',
    difference: 2,
    counts: { worse: 30, better: 0 },
  });
});

it('Numbers that are too large to be added up have no mean, and no verdict', async () => {
  const pairs = Array.from({ length: ROWS }, (_, row) => (row % TOPICS === 2 ? [0, 1.5e308] : [1.7e308, -1.7e308]));
  const experiments = [0, 1].map((of) =>
    experiment(
      `e${of}`,
      pairs.map((pair) => pair[of]!),
      () => false,
    ),
  );
  const table: ScoreTable = { rows: ROWS, ids: Buffer.alloc(0), experiments, labelValues: new Map(), unread: [] };
  const { slices } = await compareSlices(table, [{ key: 'judge', direction: 'higher is better' }], groups);
  const scores = slices.filter(({ slice }) => slice.measure === 'score').map(({ slice }) => slice);
  expect(scores).toMatchObject([{ value: 'topic 2', difference: null, mean: null, verdict: 'not clear', rows: 30 }]);
});
