import { OutboundPolicy } from '@fairlead/outbound';

/** How often and how patiently a code host is asked again. Milliseconds, `attempts` apart. */
interface Retry {
  readonly attempts: number;
  /** Before the second attempt; doubled with every further one. */
  readonly backoff: number;
  /** A host that asks for a longer pause is given up at once. */
  readonly longestWait: number;
}

/** Settings of the integrations service; the class is also their injection token. */
export class IntegrationsOptions {
  constructor(
    readonly outbound = new OutboundPolicy(),
    readonly retry: Retry = { attempts: 3, backoff: 300, longestWait: 20_000 },
    /** Milliseconds for which a list of repositories is answered without asking the host again. */
    readonly fresh = 30_000,
    /** Milliseconds for which a list may stand in for a host that is down. */
    readonly stale = 24 * 3_600_000,
    /** Milliseconds for a whole list, however steadily its pages come. */
    readonly listDeadline = 120_000,
    /** Milliseconds to find one commit. */
    readonly commitDeadline = 20_000,
  ) {}
}
