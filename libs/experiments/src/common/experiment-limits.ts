export class ExperimentLimits {
  /** Most bytes of a body, after decompression. */
  readonly maxBytes: number;
  /** Most bytes of one element of `results`, or of one other value. */
  readonly maxRowBytes: number;
  /** Most bytes of all members other than `results` and `summary_experiment_scores` together. */
  readonly maxHeaderBytes: number;
  /** Most containers within one another, the body included. */
  readonly maxDepth: number;
  /** Most bytes that one compressed byte may stand for. */
  readonly maxRatio: number;
  /** Uploads that are received at a time; further ones wait a moment and are then told to come again. */
  readonly maxUploads: number;
  readonly maxRuns: number;
  /** Numbers that a comparison may hold: of all rows, keys and experiments together, eight bytes each. */
  readonly maxComparedCells: number;
  /** Pairs of scores of all keys that a gate resamples. */
  readonly maxComparedPairs: number;
  /** Milliseconds without a byte after which an upload is given up. */
  readonly idleMs: number;

  constructor(limits: Partial<ExperimentLimits> = {}) {
    this.maxBytes = limits.maxBytes ?? 256 * 1024 * 1024;
    this.maxRowBytes = limits.maxRowBytes ?? 16 * 1024 * 1024;
    this.maxHeaderBytes = limits.maxHeaderBytes ?? 512 * 1024;
    this.maxDepth = limits.maxDepth ?? 100;
    this.maxRatio = limits.maxRatio ?? 300;
    this.maxRuns = limits.maxRuns ?? 5000;
    this.maxUploads = limits.maxUploads ?? 8;
    this.maxComparedCells = limits.maxComparedCells ?? 32_000_000;
    this.maxComparedPairs = limits.maxComparedPairs ?? 4_000_000;
    this.idleMs = limits.idleMs ?? 30_000;
  }
}
