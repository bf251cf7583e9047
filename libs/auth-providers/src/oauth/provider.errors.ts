import { BadRequest, Conflict, HttpProblem, NotFound } from '@fairlead/schema';

/** No such provider for this tenant, or it has been removed. */
export class ProviderNotFound extends NotFound {
  constructor(id: string) {
    super(`OAuth provider '${id}' not found`);
  }
}

/** Another provider of the tenant has this provider_id. */
export class ProviderIdTaken extends Conflict {
  constructor(providerId: string) {
    super(`OAuth provider '${providerId}' already exists.`);
  }
}

/** The request contradicts a rule of providers; the sentence names the member. */
export class InvalidProvider extends BadRequest {}

/** Kind of failure of another server. No message repeats what that server sent. */
export type ProviderFault = 'refused' | 'slow' | 'failed';

/** A provider, or a server found through one, gave no usable answer (502) or took too long (504). */
export class ProviderFailed extends HttpProblem {
  constructor(
    readonly fault: ProviderFault,
    detail: string,
    /** The `error` code of an OAuth answer, e.g. `invalid_grant`. */
    readonly code?: string,
  ) {
    super(fault === 'slow' ? 504 : 502, detail, fault === 'slow' ? { headers: { 'retry-after': '5' } } : {});
  }
}
