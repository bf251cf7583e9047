import type { Integration } from './integration';

/** Returns an integration as answers show it, without its credentials. */
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
    reports: state.reports ?? [],
    created_at: state.created_at,
    updated_at: state.updated_at,
  };
}

/** Returns an integration for the list that clients choose from. With a token, it has no installation: 0. */
export function installRecord({ id, name, auth }: Integration) {
  return { id, installation_id: auth.kind === 'app' ? auth.installation_id : 0, name };
}

/** A repository of a code host. */
export interface Repository {
  readonly id: number;
  readonly name: string;
  readonly owner: string;
  readonly url: string;
  readonly default_branch: string;
}

/** Returns a repository as answers show it, with exactly these six members. */
export function repositoryRecord(integrationId: string, { id, name, owner, url, default_branch }: Repository) {
  return { host_integration_id: integrationId, id, name, owner, url, default_branch };
}
