export class ExperimentLimits {
  /** Most bytes of a body, after decompression. */
  readonly maxBytes: number = 256 * 1024 * 1024;
  /** Most bytes of one element of `results`, or of one other value. */
  readonly maxRowBytes: number = 16 * 1024 * 1024;
  /** Most bytes of all members other than `results` and `summary_experiment_scores` together. */
  readonly maxHeaderBytes: number = 512 * 1024;
  /** Most containers within one another, the body included. */
  readonly maxDepth: number = 100;
  /** Most bytes that one compressed byte may stand for. */
  readonly maxRatio: number = 300;
  /** Uploads that are received at a time; further ones wait a moment and are then told to come again. */
  readonly maxUploads: number = 8;
  readonly maxRuns: number = 5000;
  /** Numbers that a comparison may hold: of all rows, keys and experiments together, eight bytes each. */
  readonly maxComparedCells: number = 32_000_000;
  /** Pairs of scores of all keys that a gate resamples. */
  readonly maxComparedPairs: number = 4_000_000;
  /** Milliseconds without a byte after which an upload is given up. */
  readonly idleMs: number = 30_000;

  constructor(limits: Partial<ExperimentLimits> = {}) {
    Object.assign(this, Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)));
  }
}
