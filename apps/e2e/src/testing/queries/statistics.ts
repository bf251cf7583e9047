import { type Feedback, micros, type Run } from './things';

/** Seconds that a run took, null while it goes on. */
export function latencyOf({ start, end }: Run): number | null {
  return end === null ? null : Math.max(0, (micros(end) - micros(start)) / 1_000_000);
}

/** The means of the scores by key, null where no feedback of a key has a score. */
export function meansOf(given: readonly Feedback[]): Map<string, number | null> {
  const keys = [...new Set(given.map(({ key }) => key))];
  return new Map(
    keys.map((key) => {
      const scores = given.flatMap((one) => (one.key === key && one.score !== null ? [one.score] : []));
      return [key, scores.length > 0 ? mean(scores) : null];
    }),
  );
}

export function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}

/** The statistics of runs that sessions and queries show; null of no runs. */
export function latenciesOf(runs: readonly Run[]) {
  const latencies = runs.flatMap((run) => latencyOf(run) ?? []);
  return {
    latency_p50: quantile(latencies, 0.5),
    latency_p99: quantile(latencies, 0.99),
    latency_avg: latencies.length > 0 ? mean(latencies) : null,
    error_rate: runs.length > 0 ? mean(runs.map(({ error }) => Number(error !== null))) : null,
  };
}

/** The quantile between the two nearest numbers, as `percentile_cont` of SQL defines it. */
function quantile(numbers: readonly number[], fraction: number): number | null {
  if (numbers.length === 0) return null;
  const sorted = [...numbers].sort((a, b) => a - b);
  const place = (sorted.length - 1) * fraction;
  const [low, high] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
  return low + (high - low) * (place - Math.floor(place));
}

/** Sorts by several keys, of which null comes last whatever the direction. */
export function sortedBy<T>(things: readonly T[], ...keys: readonly SortKey<T>[]): T[] {
  return [...things].sort((a, b) => {
    for (const [keyOf, descending] of keys) {
      const [one, two] = [keyOf(a), keyOf(b)];
      if (one === two) continue;
      if (one === null || two === null) return one === null ? 1 : -1;
      return one < two !== descending ? -1 : 1;
    }
    return 0;
  });
}

type SortKey<T> = readonly [key: (thing: T) => string | number | null, descending: boolean];
