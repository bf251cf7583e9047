import { shape } from '@fairlead/api';
import { PROVIDERS } from './integration';

const { boolean, integer, noted, nullable, object, oneOf, page, text, time, uuid } = shape;

export const integration = object('Integration', {
  id: noted(uuid, 'Identifier of the integration.'),
  name: noted(text, 'Name that people see.'),
  provider: noted(oneOf(...PROVIDERS), 'Kind of code host; `gitea` is Forgejo as well.'),
  base_url: noted(text, 'Address of the code host.'),
  auth: noted(oneOf('token', 'app'), 'Kind of credentials: a token, or a GitHub App.'),
  app_id: noted(nullable(integer), 'Identifier of the GitHub App; null for an integration with a token.'),
  installation_id: noted(nullable(integer), 'Installation of the GitHub App; null for an integration with a token.'),
  webhook_configured: noted(boolean, 'Whether a `webhook_secret` is stored, so that pushes of the host are accepted.'),
  created_at: noted(time, 'When the integration was added.'),
  updated_at: noted(time, 'When the integration last changed.'),
});
export const integrations = page('IntegrationsList', integration);

export const installation = object('CodeHostInstallation', {
  id: noted(uuid, 'Identifier of the integration.'),
  installation_id: noted(integer, 'Installation of the GitHub App; 0 for an integration with a token.'),
  name: noted(text, 'Name of the integration.'),
});

export const repository = object('Repository', {
  host_integration_id: noted(
    uuid,
    'Integration that reads the repository; value for `source_config.integration_id` of a deployment.',
  ),
  id: noted(integer, 'Identifier of the repository at its host.'),
  name: noted(text, 'Name of the repository, without its owner.'),
  owner: noted(text, 'User, group or workspace that the repository belongs to.'),
  url: noted(text, 'Address of the repository; value for `source_config.repo_url` of a deployment.'),
  default_branch: noted(text, 'Default branch; value for `source_revision_config.repo_ref` of a deployment.'),
});
