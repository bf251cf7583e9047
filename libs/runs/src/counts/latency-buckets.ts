/** Each bucket ends at this multiple of its start: the middle of a bucket differs from what is in it by at most 4.4 %. */
const GROWTH = 2 ** (1 / 8);
const SHORTEST_S = 0.001;
const COUNT = 218;

/** Seconds at which buckets begin, rounded, so that they are the same on every machine. Bucket 0 has what is shorter. */
const STARTS = Array.from({ length: COUNT + 1 }, (_, nth) => Number((SHORTEST_S * GROWTH ** nth).toPrecision(6)));

/** Bucket of runs that have no latency yet, and of usage of runs that are no roots. */
export const NO_LATENCY = -1;

/** SQL: the bucket of a latency in seconds. */
export function bucketOf(latency: string): string {
  return `coalesce(width_bucket(${latency}, '{${STARTS.join(',')}}'::float8[]), ${NO_LATENCY})`;
}

/** The latency in seconds that stands for all in a bucket; of the last one, which has no end, its start. Null of no bucket. */
export function latencyIn(bucket: number | null): number | null {
  if (bucket === null) return null;
  if (bucket === 0) return SHORTEST_S / 2;
  const [start, end] = [STARTS[bucket - 1]!, STARTS[bucket] ?? STARTS[bucket - 1]!];
  return Number(((2 * start * end) / (start + end)).toPrecision(4));
}
