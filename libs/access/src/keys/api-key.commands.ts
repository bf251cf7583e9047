import { randomBytes, randomUUID } from 'node:crypto';
import type { CommandContext } from '@fairlead/api';
import { EventStore, handle, type Metadata, Quotas, streamName, Vault } from '@fairlead/eventing';
import type { Infer } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import {
  type ApiKey,
  type ApiKeyEvent,
  apiKeyModel,
  createKey,
  endKey,
  type KeyFacts,
  type Manager,
  revokeKey,
  setOperatorKey,
} from './api-key';
import { KeyNotFound } from './api-key.errors';
import { ApiKeyQueries } from './api-key.queries';
import type { createRequest } from './api-key.schema';
import { KEY_RANDOM_BYTES, keyText } from './key-text';
import { KnownKeys, PEPPER } from './known-keys.service';

/** Creates, replaces and ends API keys. A change is known in this process at once. */
@Injectable()
export class ApiKeyCommands {
  constructor(
    private readonly store: EventStore,
    private readonly vault: Vault,
    private readonly quotas: Quotas,
    private readonly queries: ApiKeyQueries,
    private readonly known: KnownKeys,
  ) {}

  /** Creates a key and returns it with its text, which is stored nowhere. @throws UselessKey, GrantNotHeld, QuotaReached */
  async create(
    { actor, tenantId, metadata }: CommandContext,
    draft: Infer<typeof createRequest>,
  ): Promise<{ readonly key: ApiKey; readonly text: string }> {
    const manager = await this.known.managerOf(actor);
    const id = randomUUID();
    const text = keyText(id, randomBytes(KEY_RANDOM_BYTES));
    const hash = await this.vault.digest(PEPPER, text);
    const facts = factsOf(draft, manager, { id, text, hash, made_by: actor.keyId });
    const decide = createKey(facts, manager, new Date().toISOString());
    const key = await this.quotas.within('api_keys', tenantId, id, () => this.change(id, decide, metadata));
    return { key, text };
  }

  /** Revokes a key and those that it made. @throws KeyNotFound, LastAdminKey */
  async revoke({ actor, metadata }: CommandContext, id: string): Promise<ApiKey> {
    const [known] = await this.queries.byIds([id]);
    if (known?.revoked_at) throw new KeyNotFound(id);
    const revoked = await this.change(id, revokeKey(id, await this.known.managerOf(actor)), metadata);
    await this.quotas.giveBack('api_keys', id);
    this.known.forget();
    return revoked;
  }

  /** Revokes a key whose workspace is removed. */
  async end(id: string, metadata: Metadata): Promise<void> {
    await handle(this.store, apiKeyModel, streamName('apiKey', id), endKey, metadata);
  }

  /** Makes `facts` the operator's key. @throws StreamDeleted */
  setOperator(facts: KeyFacts, metadata: Metadata): Promise<ApiKey> {
    return this.change(facts.id, setOperatorKey(facts), metadata);
  }

  private async change(
    id: string,
    decide: (state: ApiKey | null) => readonly ApiKeyEvent[],
    metadata: Metadata,
  ): Promise<ApiKey> {
    const { state, version } = await handle(this.store, apiKeyModel, streamName('apiKey', id), decide, metadata);
    const key = { ...state!, version };
    this.known.learn(key);
    return key;
  }
}

/** Facts of a new key; without scopes it may read and write. */
function factsOf(
  { organization, description, scopes, read_only, expires_at }: Infer<typeof createRequest>,
  manager: Manager,
  { text, ...made }: Pick<KeyFacts, 'id' | 'hash' | 'made_by'> & { readonly text: string },
): KeyFacts {
  return {
    ...made,
    kind: organization ? 'organization' : 'tenant',
    tenant_id: organization ? null : manager.tenantId,
    organization_id: manager.organizationId,
    description,
    scopes: [...new Set(scopes ?? (read_only ? ['read' as const] : ['read' as const, 'write' as const]))],
    short_key: `${text.slice(0, 9)}...`,
    expires_at: expires_at ? new Date(expires_at.iso).toISOString() : manager.expires_at,
  };
}
