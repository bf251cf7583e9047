/** The request contradicts a rule of integrations; the message names the member. */
export class InvalidIntegration extends Error {
  override name = 'InvalidIntegration';
}

/** No such integration for this tenant, or it has been removed. */
export class IntegrationNotFound extends Error {
  override name = 'IntegrationNotFound';
  constructor(id: string) {
    super(`Integration ID ${id} not found.`);
  }
}

/** What the code host said was no push that can be trusted or understood. */
export class DeliveryRefused extends Error {
  override name = 'DeliveryRefused';
  constructor(
    readonly status: 400 | 401,
    message: string,
  ) {
    super(message);
  }
}

/** The code host gave no usable answer. The sentence tells nothing that the host sent but its status. */
export class CodeHostFailed extends Error {
  override name = 'CodeHostFailed';
  constructor(
    message: string,
    /** The host may answer the same request later: it is down or wants fewer requests. */
    readonly passing: boolean,
    /** Seconds after which the host wants to be asked again. */
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

/** The code host took too long. */
export class CodeHostTooSlow extends Error {
  override name = 'CodeHostTooSlow';
}

/** The code host has no such repository, branch, tag or commit, as far as the integration may see. */
export class CommitNotFound extends Error {
  override name = 'CommitNotFound';
}
