import { OutboundPolicy } from '@fairlead/outbound';

/** Retries of requests to a code host; times in milliseconds. */
interface Retry {
  readonly attempts: number;
  /** Pause before the second attempt; doubled with each further one. */
  readonly backoff: number;
  /** Longest pause that a host may ask for; beyond it, there is no retry. */
  readonly longestWait: number;
}

/** Limits on stored deliveries, and on the time that a host is asked about one (ms). */
interface Deliveries {
  /** Pauses after the first, second … attempt to ask the host; the last one is repeated. */
  readonly pauses: readonly number[];
  /** Time after which a delivery is set aside when the host did not answer. */
  readonly patience: number;
  /** Time in which equal bodies without an id of the host are the same delivery. */
  readonly repetition: number;
  readonly retention: number;
  readonly mostOfIntegration: number;
  readonly mostOfTenant: number;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DELIVERIES: Deliveries = {
  pauses: [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR],
  patience: 8 * HOUR,
  repetition: 10 * MINUTE,
  retention: 30 * 24 * HOUR,
  mostOfIntegration: 1000,
  mostOfTenant: 10_000,
};

/** Settings of the integrations service; the class is also their injection token. */
export class IntegrationsOptions {
  constructor(
    readonly outbound = new OutboundPolicy(),
    /** Address at which people reach the console, for links; undefined where it is not known. */
    readonly publicUrl?: string,
    readonly retry: Retry = { attempts: 3, backoff: 300, longestWait: 20_000 },
    /** Age up to which a list of repositories is answered without a request to the host (ms). */
    readonly fresh = 30_000,
    /** Age up to which a list is answered while the host is down (ms). */
    readonly stale = 24 * 3_600_000,
    /** Time limit of a whole list (ms). */
    readonly listDeadline = 120_000,
    /** Time limit for finding one commit (ms). */
    readonly commitDeadline = 20_000,
    readonly deliveries = DELIVERIES,
  ) {}
}
