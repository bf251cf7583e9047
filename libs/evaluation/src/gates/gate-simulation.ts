import type { Gate } from '@fairlead/contracts';
import { boundsOf } from '../compare/score-columns';
import type { ExperimentScores, ScoreTable } from '../compare/score-table';
import { judgeGate } from './gate-verdict';

/** A generator of numbers from 0 to 1 with a fixed seed (mulberry32). */
export function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), 61 | bits);
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A row: its score before, and a run of it after. */
type Row = readonly [before: number, after: () => number];

/** Shapes of scores by row, and how a loss of the mean shows in them. */
export const SHAPES = {
  'rare losses': (random, loss) => [1, () => (random() < loss ? 0 : 1)],
  'changes both ways': (random, loss) => {
    const before = Number(random() < 0.7);
    const changes = before === 1 ? 0.1 + loss / 0.7 : 0.7 / 3;
    return [before, () => (random() < changes ? 1 - before : before)];
  },
  'grades of a judge': (random, loss) => {
    const before = Math.round(random() * 10) / 10;
    const width = Math.min(0.2, before, 1 - before);
    return [before, () => (before + (2 * random() - 1) * width) * (1 - 2 * loss)];
  },
} satisfies Readonly<Record<string, (random: () => number, loss: number) => Row>>;

type SimulatedShape = keyof typeof SHAPES;
export const SIMULATED_SHAPES = Object.keys(SHAPES) as SimulatedShape[];

interface Simulated {
  readonly shape: SimulatedShape;
  /** Rows of the dataset. */
  readonly rows: number;
  /** True loss of the mean; the gate allows `SIMULATED_LIMIT`. */
  readonly loss: number;
  /** Experiments of the revision, each of which is looked at with those before. */
  readonly looks?: number;
  /** Slices of the dataset with the same limit, of which only the first one loses; absent: the limit is for all rows. */
  readonly slices?: number;
  readonly trials: number;
}

export const SIMULATED_LIMIT = 0.05;
const GATE: Gate = {
  ...{ name: 'simulated', dataset_id: '', baseline: 'active', keys: { score: { max_drop: SIMULATED_LIMIT } } },
  ...{ measures: {}, min_rows: 30, max_age_days: 30, wait_days: 7 },
};

const SLICED: Gate = { ...GATE, keys: {}, slices: [{ by: 'inputs.topic', keys: GATE.keys, measures: {} }] };

/** The shares of simulated revisions that a gate promotes and refuses, and the mean distance that it announces. */
export function simulateGate({ shape, rows, loss, looks = 1, slices = 1, trials }: Simulated) {
  const random = generator(20_261_128 + rows);
  const gate = slices === 1 ? GATE : SLICED;
  const topics = Array.from({ length: slices }, (_, topic) => ({
    ...{ by: 'inputs.topic', value: String(topic) },
    rows: Int32Array.from({ length: Math.ceil((rows - topic) / slices) }, (_row, place) => topic + place * slices),
  }));
  const counts = { promote: 0, hold: 0, refuse: 0 };
  let detectable = 0;
  for (let trial = 0; trial < trials; trial++) {
    const lossOf = (row: number) => (row % slices === 0 ? loss : 0);
    const dataset = Array.from({ length: rows }, (_, row): Row => SHAPES[shape](random, lossOf(row)));
    const experiments = [scored(dataset.map(([before]) => before))];
    let outcome: keyof typeof counts = 'hold';
    for (let look = 1; look <= looks && outcome === 'hold'; look++) {
      experiments.push(scored(dataset.map(([, after]) => after())));
      const table = {
        rows,
        ids: Buffer.alloc(0),
        experiments,
        labelValues: new Map(),
        unread: [],
      } satisfies ScoreTable;
      const evidence = { table, baselines: 1, lowerIsBetter: new Set<string>(), slices: topics };
      const verdict = judgeGate(gate, evidence, look);
      outcome = verdict.outcome;
      if (look === 1) detectable += verdict.criteria[0]!.detectable! / trials;
    }
    counts[outcome]++;
  }
  return { promoted: counts.promote / trials, refused: counts.refuse / trials, detectable };
}

/** An experiment with one run of each row. */
function scored(scores: readonly number[]): ExperimentScores {
  const means = Float64Array.from(scores);
  const passFail = scores.every((score) => score === 0 || score === 1);
  const about = { runs: scores.length, scores: scores.length, passFail, ...boundsOf(means), sources: [] };
  return {
    ...{ id: '', name: '', persisted: true, runCount: scores.length, errorCount: 0 },
    ...{ labels: new Map(), structures: new Map(), measures: new Map() },
    runs: new Uint16Array(scores.length).fill(1),
    failed: new Uint16Array(scores.length),
    versions: new Float64Array(scores.length),
    latencies: new Float64Array(scores.length),
    keys: new Map([['score', { means, ...about }]]),
  };
}
