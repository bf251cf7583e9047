import type { Integration } from './integration';

/** An integration as answers show it: never its credentials. */
export function integrationRecord({ id, name, provider, base_url, auth, ...state }: Integration) {
  return {
    id,
    name,
    provider,
    base_url,
    auth: auth.kind,
    app_id: auth.kind === 'app' ? auth.app_id : null,
    installation_id: auth.kind === 'app' ? auth.installation_id : null,
    webhook_configured: state.webhook_secret !== null,
    created_at: state.created_at,
    updated_at: state.updated_at,
  };
}

/** An integration in the listing that clients choose from. An integration with a token has no installation: 0. */
export function installRecord({ id, name, auth }: Integration) {
  return { id, installation_id: auth.kind === 'app' ? auth.installation_id : 0, name };
}

/** What a code host tells of one repository. */
export interface Repository {
  readonly id: number;
  readonly name: string;
  readonly owner: string;
  readonly url: string;
  readonly default_branch: string;
}

/** A repository as answers show it: exactly these six members. */
export function repositoryRecord(integrationId: string, { id, name, owner, url, default_branch }: Repository) {
  return { host_integration_id: integrationId, id, name, owner, url, default_branch };
}
