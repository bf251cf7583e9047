import { SCOPES } from '@fairlead/api';
import { type INestApplicationContext, Logger } from '@nestjs/common';
import { EventStore, handle, StreamDeleted, streamName, Vault } from '@fairlead/eventing';
import { Authenticator, PEPPER } from './authenticator.service';
import { apiKeyModel, type KeyFacts, OPERATOR_KEY_ID, setOperatorKey } from './keys/api-key';
import { ApiKeyView } from './keys/api-key.projection';
import { DEFAULT_TENANT, ensureTenant, tenantModel } from './tenants/tenant';

const METADATA = { tenant: DEFAULT_TENANT.id, actor: 'system:access' };
const FORM = /^[\x21-\x7e]{20,256}$/;

/** The setting FAIRLEAD_API_KEY cannot be used. The message does not repeat it. */
export class AdminKeyProblem extends Error {
  override readonly name = 'AdminKeyProblem';
}

/**
 * Makes `text` the operator's key: all scopes, bound to the default tenant (created when it is missing), may act in
 * every tenant. The text used before is revoked; the same text again changes nothing. What was deleted in the event store
 * by hand stays as it was read before.
 * @throws AdminKeyProblem unless it is 20 to 256 printable ASCII characters without blanks, or when the key's history was
 * deleted and the text is another one than before.
 */
export async function registerAdminKey(app: INestApplicationContext, text: string): Promise<void> {
  if (!FORM.test(text)) {
    throw new AdminKeyProblem('FAIRLEAD_API_KEY must be 20 to 256 printable ASCII characters without blanks.');
  }
  const store = app.get(EventStore, { strict: false });
  const vault = app.get(Vault, { strict: false });
  const authenticator = app.get(Authenticator, { strict: false });
  const facts: KeyFacts = {
    id: OPERATOR_KEY_ID,
    kind: 'operator',
    tenant_id: DEFAULT_TENANT.id,
    organization_id: DEFAULT_TENANT.organization_id,
    description: 'FAIRLEAD_API_KEY',
    scopes: SCOPES,
    short_key: `${text.slice(0, 3)}...`,
    hash: await vault.digest(PEPPER, text),
    expires_at: null,
    made_by: null,
  };
  const tenantStream = streamName('tenant', DEFAULT_TENANT.id);
  const tenant = await handle(store, tenantModel, tenantStream, ensureTenant(DEFAULT_TENANT), METADATA).catch(told);
  if (tenant) authenticator.learnTenant({ ...tenant.state!, version: tenant.version });
  const keyStream = streamName('apiKey', OPERATOR_KEY_ID);
  const key = await handle(store, apiKeyModel, keyStream, setOperatorKey(facts), METADATA).catch(told);
  if (key) return authenticator.learnKey({ ...key.state!, version: key.version });
  const [known] = await app.get(ApiKeyView, { strict: false }).byIds([OPERATOR_KEY_ID]);
  if (known?.hash === facts.hash) return;
  throw new AdminKeyProblem(
    'The history of the operator key was deleted in the event store: FAIRLEAD_API_KEY must be the key used before.',
  );
}

/** Logs that a stream was deleted, which must not keep the service from starting. */
function told(error: unknown): undefined {
  if (!(error instanceof StreamDeleted)) throw error;
  new Logger('AdminKey').error(error.message);
}
