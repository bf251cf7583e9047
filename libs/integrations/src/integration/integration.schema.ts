import { page, paging } from '@fairlead/api';
import {
  bool,
  fixed,
  int,
  list,
  literal,
  note,
  nullable,
  object,
  optional,
  refine,
  secret,
  str,
  timestamp,
  uuid,
  webUrl,
} from '@fairlead/schema';
import { type Credentials, PROVIDERS } from './integration';
import { InvalidIntegration } from './integration.errors';

const MOST_INTEGER = Number.MAX_SAFE_INTEGER;
const LEAST_SECRET = 16;
const MOST_REPORTED = 100;
const HEADER_TEXT = /^[\x21-\x7e]+$/;

/** Goes into a header, so that anything but visible ASCII would be another header or none. */
const token = secret(
  refine(str({ min: 1, max: 4096 }), (value) =>
    HEADER_TEXT.test(value) ? undefined : 'only visible ASCII characters without spaces are allowed',
  ),
);

const credentials = object('IntegrationCredentials', {
  token: note(optional(token), 'Access token: visible ASCII. Either it or the three members of a GitHub App.'),
  app_id: note(optional(int({ ge: 1, le: MOST_INTEGER })), 'Identifier of a GitHub App.'),
  installation_id: note(optional(int({ ge: 1, le: MOST_INTEGER })), 'Installation of the GitHub App.'),
  private_key: note(optional(secret(str({ min: 1, max: 16_384 }))), 'Private key of the GitHub App: RSA in PEM.'),
});

const webhookSecret = note(
  secret(str({ min: LEAST_SECRET, max: 256 })),
  'Secret that the code host signs its push deliveries with; absent: its deliveries are refused. Sealed, never answered.',
);
const reported = object(
  'ReportedRepository',
  {
    repo_url: note(
      webUrl(),
      'Address of a repository of the host, as deployments have it in `source_config.repo_url`.',
    ),
    statuses: note(optional(bool(), true), 'Commits get a status with the verdict of the gates.'),
    comments: note(
      optional(bool(), true),
      'Open pull requests get one comment with the verdict and the comparison, which is replaced.',
    ),
  },
  { closed: true },
);
const reports = note(
  list(reported, { max: MOST_REPORTED }),
  'Repositories that are told the verdicts of gates. Nothing is sent to any other repository.',
);
const name = note(str({ min: 1, max: 255 }), 'Name that people see.');

/** Body of POST /v1/integrations. */
export const addRequest = object('IntegrationCreateRequest', {
  name,
  provider: note(
    literal(PROVIDERS, { aliases: { forgejo: 'gitea' } }),
    'Kind of code host, which cannot change; `forgejo` is another name of `gitea`.',
  ),
  base_url: note(
    optional(webUrl()),
    'Address of the code host. Default: the public host of the provider; required for `gitea`.',
  ),
  credentials: note(credentials, 'What the service proves itself with; sealed, never answered.'),
  webhook_secret: optional(webhookSecret),
  reports: optional(reports),
});

/** Body of PATCH. */
export const changeRequest = object('IntegrationPatchRequest', {
  name: optional(name),
  provider: fixed(literal(PROVIDERS, { aliases: { forgejo: 'gitea' } })),
  base_url: note(optional(webUrl()), 'Address of the code host; another one needs `credentials` in the same request.'),
  credentials: note(optional(credentials), 'Replaces what the service proves itself with.'),
  webhook_secret: optional(webhookSecret),
  reports: optional(reports),
});

export const integrationPath = object({
  integration_id: note(uuid(), 'The `id` of an integration of this workspace.'),
});
export const integrationsQuery = object(paging);

/** @throws InvalidIntegration unless there is a token, or all that an App needs, and not both. */
export function credentialsOf(sent: {
  readonly token?: string;
  readonly app_id?: number;
  readonly installation_id?: number;
  readonly private_key?: string;
}): Credentials {
  const { token, app_id, installation_id, private_key } = sent;
  const hasApp = app_id !== undefined || installation_id !== undefined || private_key !== undefined;
  if (token !== undefined && !hasApp) return { kind: 'token', token };
  if (token === undefined && app_id !== undefined && installation_id !== undefined && private_key !== undefined) {
    return { kind: 'app', app_id, installation_id, private_key };
  }
  throw new InvalidIntegration('credentials must hold either token or app_id, installation_id and private_key.');
}

export const integration = object('Integration', {
  id: note(uuid(), 'Identifier of the integration.'),
  name: note(str(), 'Name that people see.'),
  provider: note(literal(PROVIDERS), 'Kind of code host; `gitea` is Forgejo as well.'),
  base_url: note(str(), 'Address of the code host.'),
  auth: note(literal(['token', 'app']), 'Kind of credentials: a token, or a GitHub App.'),
  app_id: note(nullable(int()), 'Identifier of the GitHub App; null for an integration with a token.'),
  installation_id: note(nullable(int()), 'Installation of the GitHub App; null for an integration with a token.'),
  webhook_configured: note(bool(), 'Whether a `webhook_secret` is stored, so that pushes of the host are accepted.'),
  reports,
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
