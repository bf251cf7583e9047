/** No such provider for this tenant, or it has been removed. */
export class ProviderNotFound extends Error {
  override name = 'ProviderNotFound';
  constructor(id: string) {
    super(`OAuth provider '${id}' not found`);
  }
}

/** Another provider of the tenant has this provider_id. */
export class ProviderIdTaken extends Error {
  override name = 'ProviderIdTaken';
  constructor(providerId: string) {
    super(`OAuth provider '${providerId}' already exists.`);
  }
}

/** The request contradicts a rule of providers; the message names the member. */
export class InvalidProvider extends Error {
  override name = 'InvalidProvider';
}

/** No such token for this tenant, or it has been removed. */
export class TokenNotFound extends Error {
  override name = 'TokenNotFound';
  constructor(id: string) {
    super(`OAuth token ID ${id} not found.`);
  }
}

export class ConnectionNotFound extends Error {
  override name = 'ConnectionNotFound';
  constructor(id: string) {
    super(`Connection ID ${id} not found.`);
  }
}

/** An authorisation that cannot be finished: its state is unknown, used or too old, or the provider said no. */
export class AuthorizationRefused extends Error {
  override name = 'AuthorizationRefused';
}

/** How another server failed us. No message repeats what that server sent. */
export type ProviderFault = 'refused' | 'slow' | 'failed';

/** A provider, or a server found through one, gave no usable answer. */
export class ProviderFailed extends Error {
  override name = 'ProviderFailed';
  constructor(
    readonly fault: ProviderFault,
    message: string,
    /** The `error` code of an OAuth answer, e.g. `invalid_grant`. */
    readonly code?: string,
  ) {
    super(message);
  }
}
