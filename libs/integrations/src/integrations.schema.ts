import { paging } from '@fairlead/api';
import { int, literal, object, optional, refine, secret, str, uuid } from '@fairlead/schema';
import type { Credentials } from './hosts/code-host';
import { InvalidIntegration } from './errors';
import { PROVIDERS } from './integration';

const MOST_INTEGER = Number.MAX_SAFE_INTEGER;
const LEAST_SECRET = 16;
const HEADER_TEXT = /^[\x21-\x7e]+$/;

/** Goes into a header, so that anything but visible ASCII would be another header or none. */
const token = secret(
  refine(str({ min: 1, max: 4096 }), (value) =>
    HEADER_TEXT.test(value) ? undefined : 'only visible ASCII characters without spaces are allowed',
  ),
);

const credentials = object(
  {
    token: optional(token),
    app_id: optional(int({ ge: 1, le: MOST_INTEGER })),
    installation_id: optional(int({ ge: 1, le: MOST_INTEGER })),
    private_key: optional(secret(str({ min: 1, max: 16_384 }))),
  },
  'IntegrationCredentials',
);

const webhookSecret = secret(str({ min: LEAST_SECRET, max: 256 }));
const name = str({ min: 1, max: 255 });

/** Body of POST /v1/integrations. */
export const addRequest = object(
  {
    name,
    provider: literal(PROVIDERS, { aliases: { forgejo: 'gitea' } }),
    base_url: optional(str()),
    credentials,
    webhook_secret: optional(webhookSecret),
  },
  'IntegrationCreateRequest',
);

/** Body of PATCH; `provider` is read to refuse another value. */
export const changeRequest = object(
  {
    name: optional(name),
    provider: optional(literal(PROVIDERS, { aliases: { forgejo: 'gitea' } })),
    base_url: optional(str()),
    credentials: optional(credentials),
    webhook_secret: optional(webhookSecret),
  },
  'IntegrationPatchRequest',
);

export const integrationPath = object({ integration_id: uuid() });
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
