import type { RequestCounts } from '@fairlead/contracts';

export const PERIODS = ['minute', 'hour'] as const;
export type Period = (typeof PERIODS)[number];

const PERIOD_MS: Readonly<Record<Period, number>> = { minute: 60_000, hour: 3_600_000 };
/** Time for which the rows of each period are kept (ms). */
export const KEPT_MS: Readonly<Record<Period, number>> = { minute: 86_400_000, hour: 31 * 86_400_000 };

/** Measurements of one deployment at a time (ms since 1970); null: not measured. */
export interface Sample {
  readonly tenantId: string;
  readonly deploymentId: string;
  readonly at: number;
  readonly counts: RequestCounts | null;
  readonly memoryBytes: number | null;
  /** Restarts since the sample before. */
  readonly restarts: number | null;
}

/** Samples of one deployment in one period, added up; of the memory, the most. */
export interface MetricsRow extends Sample {
  readonly period: Period;
}

/** Adds samples up to rows of both periods, in the order of their keys, so that writers do not wait for one another. */
export function rowsOf(samples: readonly Sample[]): MetricsRow[] {
  const rows = new Map<string, MetricsRow>();
  for (const sample of samples) {
    for (const period of PERIODS) {
      const at = Math.floor(sample.at / PERIOD_MS[period]) * PERIOD_MS[period];
      const key = `${sample.tenantId} ${sample.deploymentId} ${period} ${new Date(at).toISOString()}`;
      rows.set(key, { ...added(rows.get(key), sample), at, period });
    }
  }
  return [...rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
}

function added(before: Sample | undefined, sample: Sample): Sample {
  if (!before) return sample;
  return {
    ...sample,
    counts: sumOf(before.counts, sample.counts, both),
    memoryBytes: sumOf(before.memoryBytes, sample.memoryBytes, Math.max),
    restarts: sumOf(before.restarts, sample.restarts, (one, other) => one + other),
  };
}

function both(one: RequestCounts, other: RequestCounts): RequestCounts {
  const [short, long] = one.latency.length < other.latency.length ? [one, other] : [other, one];
  const latency = long.latency.map((count, bucket) => count + (short.latency[bucket] ?? 0));
  return { requests: one.requests + other.requests, errors: one.errors + other.errors, latency };
}

/** Returns the sum of two measurements, or the one that is there. */
function sumOf<T>(one: T | null, other: T | null, sum: (one: T, other: T) => T): T | null {
  if (one === null || other === null) return one ?? other;
  return sum(one, other);
}
