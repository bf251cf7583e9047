import { shape } from '@fairlead/api';
import { PROVIDERS } from './integration';

const { boolean, integer, noted, nullable, object, oneOf, page, text, time, uuid } = shape;

export const integration = object('Integration', {
  id: uuid,
  name: text,
  provider: oneOf(...PROVIDERS),
  base_url: text,
  auth: oneOf('token', 'app'),
  app_id: nullable(integer),
  installation_id: nullable(integer),
  webhook_configured: boolean,
  created_at: time,
  updated_at: time,
});
export const integrations = page('IntegrationsList', integration);

export const installation = object('CodeHostInstallation', {
  id: uuid,
  installation_id: noted(integer, '0 for an integration with a token.'),
  name: text,
});

export const repository = object('Repository', {
  host_integration_id: noted(uuid, 'Goes into `source_config.integration_id` of a deployment.'),
  id: integer,
  name: text,
  owner: text,
  url: noted(text, 'Goes into `source_config.repo_url`.'),
  default_branch: noted(text, 'Goes into `source_revision_config.repo_ref`.'),
});

export const delivered = object('WebhookReceived', { pushes: noted(integer, 'Pushes that the delivery told of.') });
