/** Number of buckets of latencies: bucket n counts those up to 1.25ⁿ ms, the last one all that are longer. */
const LATENCY_BUCKETS = 64;
const RATIO = 1.25;
const MINUTE_MS = 60_000;

/** Requests of one minute to the program of a deployment. */
export interface RequestCounts {
  requests: number;
  /** Requests that were answered with a status of 500 or more, or not at all. */
  errors: number;
  /** Times until responses began, by bucket. */
  readonly latency: number[];
}

/** Counts requests by deployment and minute until they are taken. */
export class RequestCounter {
  private counts = new Map<string, Map<number, RequestCounts>>();

  /** Counts a request that has ended at `now`; `ms` is null where no response began. */
  count(deploymentId: string, now: number, isError: boolean, ms: number | null): void {
    const minutes = this.counts.get(deploymentId) ?? new Map<number, RequestCounts>();
    this.counts.set(deploymentId, minutes);
    const at = minuteOf(now);
    const counts = minutes.get(at) ?? { requests: 0, errors: 0, latency: new Array<number>(LATENCY_BUCKETS).fill(0) };
    minutes.set(at, counts);
    counts.requests++;
    if (isError) counts.errors++;
    if (ms !== null) counts.latency[bucketOf(ms)]!++;
  }

  /** Returns the counts since the last call, by deployment and by the beginning of the minute (ms since 1970). */
  take(): ReadonlyMap<string, ReadonlyMap<number, RequestCounts>> {
    const taken = this.counts;
    this.counts = new Map();
    return taken;
  }
}

/** The beginning of the minute of a time (both in ms since 1970). */
export function minuteOf(time: number): number {
  return Math.floor(time / MINUTE_MS) * MINUTE_MS;
}

function bucketOf(ms: number): number {
  return ms <= 1 ? 0 : Math.min(LATENCY_BUCKETS - 1, Math.ceil(Math.log(ms) / Math.log(RATIO)));
}

/** The quantile of the latencies in some buckets (ms), exact to an eighth; null when there are none. */
export function latencyAt(buckets: readonly number[], quantile: number): number | null {
  const total = buckets.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = Math.max(1, Math.ceil(total * quantile));
  const at = buckets.findIndex((count) => (left -= count) <= 0);
  return Math.round(at === 0 ? 1 : RATIO ** (at - 0.5));
}
