import { type Known, statisticsOf } from '../compare/experiment-scores';
import type { RevisionSession } from './revision-experiments.queries';
import type { RevisionStatistics } from './revisions.answers.schema';

export type Means = ReadonlyMap<string, { readonly mean: number; readonly n: number }>;

/** Feedback keys that an answer names. */
const MOST_KEYS = 50;

/** Runs of experiments together; those whose rows are still being stored do not count. */
export function statisticsOfAll(sessions: readonly RevisionSession[]): RevisionStatistics {
  const stored = sessions.filter(({ persisted }) => persisted);
  const runs = stored.reduce((sum, { run_count }) => sum + (run_count ?? 0), 0);
  const weighted = (of: (session: RevisionSession) => number | null) => {
    const [total, weight] = stored.reduce(
      ([all, parts], one) => {
        const value = of(one);
        return value === null || !one.run_count ? [all, parts] : [all + value * one.run_count, parts + one.run_count];
      },
      [0, 0] as [number, number],
    );
    return weight === 0 ? null : total / weight;
  };
  const sumOf = (of: (session: RevisionSession) => string | null) => {
    const known = stored.flatMap((one) => of(one) ?? []);
    return known.length === 0 ? null : known.reduce((sum, one) => sum + Number(one), 0);
  };
  return {
    runs,
    error_rate: weighted(({ error_rate }) => error_rate),
    latency_p50: weighted(({ latency_p50 }) => latency_p50),
    total_tokens: sumOf(({ total_tokens }) => total_tokens),
    total_cost: sumOf(({ total_cost }) => total_cost),
    ...shownScores(meansOf(stored)),
  };
}

/** The keys with the most scores. */
export function shownScores(means: Means): Pick<RevisionStatistics, 'scores' | 'scores_left_out'> {
  const ordered = [...means].sort(([a, { n }], [b, { n: other }]) => other - n || (a < b ? -1 : 1));
  return {
    scores: Object.fromEntries(ordered.slice(0, MOST_KEYS)),
    scores_left_out: Math.max(0, ordered.length - MOST_KEYS),
  };
}

/** The mean of all scores by key. A key that no run has is one of whole experiments. */
function meansOf(sessions: readonly RevisionSession[]): Means {
  const sums = new Map<string, { sum: number; n: number }>();
  for (const { feedback_stats, session_feedback_stats } of sessions) {
    const ofRuns = statisticsOf({ session_feedback_stats: feedback_stats });
    const known: Known = new Map([...statisticsOf({ session_feedback_stats }), ...ofRuns]);
    for (const [key, { avg, n, scores = n }] of known) {
      if (avg === null) continue;
      const before = sums.get(key) ?? { sum: 0, n: 0 };
      sums.set(key, { sum: before.sum + avg * scores, n: before.n + scores });
    }
  }
  return new Map([...sums].map(([key, { sum, n }]) => [key, { mean: sum / n, n }]));
}
