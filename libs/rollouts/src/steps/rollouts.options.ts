/** Settings of rollouts; the class is also their injection token. Times are milliseconds. */
export class RolloutsOptions {
  /** For one attempt at a revision, building included. */
  readonly timeLimit: number;
  /** Attempts at a revision that ended without a word, because the service was stopped or killed. */
  readonly attempts: number;
  /** Deployments that are worked on at a time. */
  readonly concurrency: number;
  /** Deployments of one workspace among them: three quarters, so that there is a place for the next workspace. */
  readonly mostOfTenant: number;
  /** Treatment of the remains of a failed revision: the active one takes its place again, or they stay. */
  readonly onFailure: 'rollback' | 'keep';
  /** Reaction to a change of the running program by somebody else: it is reported, or undone as well. */
  readonly onDrift: 'report' | 'repair';
  /** Time between two looks at a running program (ms). */
  readonly watchEvery: number;
  /** Rollouts of a process that may wait beside these, and those of one workspace among them. */
  readonly mostWaiting: number;
  readonly mostWaitingOfTenant: number;
  /** Time for which the work of a killed process rests before another takes it up (ms). */
  readonly lease: number;
  /** First and longest pause before an executor that could not be reached is asked again. */
  readonly retry: { readonly first: number; readonly most: number };

  constructor(options: Partial<RolloutsOptions> = {}) {
    this.timeLimit = options.timeLimit ?? 30 * 60_000;
    this.attempts = options.attempts ?? 5;
    this.concurrency = options.concurrency ?? 8;
    this.mostOfTenant = Math.max(1, Math.floor(this.concurrency * 0.75));
    this.onFailure = options.onFailure ?? 'rollback';
    this.onDrift = options.onDrift ?? 'report';
    this.watchEvery = options.watchEvery ?? 60_000;
    this.mostWaiting = options.mostWaiting ?? 16 * this.concurrency;
    this.mostWaitingOfTenant = Math.max(1, Math.floor(this.mostWaiting * 0.75));
    this.lease = options.lease ?? 10_000;
    this.retry = options.retry ?? { first: 1000, most: 30_000 };
  }
}
