import {
  comparable,
  evaluatedOn,
  keysOf,
  type Scores,
  scoreTexts,
  sourceName,
  sourcesOf,
  toldOf,
  usageTexts,
} from './figures';

const none = { runs: 0, more: false, error_rate: null, latency_p50: null, total_tokens: null, total_cost: null };
const of = (scores: Record<string, number>, runs = 4) => ({
  ...{ ...none, runs, error_rate: 0.25, latency_p50: 1.5, total_tokens: 10 * runs, total_cost: null },
  scores: Object.fromEntries(Object.entries(scores).map(([key, mean]) => [key, { mean, n: runs }])),
  scores_left_out: 0,
});
const nothing = { ...none, scores: {}, scores_left_out: 0 };
const experiment = (id: string, dataset_id: string, start_time: string, scores: Record<string, number> = {}) => ({
  ...{ id, name: id, dataset_id, start_time, persisted: true },
  ...of(scores),
});

function scoresOf({
  evaluated,
  live = nothing,
  newest = [],
}: { [member in 'evaluated' | 'live']?: object } & { newest?: readonly object[] }): Scores {
  const experiments = evaluated ? { experiments: 2, ...evaluated } : { experiments: 0, ...nothing };
  return { revision_id: 'r', evaluated: experiments, live, newest } as unknown as Scores;
}

it('tells the scores of experiments, and what live runs used', () => {
  const both = scoresOf({ evaluated: of({ correct: 0.9 }), live: of({}, 7) });
  const { scored, used } = toldOf(both);
  expect([scored!.kind, used!.kind]).toEqual(['experiments', 'live']);
  expect([sourceName(scored!, 2), sourceName(used!, 2)]).toEqual(['2 experiments', '7 live runs']);
  expect(usageTexts(used!.of)).toEqual({ latency: '1.5 s', errors: '25 %', tokens: '10', cost: '–' });
});

it('tells of the one source that there is, and that there are more than are counted', () => {
  const live = scoresOf({ live: { ...of({ thumb: 1 }, 1), more: true } });
  expect(toldOf(live).scored!.kind).toBe('live');
  expect(sourceName(toldOf(live).used!, 0)).toBe('1+ live runs');
  expect(sourceName(sourcesOf(scoresOf({ evaluated: of({}) }))[0]!, 1)).toBe('1 experiment');
  expect(toldOf(scoresOf({}))).toEqual({ scored: undefined, used: undefined });
});

it('names two scores, and how many others there are', () => {
  const { named, all, others } = scoreTexts({ ...of({ a: 1, b: 0.5, c: 0 }), scores_left_out: 4 });
  expect({ named, all, others }).toEqual({ named: ['a 1', 'b 0.5'], all: ['a 1', 'b 0.5', 'c 0'], others: 5 });
});

it('orders keys by the number of revisions that have them', () => {
  expect(keysOf([scoresOf({ evaluated: of({ a: 1 }) }), scoresOf({ evaluated: of({ b: 1, a: 0 }) })])).toEqual([
    'a',
    'b',
  ]);
});

it('compares the newest experiments on a dataset that all have, once they are stored', () => {
  const one = scoresOf({ newest: [experiment('e1', 'd1', '2026-01-02'), experiment('e2', 'd2', '2026-01-01')] });
  const other = scoresOf({ newest: [experiment('e3', 'd2', '2026-01-03')] });
  expect(comparable([one, other])).toEqual({ dataset: 'd2', experiments: ['e2', 'e3'] });
  const storing = scoresOf({ newest: [{ ...experiment('e3', 'd2', '2026-01-03'), persisted: false }] });
  expect([comparable([one, storing]), comparable([one]), comparable([])]).toEqual([undefined, undefined, undefined]);
});

it('names the dataset of the newest experiment first, and the keys on it by frequency', () => {
  const { datasets, keysOn } = evaluatedOn([
    scoresOf({ newest: [experiment('e1', 'd1', '2026-01-01', { b: 1 })] }),
    scoresOf({ newest: [experiment('e2', 'd2', '2026-01-03'), experiment('e3', 'd1', '2026-01-02', { a: 1, b: 0 })] }),
  ]);
  expect(datasets).toEqual(['d2', 'd1']);
  expect(keysOn('d1')).toEqual(['b', 'a']);
});
