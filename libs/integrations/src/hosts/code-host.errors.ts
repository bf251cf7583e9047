import { GatewayTimeout, HttpProblem, NotFound } from '@fairlead/schema';

/** The code host gave no usable answer. The sentence tells nothing that the host sent but its status. */
export class CodeHostFailed extends HttpProblem {
  constructor(
    detail: string,
    /** The host may answer the same request later: it is down or wants fewer requests. */
    readonly passing: boolean,
    /** Seconds after which the host wants to be asked again. */
    readonly retryAfter?: number,
  ) {
    super(502, detail, retryAfter === undefined ? {} : { headers: { 'retry-after': String(retryAfter) } });
  }
}

/** The code host took too long. */
export class CodeHostTooSlow extends GatewayTimeout {}

/** The code host has no such repository, branch, tag or commit, as far as the integration may see. */
export class CommitNotFound extends NotFound {}
