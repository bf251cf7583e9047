import type { Comparison } from '../../api/client';
import type { ComparedRow } from './data';
import { report } from './report';

const experiments = [
  { id: 'a', name: 'base' },
  { id: 'b', name: 'next *one*' },
];
const results = [
  { experiment: 'a', mean: 1, scored: 2 },
  {
    ...{ experiment: 'b', mean: 0.5, scored: 2, difference: -0.5, verdict: 'worse' },
    test: { interval: { low: -0.9, high: -0.1 }, p: 0.01, n: 2 },
  },
];
const keys = [{ key: 'correct', kind: 'pass/fail', results }];
const comparison = { baseline: 'a', rows: 2, experiments, keys, categories: [] } as unknown as Comparison;
const worst = [
  { example_id: '0123456789', regression: 1, inputs_preview: '{"question": "Why\\n[here](x)?"}' },
  { example_id: '1123456789', regression: null, inputs_preview: '{}' },
] as unknown as ComparedRow[];

it('tells a comparison with its link, a line for each candidate, and the worst rows', () => {
  const about = { title: 'next against base', link: 'https://x.example/', date: '2026-01-01', gaps: ['1 row lacks'] };
  const lines = report(comparison, worst, about).split('\n');
  expect(lines.slice(0, 9)).toEqual([
    ...['## next against base', ''],
    '2026-01-01 · [comparison](https://x.example/) · 2 experiments · 2 rows',
    '',
    '- **next \\*one\\***: worse on correct (−50 points); 1 row lacks',
    '',
    ...['Worst rows, as a share of the range of the score:', ''],
    '- 1 worse: Why \\[here\\](x)? (01234567)',
  ]);
  expect(lines).toContain('| correct | next *one* | 0.5 | worse: −50 points (−90 … −10) |');
});
