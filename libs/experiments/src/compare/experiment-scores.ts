import type { Direction } from './compare-results';

/** A score of the whole experiment, not of one of its rows. */
interface ExperimentScoreResult {
  readonly experiment: string;
  /** The mean where the experiment has several of the key; null where it has none. */
  readonly value: number | null;
  /** Number of scores that `value` is the mean of. */
  readonly scored: number;
  /** Number of occurrences of each value that is no score, such as `friendly`. */
  readonly values: Readonly<Record<string, number>>;
  /** Value minus that of the baseline; null where one of the two has none, absent for the baseline. */
  readonly difference?: number | null;
}

/** A key of scores of whole experiments, with a result for each experiment in their order. */
export interface ExperimentScores {
  readonly key: string;
  readonly direction: Direction;
  readonly results: readonly ExperimentScoreResult[];
}

interface Statistics {
  readonly avg: number | null;
  readonly n: number;
  /** Number of scores; absent when it is `n`. */
  readonly scores?: number;
  readonly values: Readonly<Record<string, number>>;
}

/** Statistics of an experiment's own feedback, the baseline's first: JSON text by key. */
interface Described {
  readonly id: string;
  readonly session_feedback_stats: string | null;
}

/** Compares the scores that experiments have as a whole; `keys` undefined for all. One number each cannot be tested. */
export function compareExperimentScores(
  experiments: readonly Described[],
  keys: readonly string[] | undefined,
  direction: (key: string) => Direction,
): ExperimentScores[] {
  const known = experiments.map(
    ({ session_feedback_stats: text }) =>
      new Map(Object.entries(JSON.parse(text ?? '{}') as Readonly<Record<string, Statistics>>)),
  );
  const names = [...new Set(known.flatMap((statistics) => [...statistics.keys()]))].sort();
  return names
    .filter((key) => keys?.includes(key) ?? true)
    .map((key) => {
      const before = known[0]?.get(key)?.avg ?? null;
      const results = experiments.map(({ id }, place) => {
        const { avg: value = null, n = 0, scores = n, values = {} } = known[place]!.get(key) ?? {};
        const result = { experiment: id, value, scored: value === null ? 0 : scores, values };
        if (place === 0) return result;
        return { ...result, difference: value === null || before === null ? null : value - before };
      });
      return { key, direction: direction(key), results };
    });
}
