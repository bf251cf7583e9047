import { OutboundPolicy } from '@fairlead/outbound';

const DAY = 24 * 3_600_000;

/** Settings of webhooks; the class is also their injection token. Times are milliseconds. */
export class WebhooksOptions {
  readonly outbound: OutboundPolicy;
  /** For one attempt, until the answer is there. */
  readonly timeLimit: number;
  /** Finished deliveries are kept for so long. */
  readonly retention: number;
  /** Deliveries that are under way to one target at a time. */
  readonly lanes: number;
  /** Targets that this process sends to at a time. */
  readonly targets: number;
  /** Targets of one workspace that are sent to at a time, by all processes together. */
  readonly targetsPerTenant: number;
  /** Deliveries of a webhook that wait; beyond it the oldest are set aside. */
  readonly mostPending: number;
  /** Finished deliveries of a webhook that are kept. */
  readonly mostLogged: number;
  /** Time for which the targets of a killed process rest before another process sends to them (ms). */
  readonly lease: number;
  /** Time that deliveries in progress have when the process ends (ms). */
  readonly grace: number;
  /** The quota of a workspace when it is not that of the installation. */
  readonly mostPerTenant?: number;
  /** The time of the schedule, as of `Date.now`. */
  readonly now: () => number;

  constructor(options: Partial<WebhooksOptions> = {}) {
    this.outbound = options.outbound ?? new OutboundPolicy();
    this.timeLimit = options.timeLimit ?? 15_000;
    this.retention = options.retention ?? 30 * DAY;
    this.lanes = options.lanes ?? 4;
    this.targets = options.targets ?? 200;
    this.targetsPerTenant = options.targetsPerTenant ?? 20;
    this.mostPending = options.mostPending ?? 1000;
    this.mostLogged = options.mostLogged ?? 10_000;
    this.lease = options.lease ?? 10_000;
    this.grace = options.grace ?? 5000;
    this.mostPerTenant = options.mostPerTenant;
    this.now = options.now ?? Date.now;
  }
}
