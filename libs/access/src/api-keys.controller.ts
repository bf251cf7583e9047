import { randomBytes, randomUUID } from 'node:crypto';
import { Controller, Delete, Get, HttpCode, Post, Req } from '@nestjs/common';
import { EventStore, handle, Quotas, streamName, Vault } from '@fairlead/eventing';
import { Access, type Actor, Area, body, Describe, metadataOf, path, shape } from '@fairlead/api';
import { bool, datetime, list, literal, object, optional, refine, str, uuid } from '@fairlead/schema';
import type { FastifyRequest } from 'fastify';
import { apiKey, newApiKey } from './access.answers.schema';
import { Authenticator, NO_TENANT, PEPPER } from './access.authenticator';
import { type ApiKey, apiKeyModel, createKey, type KeyFacts, KeyNotFound, type Manager, revokeKey } from './api-key';
import { apiKeysProjection, ApiKeyView } from './api-key.view';
import { KEY_RANDOM_BYTES, keyText } from './key-text';
import { effectiveScopes, SCOPES } from './scopes';

const newKey = refine(
  object({
    description: optional(str({ max: 1000 }), 'API key'),
    scopes: optional(list(literal(SCOPES), { min: 1, max: SCOPES.length })),
    read_only: optional(bool(), false),
    expires_at: optional(datetime()),
    organization: optional(bool(), false),
  }),
  ({ scopes, read_only }) => {
    const contradicts = read_only && scopes?.some((scope) => scope === 'write' || scope === 'admin');
    return contradicts ? 'a read_only key has neither of the scopes write and admin' : undefined;
  },
);
const byId = object({ id: uuid() });

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
  @Access('admin')
  @Describe({
    summary: 'Create an API key',
    description:
      'Without `scopes`, the key may read and write. It ends with the key that makes it: when that expires or is revoked.',
    body: newKey,
    answers: { 200: newApiKey },
    takes: ['x-reason'],
  })
  async create(@Req() request: FastifyRequest) {
    const draft = body(newKey, request);
    const manager = await this.managerOf(request.actor);
    const id = randomUUID();
    const key = keyText(id, randomBytes(KEY_RANDOM_BYTES));
    const facts: KeyFacts = {
      id,
      kind: draft.organization ? 'organization' : 'tenant',
      tenant_id: draft.organization ? null : manager.tenantId,
      organization_id: manager.organizationId,
      description: draft.description,
      scopes: [...new Set(draft.scopes ?? (draft.read_only ? ['read' as const] : ['read' as const, 'write' as const]))],
      short_key: `${key.slice(0, 9)}...`,
      hash: await this.vault.digest(PEPPER, key),
      expires_at: draft.expires_at ? new Date(draft.expires_at.iso).toISOString() : manager.expires_at,
      made_by: request.actor.keyId,
    };
    const decide = createKey(facts, manager, new Date().toISOString());
    const create = () => this.change(id, decide, request);
    return { ...answer(await this.quotas.within('api_keys', request.actor.tenantId, id, create)), key };
  }

  @Get()
  @Access('admin', { views: [apiKeysProjection.name], acrossWorkspaces: true })
  @Describe({ summary: 'List the API keys of the workspace', answers: { 200: shape.list(apiKey) } })
  async list(@Req() request: FastifyRequest) {
    return (await this.view.list(await this.managerOf(request.actor))).map(answer);
  }

  @Get('current')
  @Access('read')
  @Describe({ summary: 'Get the API key of this request', answers: { 200: apiKey } })
  async current(@Req() request: FastifyRequest) {
    const { tenantId, organizationId } = request.actor;
    const acting = { tenant_id: tenantId === NO_TENANT ? null : tenantId, organization_id: organizationId };
    return { ...answer(await this.authenticator.keyOf(request.actor)), ...acting };
  }

  @Delete(':id')
  @Access('admin', { views: [apiKeysProjection.name], acrossWorkspaces: true })
  @Describe({
    summary: 'Revoke an API key',
    description: 'With it end the keys that it made, and those that they made.',
    path: byId,
    answers: { 200: apiKey, 409: 'It is the last admin key.' },
    takes: ['x-reason'],
  })
  async revoke(@Req() request: FastifyRequest) {
    const { id } = path(byId, request);
    const [known] = await this.view.byIds([id]);
    if (known?.revoked_at) throw new KeyNotFound(id);
    const decide = revokeKey(id, await this.managerOf(request.actor));
    const revoked = await this.change(id, decide, request);
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
    request: FastifyRequest,
  ): Promise<ApiKey> {
    // Not the Idempotency-Key: a repeated command is answered without asking who may see it.
    const metadata = { ...metadataOf(request), causationId: undefined };
    const stream = streamName('apiKey', id);
    const { state, version } = await handle(this.store, apiKeyModel, stream, decide, metadata);
    const key = { ...state!, version };
    this.authenticator.learnKey(key);
    return key;
  }
}

/** What answers tell of a key; never the key itself. */
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
