import type { Context } from '../api/context';
import type { Session, Statistics } from '../api/records';
import { showExperiment } from './experiments.show';

/** Text beside the key of a score in an experiment with this number of runs. */
function shown(statistics: Statistics, runs = 3, whole: Record<string, Statistics> = {}): Record<string, string> {
  let facts: Record<string, string> = {};
  const out = {
    paint: (_: string, text: string) => text,
    facts: (lines: [string, string][]) => (facts = Object.fromEntries(lines)),
  };
  const session = { name: 'n', start_time: '2026-01-01T00:00:00Z', run_count: runs, error_rate: 0 };
  const stats = { feedback_stats: { judge: statistics }, session_feedback_stats: whole };
  showExperiment({ out } as unknown as Context, { ...session, ...stats } as unknown as Session, undefined);
  return facts;
}

it.each<[string, Statistics]>([
  ['0.5 (1 of 3 scored)', { n: 1, avg: 0.5 }],
  ['0.5 (1 of 3 scored)', { n: 3, avg: 0.5, scores: 1 }],
  ['0.5 (2 of 3 scored, 4 scores)', { n: 5, avg: 0.5, scores: 4, scored: 2 }],
  ['bad 1, good 2 (3 of 3 with a value)', { n: 3, avg: null, values: { bad: 1, good: 2 } }],
  ['a 1, b 1, c 1, … (4 of 3 with a value)', { n: 4, avg: null, values: { a: 1, b: 1, c: 1, d: 1 } }],
  ['0.5 (1 of 3 scored), good 1 (1 of 3 with a value)', { n: 2, avg: 0.5, scores: 1, values: { good: 1 } }],
  ['- (0 of 3 scored)', { n: 1, avg: null }],
])('says %s', (text, statistics) => {
  expect(shown(statistics).judge).toBe(text);
});

it('says how far the repetitions of a row are apart, and that runs are not rows', () => {
  let facts: Record<string, string> = {};
  const out = {
    paint: (_: string, text: string) => text,
    facts: (lines: [string, string][]) => (facts = Object.fromEntries(lines)),
  };
  const session = { name: 'n', start_time: '2026-01-01T00:00:00Z', run_count: 6, error_rate: 0 };
  const stats = { feedback_stats: { judge: { n: 6, avg: 0.5 } }, session_feedback_stats: {} };
  const show = (rows: number, spreads: [string, number][]) =>
    showExperiment({ out } as unknown as Context, { ...session, ...stats } as unknown as Session, undefined, {
      ...{ rows, spreads: new Map(spreads) },
    });
  show(2, [['judge', 0.25]]);
  expect(facts).toMatchObject({ runs: '6 of 2 rows, 0 % with errors', judge: '0.5 ± 0.25 (6 of 6 scored)' });
  show(6, []);
  expect(facts).toMatchObject({ runs: '6, 0 % with errors', judge: '0.5 (6 of 6 scored)' });
});

it('says which scores are those of the whole experiment', () => {
  const whole = { f1: { n: 1, avg: 0.9 }, grade: { n: 1, avg: null, values: { A: 1 } } };
  expect(shown({ n: 3, avg: 1 }, 3, whole)).toMatchObject({
    judge: '1 (3 of 3 scored)',
    f1: '0.9 (whole experiment)',
    grade: 'A 1 (whole experiment)',
  });
});
