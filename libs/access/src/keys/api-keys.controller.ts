import { randomBytes, randomUUID } from 'node:crypto';
import { Controller, Delete, Get, HttpCode, Post } from '@nestjs/common';
import { EventStore, handle, Quotas, streamName, Vault } from '@fairlead/eventing';
import {
  type Actor,
  Answers,
  Area,
  Body,
  CommandContext,
  Context,
  Describe,
  effectiveScopes,
  Path,
  Scope,
  SCOPES,
} from '@fairlead/api';
import { bool, datetime, type Infer, list, literal, note, object, optional, refine, str, uuid } from '@fairlead/schema';
import { apiKey, newApiKey } from '../access.answers.schema';
import { Authenticator, NO_TENANT, PEPPER } from '../authenticator.service';
import { type ApiKey, apiKeyModel, createKey, type KeyFacts, type Manager, revokeKey } from './api-key';
import { KeyNotFound } from './api-key.errors';
import { apiKeysProjection, ApiKeyView } from './api-key.projection';
import { KEY_RANDOM_BYTES, keyText } from './key-text';

const newKey = refine(
  object({
    description: note(optional(str({ max: 1000 }), 'API key'), 'What the key is for; lists and the audit log show it.'),
    scopes: note(
      optional(list(literal(SCOPES), { min: 1, max: SCOPES.length })),
      'What the key may do, at most what the key of the request may. Default `read` and `write`, with `read_only` only `read`.',
    ),
    read_only: note(
      optional(bool(), false),
      'True: the key may only read; not together with the scopes `write` or `admin`.',
    ),
    expires_at: note(
      optional(datetime()),
      'When the key ends, not later than the key of the request; absent: when that one ends.',
    ),
    organization: note(optional(bool(), false), 'True: the key opens every workspace of the organisation.'),
  }),
  ({ scopes, read_only }) => {
    const contradicts = read_only && scopes?.some((scope) => scope === 'write' || scope === 'admin');
    return contradicts ? 'a read_only key has neither of the scopes write and admin' : undefined;
  },
);
const byId = object({ id: note(uuid(), 'The `id` of a key, not the key itself.') });

/** Creates, lists and revokes API keys. */
@Area('Keys and workspaces')
@Controller('/api/v1/api-key')
export class ApiKeysController {
  constructor(
    private readonly store: EventStore,
    private readonly vault: Vault,
    private readonly quotas: Quotas,
    private readonly view: ApiKeyView,
    private readonly authenticator: Authenticator,
  ) {}

  @Post()
  @HttpCode(200)
  @Scope('admin')
  @Describe({
    summary: 'Create an API key',
    description:
      'Without `scopes`, the key may read and write. It ends with the key that makes it: when that expires or is revoked.',
    takes: ['x-reason'],
  })
  @Answers({ 200: newApiKey })
  async create(@Context() context: CommandContext, @Body(newKey) draft: Infer<typeof newKey>) {
    const manager = await this.managerOf(context.actor);
    const id = randomUUID();
    const key = keyText(id, randomBytes(KEY_RANDOM_BYTES));
    const hash = await this.vault.digest(PEPPER, key);
    const decide = createKey(
      factsOf(draft, manager, { id, key, hash, made_by: context.actor.keyId }),
      manager,
      new Date().toISOString(),
    );
    const create = () => this.change(id, decide, context);
    return { ...answer(await this.quotas.within('api_keys', context.tenantId, id, create)), key };
  }

  @Get()
  @Scope('admin', { views: [apiKeysProjection.name], acrossWorkspaces: true })
  @Describe({ summary: 'List the API keys of the workspace' })
  @Answers({ 200: list(apiKey) })
  async list(@Context() context: CommandContext) {
    return (await this.view.list(await this.managerOf(context.actor))).map(answer);
  }

  @Get('current')
  @Scope('read', { organization: true })
  @Describe({ summary: 'Get the API key of this request' })
  @Answers({ 200: apiKey })
  async current(@Context() context: CommandContext) {
    const { tenantId, organizationId } = context.actor;
    const acting = { tenant_id: tenantId === NO_TENANT ? null : tenantId, organization_id: organizationId };
    return { ...answer(await this.authenticator.keyOf(context.actor)), ...acting };
  }

  @Delete(':id')
  @Scope('admin', { views: [apiKeysProjection.name], acrossWorkspaces: true })
  @Describe({
    summary: 'Revoke an API key',
    description: 'With it end the keys that it made, and those that they made.',
    takes: ['x-reason'],
  })
  @Answers({ 200: apiKey, 409: 'It is the last admin key.' })
  async revoke(@Context() context: CommandContext, @Path(byId) { id }: Infer<typeof byId>) {
    const [known] = await this.view.byIds([id]);
    if (known?.revoked_at) throw new KeyNotFound(id);
    const decide = revokeKey(id, await this.managerOf(context.actor));
    const revoked = await this.change(id, decide, context);
    await this.quotas.giveBack('api_keys', id);
    this.authenticator.forgetKeys();
    return answer(revoked);
  }

  private async managerOf(actor: Actor): Promise<Manager> {
    const { kind, expires_at } = await this.authenticator.keyOf(actor);
    return { ...actor, kind, expires_at };
  }

  private async change(
    id: string,
    decide: ReturnType<typeof createKey> | ReturnType<typeof revokeKey>,
    context: CommandContext,
  ): Promise<ApiKey> {
    const stream = streamName('apiKey', id);
    const { state, version } = await handle(this.store, apiKeyModel, stream, decide, context.metadata);
    const key = { ...state!, version };
    this.authenticator.learnKey(key);
    return key;
  }
}

/** Facts of a new key; without scopes it may read and write. */
function factsOf(
  { organization, description, scopes, read_only, expires_at }: Infer<typeof newKey>,
  manager: Manager,
  { key, ...made }: Pick<KeyFacts, 'id' | 'hash' | 'made_by'> & { readonly key: string },
): KeyFacts {
  return {
    ...made,
    kind: organization ? 'organization' : 'tenant',
    tenant_id: organization ? null : manager.tenantId,
    organization_id: manager.organizationId,
    description,
    scopes: [...new Set(scopes ?? (read_only ? ['read' as const] : ['read' as const, 'write' as const]))],
    short_key: `${key.slice(0, 9)}...`,
    expires_at: expires_at ? new Date(expires_at.iso).toISOString() : manager.expires_at,
  };
}

/** Returns a key as answers show it, without its text. */
function answer(key: ApiKey) {
  const { id, short_key, description, scopes, tenant_id, organization_id, created_at, expires_at, made_by } = key;
  const read_only = !effectiveScopes(scopes).has('write');
  const organization = key.kind !== 'tenant';
  return {
    id,
    short_key,
    description,
    scopes,
    read_only,
    organization,
    tenant_id,
    organization_id,
    created_at,
    expires_at,
    made_by,
  };
}
