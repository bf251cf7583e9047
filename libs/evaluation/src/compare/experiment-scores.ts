import type { Direction, ExperimentScores } from './compare.answers.schema';
import type { LabelValues } from './score-table';

interface Statistics {
  readonly avg: number | null;
  readonly n: number;
  readonly scores?: number;
  readonly values: Readonly<Record<string, number>>;
}

export type Known = ReadonlyMap<string, Statistics>;

export function statisticsOf({ session_feedback_stats: text }: { session_feedback_stats: string | null }): Known {
  return new Map(Object.entries(JSON.parse(text ?? '{}') as Readonly<Record<string, Statistics>>));
}

export function labelledKeys(known: Known): string[] {
  return [...known].flatMap(([key, { values }]) => (Object.keys(values).length > 0 ? key : []));
}

export function hasUnclear(known: Known): boolean {
  return [...known.values()].some(
    ({ avg, n, scores = n, values }) => n > (avg === null ? 0 : scores) + sumOf(Object.values(values)),
  );
}

/**
 * Compares the scores that experiments have as a whole; `keys` undefined for all. One number each cannot be tested.
 * @param structured `<experiment> <key>` of each value that is an object or a list
 */
export function compareExperimentScores(
  experiments: readonly { readonly id: string }[],
  known: readonly Known[],
  keys: readonly string[] | undefined,
  direction: (key: string) => Direction,
  labelValues: ReadonlyMap<string, LabelValues>,
  structured: ReadonlySet<string>,
): ExperimentScores[] {
  const names = [...new Set(known.flatMap((statistics) => [...statistics.keys()]))].sort();
  return names
    .filter((key) => keys?.includes(key) ?? true)
    .map((key) => {
      const told = known.map((one) => valueOf(one.get(key), labelValues.get(key)));
      const before = told[0]?.value ?? null;
      const results = experiments.map(({ id }, place) => {
        const { value, scored, values } = told[place]!;
        const uncompared = structured.has(`${id} ${key}`);
        const result = { experiment: id, value, scored, values, ...(uncompared && { structured: true }) };
        if (place === 0) return result;
        return { ...result, difference: value === null || before === null ? null : value - before };
      });
      return { key, direction: direction(key), results };
    });
}

/** Labels stand for the score where there is none, and each of them has a value. */
function valueOf(statistics: Statistics | undefined, numbers: LabelValues = new Map()) {
  const { avg = null, n = 0, scores = n, values = {} } = statistics ?? {};
  const labels = Object.entries(values);
  if (avg !== null || labels.length === 0 || !labels.every(([label]) => numbers.has(label))) {
    return { value: avg, scored: avg === null ? 0 : scores, values };
  }
  const scored = sumOf(Object.values(values));
  const value = sumOf(labels.map(([label, count]) => count * numbers.get(label)!)) / scored;
  return { value, scored, values };
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}
