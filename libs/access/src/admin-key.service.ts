import { SCOPES } from '@fairlead/api';
import { StreamDeleted, Vault } from '@fairlead/eventing';
import { Injectable, Logger } from '@nestjs/common';
import { type KeyFacts, OPERATOR_KEY_ID } from './keys/api-key';
import { ApiKeyCommands } from './keys/api-key.commands';
import { ApiKeyQueries } from './keys/api-key.queries';
import { PEPPER } from './keys/known-keys.service';
import { DEFAULT_TENANT } from './tenants/tenant';
import { TenantCommands } from './tenants/tenant.commands';

const METADATA = { tenant: DEFAULT_TENANT.id, actor: 'system:access' };
const FORM = /^[\x21-\x7e]{20,256}$/;

/** The setting FAIRLEAD_API_KEY cannot be used. The message does not repeat it. */
export class AdminKeyProblem extends Error {
  override readonly name = 'AdminKeyProblem';
}

/** Registers the key of the installation. */
@Injectable()
export class AdminKey {
  private readonly logger = new Logger(AdminKey.name);

  constructor(
    private readonly vault: Vault,
    private readonly tenants: TenantCommands,
    private readonly keys: ApiKeyCommands,
    private readonly queries: ApiKeyQueries,
  ) {}

  /**
   * Makes `text` the operator's key: all scopes, bound to the default tenant (created when it is missing), may act in
   * every tenant. The text used before is revoked; the same text again changes nothing. What was deleted in the event
   * store by hand stays as it was read before.
   * @throws AdminKeyProblem unless it is 20 to 256 printable ASCII characters without blanks, or when the key's history
   * was deleted and the text is another one than before.
   */
  async register(text: string): Promise<void> {
    if (!FORM.test(text)) {
      throw new AdminKeyProblem('FAIRLEAD_API_KEY must be 20 to 256 printable ASCII characters without blanks.');
    }
    const facts: KeyFacts = {
      id: OPERATOR_KEY_ID,
      kind: 'operator',
      tenant_id: DEFAULT_TENANT.id,
      organization_id: DEFAULT_TENANT.organization_id,
      description: 'FAIRLEAD_API_KEY',
      scopes: SCOPES,
      short_key: `${text.slice(0, 3)}...`,
      hash: await this.vault.digest(PEPPER, text),
      expires_at: null,
      made_by: null,
    };
    await this.unlessDeleted(this.tenants.ensure(DEFAULT_TENANT, METADATA));
    if (await this.unlessDeleted(this.keys.setOperator(facts, METADATA))) return;
    const [known] = await this.queries.byIds([OPERATOR_KEY_ID]);
    if (known?.hash === facts.hash) return;
    throw new AdminKeyProblem(
      'The history of the operator key was deleted in the event store: FAIRLEAD_API_KEY must be the key used before.',
    );
  }

  /** Logs that a stream was deleted, which must not keep the service from starting, and returns undefined. */
  private unlessDeleted<T>(work: Promise<T>): Promise<T | undefined> {
    return work.catch((error: unknown) => {
      if (!(error instanceof StreamDeleted)) throw error;
      this.logger.error(error.message);
      return undefined;
    });
  }
}
