import { OutboundPolicy } from '@fairlead/outbound';

/** Retries of requests to a code host; times in milliseconds. */
interface Retry {
  readonly attempts: number;
  /** Pause before the second attempt; doubled with each further one. */
  readonly backoff: number;
  /** Longest pause that a host may ask for; beyond it, there is no retry. */
  readonly longestWait: number;
}

/** Settings of the integrations service; the class is also their injection token. */
export class IntegrationsOptions {
  constructor(
    readonly outbound = new OutboundPolicy(),
    readonly retry: Retry = { attempts: 3, backoff: 300, longestWait: 20_000 },
    /** Age up to which a list of repositories is answered without a request to the host (ms). */
    readonly fresh = 30_000,
    /** Age up to which a list is answered while the host is down (ms). */
    readonly stale = 24 * 3_600_000,
    /** Time limit of a whole list (ms). */
    readonly listDeadline = 120_000,
    /** Time limit for finding one commit (ms). */
    readonly commitDeadline = 20_000,
  ) {}
}
