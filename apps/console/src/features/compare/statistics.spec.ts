import {
  headline,
  type Keyed,
  labelTests,
  markdown,
  uncompared,
  verdictText,
} from '../../../../../libs/evaluation/src/report/verdicts';
import { correct, filterText, holm, labelFilter } from './statistics';

const result = (
  experiment: string,
  low: number,
  high: number,
  p: number,
  verdict: 'better' | 'worse' | 'not clear',
) => ({
  experiment,
  mean: 0.5,
  scored: 100,
  difference: (low + high) / 2,
  verdict,
  test: { interval: { low, high }, p, n: 1000 },
});
const baseline = { experiment: 'a', mean: 0.4, scored: 100 };
const correctKey: Keyed = {
  key: 'correct',
  kind: 'pass/fail',
  results: [baseline, result('b', 0.037, 0.052, 0.0001, 'better'), result('c', -0.007, 0.009, 0.8, 'not clear')],
};
const costKey: Keyed = { key: 'cost', kind: 'numeric', results: [baseline, result('b', 0.001, 0.003, 0.03, 'worse')] };

it('corrects for the number of tests by the method of Holm', () => {
  expect(holm([0.01, 0.04, 0.03, 0.005])).toEqual([true, false, false, true]);
  expect(holm([0.04, null])).toEqual([true, false]);
  expect(holm([])).toEqual([]);
});

it('counts the tests and the false alarms to be expected of them', () => {
  const { tests, alarms, surviving } = correct([correctKey, costKey]);
  expect([tests, Number(alarms.toFixed(2)), [...surviving]]).toEqual([3, 0.15, ['b correct']]);
});

it('says what is clear, and what so many rows could have shown', () => {
  expect(verdictText(correctKey, correctKey.results[1]!)).toBe('better: +4.5 points (+3.7 … +5.2)');
  expect(verdictText(correctKey, correctKey.results[2]!)).toBe('not clear: 1,000 rows can show ±0.8 points');
  expect(verdictText(costKey, costKey.results[1]!)).toBe('worse: +0.002 (+0.001 … +0.003)');
  expect(verdictText(costKey, baseline)).toBe('nothing to compare');
});

it('sums a candidate up', () => {
  expect(headline([correctKey, costKey], 'b')).toBe('better on correct (+4.5 points); worse on cost (+0.002)');
  expect(headline([correctKey, costKey], 'c')).toBe('no clear difference');
});

it('says how many rows a verdict leaves out, of the key with most of them', () => {
  const test = { interval: null, p: null };
  const judge = (key: string, n: number): Keyed => ({
    ...{ key, kind: 'numeric' },
    results: [
      { experiment: 'a', mean: 1, scored: 30 },
      { experiment: 'b', mean: 1, scored: n, test: { ...test, n } },
    ],
  });
  const none: Keyed = { ...judge('new', 0), results: [{ experiment: 'a', mean: 1, scored: 30 }] };
  expect(uncompared([judge('judge', 11)], 'a', 'b')).toBe('19 of 30 rows could not be compared on judge');
  expect(uncompared([judge('judge', 11), none], 'a', 'b')).toBe(
    '30 of 30 rows could not be compared on new and 1 more',
  );
  expect(uncompared([judge('judge', 30)], 'a', 'b')).toBeUndefined();
});

it('writes a table for a pull request', () => {
  const names = new Map([
    ['a', 'base | line'],
    ['b', 'next'],
  ]);
  expect(markdown(names, [costKey]).split('\n')).toEqual([
    '| key | experiment | mean | verdict |',
    '| --- | --- | ---: | --- |',
    '| cost | base \\| line | 0.4 | baseline |',
    '| cost | next | 0.5 | worse: +0.002 (+0.001 … +0.003) |',
  ]);
});

describe('Labels', () => {
  const tone = {
    ...{ key: 'tone', values: ['calm', 'rude'] },
    results: [
      { experiment: 'a', scored: 30, counts: [29, 1] },
      {
        ...{ experiment: 'b', scored: 20, counts: [8.5, 11.5], row_counts: { same: 8, changed: 11 } },
        ...{ p: 0.001, verdict: 'changed' as const },
      },
    ],
  };

  it('are tested, summed up and told what they leave out, as scores are', () => {
    const all = [costKey, ...labelTests([tone])];
    expect([...correct(all).surviving]).toEqual(['b cost', 'b labels of tone']);
    expect(headline([costKey], 'b', [tone])).toBe('worse on cost (+0.002); changed labels of tone');
    expect(headline([], 'b', [tone])).toBe('changed labels of tone');
    expect(uncompared(labelTests([tone]), 'a', 'b')).toBe('11 of 30 rows could not be compared on labels of tone');
    const names = new Map([
      ['a', 'base'],
      ['b', 'next'],
    ]);
    expect(markdown(names, [], [tone]).split('\n').slice(2)).toEqual([
      '| tone | base | calm 29, rude 1 | baseline |',
      '| tone | next | rude 11.5, calm 8.5 | changed: 11 of 19 rows changed |',
    ]);
  });

  it('are compared by the numbers that stand for them where there are some', () => {
    const graded = { ...tone, label_values: [1, 0] };
    expect(labelTests([graded])).toEqual([]);
    expect(headline([], 'b', [graded])).toBe('no clear difference');
  });

  it('filter rows by where they went, whatever signs they have', () => {
    expect(labelFilter('a, b:c', null)).toBe('label=a%2C%20b%3Ac,');
    expect(filterText(labelFilter('a, b:c', null))).toBe('a, b:c → other');
    expect(filterText('label=%ff,x')).toBe('%ff → x');
    expect(filterText('better,worse')).toBe('better, worse');
  });
});
