import { type ExperimentScores, type Measure, MEASURES, type ScoreTable } from '../compare/score-table';
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

function experiment(
  id: string,
  means: readonly number[],
  fails: (row: number) => boolean,
  measured: Readonly<Partial<Record<Measure, readonly number[]>>> = {},
): ExperimentScores {
  const passFail = means.every((mean) => mean === 0 || mean === 1);
  const column = (values: readonly number[]) => ({
    ...{ means: Float64Array.from(values), runs: ROWS, scores: ROWS, sources: ['app'] },
    ...{ passFail, least: 0, most: Math.max(1, ...values) },
  });
  const measures = new Map(Object.entries(measured).map(([name, values]) => [name as Measure, column(values)]));
  return {
    ...{ id, name: id, persisted: true, runCount: ROWS, errorCount: 0, labels: new Map(), structures: new Map() },
    runs: new Uint16Array(ROWS).fill(1),
    failed: Uint16Array.from(means, (_, row) => Number(fails(row))),
    ...{ versions: new Float64Array(ROWS), latencies: new Float64Array(), measures },
    keys: new Map([['judge', { ...column(means), most: 1 }]]),
  };
}

type Scores = (random: () => number, topic: number) => readonly [number, number];

type Used = Readonly<Record<Measure, number>>;
/** Stands for the topic of a row of the baseline, which gets no worse. */
const NONE = -1;
/** Latency, tokens and cost of a run: most take little, a few very much. */
const taken = (random: () => number): Used => {
  const size = Math.exp(2 * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));
  return { latency: 0.2 + size * random(), tokens: Math.ceil(100 * size), cost: size * 1e-5 };
};

/** Slices that are told of a comparison of 300 rows in ten topics, of which `scores` gives each row's before and after. */
async function told(seed: number, scores: Scores, used?: (random: () => number, topic: number) => Used) {
  const random = numbers(seed);
  const pairs = Array.from({ length: ROWS }, (_, row) => scores(random, row % TOPICS));
  const fails = () => random() < 0.05;
  const uses = (of: number) => {
    const rows = Array.from({ length: used ? ROWS : 0 }, (_, row) => used!(random, of === 0 ? NONE : row % TOPICS));
    return used && Object.fromEntries(MEASURES.map((measure) => [measure, rows.map((one) => one[measure])]));
  };
  const experiments = [0, 1].map((of) =>
    experiment(
      `e${of}`,
      pairs.map((pair) => pair[of]!),
      fails,
      uses(of),
    ),
  );
  const table: ScoreTable = { rows: ROWS, ids: Buffer.alloc(0), experiments, labelValues: new Map(), unread: [] };
  const judge = [{ key: 'judge', direction: 'higher is better' }] as const;
  const { slices } = await compareSlices(table, judge, groups, used && MEASURES);
  expect(slices).toHaveLength((used ? 5 : 2) * TOPICS);
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

  it('are told as rarely when latency, tokens and cost are tested, too', async () => {
    const all = Object.values(shapes);
    let named = 0;
    for (let seed = 0; seed < 1000; seed++) {
      named += Number((await told(seed, all[seed % all.length]!, taken)).length > 0);
    }
    // 50 are expected at most; three standard errors above it.
    expect(named).toBeLessThanOrEqual(70);
  });
});

it('A cost that doubles in one topic of ten is found when it is asked for', async () => {
  let [found, wrong] = [0, 0];
  for (let seed = 0; seed < 50; seed++) {
    const worse = (random: () => number, topic: number): Used => {
      const cost = (1 + random()) * (topic === 3 ? 2 : 1);
      return { latency: random(), tokens: Math.ceil(100 * random()), cost };
    };
    const slices = await told(seed, shapes['pass or fail']!, worse);
    if (slices[0]?.value === 'topic 3' && slices[0].measure === 'cost' && slices[0].verdict === 'worse') found++;
    wrong += slices.filter(({ value }) => value !== 'topic 3').length;
  }
  expect(found).toBeGreaterThanOrEqual(48);
  expect(wrong).toBeLessThanOrEqual(5);
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
