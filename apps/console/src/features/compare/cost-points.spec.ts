import { scoreAgainstCost } from './cost-points';

const experiments = ['a', 'b', 'c', 'd'].map((id) => ({ id, name: `experiment ${id}` }));
const results = (means: Record<string, number | null>) =>
  Object.entries(means).map(([experiment, mean]) => ({ experiment, mean }));
const measures = [{ measure: 'cost', results: results({ a: 2, b: 1, c: 2, d: null }) }];

it('says of each experiment with a cost which others are better for no more, or as good for less', () => {
  const key = { direction: 'higher is better' as const, results: results({ a: 0.8, b: 0.8, c: 0.9, d: 1 }) };
  const points = scoreAgainstCost({ experiments, measures }, key);
  expect(points.map(({ number, name, cost, mean, outdone }) => [number, name, cost, mean, outdone])).toEqual([
    [1, 'experiment a', 2, 0.8, [2, 3]],
    [2, 'experiment b', 1, 0.8, []],
    [3, 'experiment c', 2, 0.9, []],
  ]);
});

it('takes lower scores for better ones where they are', () => {
  const key = { direction: 'lower is better' as const, results: results({ a: 0.1, b: 0.5, c: 0.9 }) };
  expect(scoreAgainstCost({ experiments, measures }, key).map(({ outdone }) => outdone)).toEqual([[], [], [1, 2]]);
});

it('has no points where fewer than two experiments have a cost', () => {
  const key = { direction: 'higher is better' as const, results: results({ a: 1, b: null }) };
  expect(scoreAgainstCost({ experiments, measures }, key)).toEqual([]);
  expect(scoreAgainstCost({ experiments, measures: [] }, key)).toEqual([]);
});
