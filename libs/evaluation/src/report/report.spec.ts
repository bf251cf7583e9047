import { report, type Reported } from './report';

const result = (experiment: string, mean: number, difference: number, p: number, verdict: 'worse' | 'not clear') => ({
  ...{ experiment, mean, scored: 2, difference, verdict },
  test: { interval: { low: difference - 0.4, high: difference + 0.4 }, p, n: 2 },
});
const comparison: Reported = {
  baseline: 'a',
  rows: 3,
  experiments: [
    { id: 'a', name: 'base' },
    { id: 'b', name: 'next *one*' },
    { id: 'c', name: 'other | two' },
  ],
  keys: [
    {
      key: 'correct',
      kind: 'pass/fail',
      results: [
        { experiment: 'a', mean: 1, scored: 3 },
        result('b', 0.5, -0.5, 0.01, 'worse'),
        result('c', 0.9, -0.1, 0.7, 'not clear'),
      ],
    },
  ],
  categories: [
    {
      key: 'tone',
      values: ['friendly', 'curt'],
      results: [
        { experiment: 'a', scored: 3, counts: [3, 0] },
        {
          experiment: 'b',
          scored: 3,
          counts: [1, 2],
          row_counts: { same: 1, changed: 2 },
          p: 0.03,
          verdict: 'changed',
        },
        { experiment: 'c', scored: 3, counts: [3, 0], row_counts: { same: 3, changed: 0 }, p: 1, verdict: 'not clear' },
      ],
    },
  ],
};
const about = {
  dataset: 'questions #1',
  link: 'https://fairlead.example/o/-/datasets/d/compare?selectedSessions=a,b,c',
  date: '2026-01-01',
  worst: [
    { example_id: '0123456789', regression: 1, inputs_preview: '{"question": "Why\\n[here](x)?"}' },
    { example_id: '1123456789', regression: 0.5, inputs_preview: null, inputs_turn: { text: 'And then?' } },
    { example_id: '2123456789', regression: null, inputs_preview: '{}' },
  ],
  slices: [
    {
      ...{ by: 'metadata.topic', value: 'bil*ling', experiment: 'b', measure: 'score', key: 'correct', rows: 12 },
      ...{ baseline_mean: 0.9, mean: 0.5, difference: -0.4 },
    },
    {
      ...{ by: 'split', value: 'test', experiment: 'c', measure: 'errors', key: null, rows: 6 },
      ...{ baseline_mean: 0, mean: 0.5, difference: 0.5 },
    },
  ],
};

it('tells what was found, where it got worse, the worst rows, and a table', () => {
  expect(report(comparison, about).split('\n')).toEqual([
    ...['## next \\*one\\* against base and 1 more on questions \\#\u200b1', ''],
    '2026-01-01 · [comparison](https://fairlead.example/o/-/datasets/d/compare?selectedSessions=a,b,c) · 3 experiments · 3 rows',
    '',
    '- **next \\*one\\***: worse on correct (−50 points); changed labels of tone; 1 of 3 rows could not be compared on correct',
    '- **other \\| two**: no clear difference; 1 of 3 rows could not be compared on correct',
    ...['', 'Slices that got clearly worse:', ''],
    '- topic: bil\\*ling: correct −0.4 (0.9 → 0.5, 12 rows, next \\*one\\*)',
    '- split: test: errors +50 % (0 % → 50 %, 6 rows, other \\| two)',
    ...['', 'Worst rows, as a share of the range of the score:', ''],
    '- 1 worse: Why \\[here\\](x)? (01234567)',
    '- 0.5 worse: And then? (11234567)',
    '',
    ...['| key | experiment | mean | verdict |', '| --- | --- | ---: | --- |'],
    '| correct | base | 1 | baseline |',
    '| correct | next \\*one\\* | 0.5 | worse: −50 points (−90 … −10) |',
    '| correct | other \\| two | 0.9 | not clear: 2 rows can show ±40 points |',
    '| tone | base | friendly 3 | baseline |',
    '| tone | next \\*one\\* | curt 2, friendly 1 | changed: 2 of 3 rows changed |',
    '| tone | other \\| two | friendly 3 | not clear: 0 of 3 rows changed |',
  ]);
});

it('says that slices were not compared', () => {
  expect(report(comparison, { ...about, slices: undefined })).toContain('\nThe slices were not compared.\n');
  expect(report(comparison, { ...about, slices: [] })).not.toContain('not compared');
});

it('leaves out what there is none of', () => {
  const { experiments, keys } = comparison;
  const [score] = keys;
  const two = { ...comparison, experiments: experiments.slice(0, 2), categories: undefined };
  const equal = [{ ...score!, results: [score!.results[0]!, { ...result('b', 1, 0, 1, 'not clear'), scored: 3 }] }];
  const told = report({ ...two, keys: equal }, { ...about, dataset: undefined, worst: [], slices: [] });
  expect(told.split('\n')).toEqual([
    ...['## next \\*one\\* against base', ''],
    '2026-01-01 · [comparison](https://fairlead.example/o/-/datasets/d/compare?selectedSessions=a,b,c) · 2 experiments · 3 rows',
    ...['', '- **next \\*one\\***: no clear difference; 1 of 3 rows could not be compared on correct', ''],
    ...['| key | experiment | mean | verdict |', '| --- | --- | ---: | --- |'],
    '| correct | base | 1 | baseline |',
    '| correct | next \\*one\\* | 1 | not clear: 2 rows can show ±40 points |',
  ]);
});
