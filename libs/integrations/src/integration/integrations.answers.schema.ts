import { bool, int, literal, note, nullable, object, str, timestamp, uuid } from '@fairlead/schema';
import { page } from '@fairlead/api';
import { PROVIDERS } from './integration';

export const integration = object('Integration', {
  id: note(uuid(), 'Identifier of the integration.'),
  name: note(str(), 'Name that people see.'),
  provider: note(literal(PROVIDERS), 'Kind of code host; `gitea` is Forgejo as well.'),
  base_url: note(str(), 'Address of the code host.'),
  auth: note(literal(['token', 'app']), 'Kind of credentials: a token, or a GitHub App.'),
  app_id: note(nullable(int()), 'Identifier of the GitHub App; null for an integration with a token.'),
  installation_id: note(nullable(int()), 'Installation of the GitHub App; null for an integration with a token.'),
  webhook_configured: note(bool(), 'Whether a `webhook_secret` is stored, so that pushes of the host are accepted.'),
  created_at: note(timestamp(), 'When the integration was added.'),
  updated_at: note(timestamp(), 'When the integration last changed.'),
});
export const integrations = page('IntegrationsList', integration);

export const installation = object('CodeHostInstallation', {
  id: note(uuid(), 'Identifier of the integration.'),
  installation_id: note(int(), 'Installation of the GitHub App; 0 for an integration with a token.'),
  name: note(str(), 'Name of the integration.'),
});

export const repository = object('Repository', {
  host_integration_id: note(
    uuid(),
    'Integration that reads the repository; value for `source_config.integration_id` of a deployment.',
  ),
  id: note(int(), 'Identifier of the repository at its host.'),
  name: note(str(), 'Name of the repository, without its owner.'),
  owner: note(str(), 'User, group or workspace that the repository belongs to.'),
  url: note(str(), 'Address of the repository; value for `source_config.repo_url` of a deployment.'),
  default_branch: note(str(), 'Default branch; value for `source_revision_config.repo_ref` of a deployment.'),
});
