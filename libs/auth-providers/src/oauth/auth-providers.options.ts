import type { OutboundPolicy } from '@fairlead/outbound';

/** Settings of the OAuth providers' service; the class is also their injection token. */
export class AuthProvidersOptions {
  constructor(
    /** Which hosts may be called on behalf of a tenant. */
    readonly outbound: OutboundPolicy,
    /** Where browsers reach this service, e.g. `https://fairlead.example`; the address of each request when absent. */
    readonly publicUrl?: string,
  ) {}
}
