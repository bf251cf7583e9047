import { Answers, Area, Body, CommandContext, Context, Describe, Path, Scope } from '@fairlead/api';
import { type Infer, list } from '@fairlead/schema';
import { Controller, Delete, Get, HttpCode, Post } from '@nestjs/common';
import { NO_TENANT } from './api-key';
import { ApiKeyCommands } from './api-key.commands';
import { apiKeysProjection } from './api-key.projection';
import { ApiKeyQueries, keyRecord } from './api-key.queries';
import { apiKey, createRequest, keyPath, newApiKey } from './api-key.schema';
import { KnownKeys } from './known-keys.service';

/** Creates, lists and revokes API keys. */
@Area('Keys and workspaces')
@Controller('/api/v1/api-key')
export class ApiKeysController {
  constructor(
    private readonly commands: ApiKeyCommands,
    private readonly queries: ApiKeyQueries,
    private readonly known: KnownKeys,
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
  async create(@Context() context: CommandContext, @Body(createRequest) draft: Infer<typeof createRequest>) {
    const { key, text } = await this.commands.create(context, draft);
    return { ...keyRecord(key), key: text };
  }

  @Get()
  @Scope('admin', { views: [apiKeysProjection.name], acrossWorkspaces: true })
  @Describe({ summary: 'List the API keys of the workspace' })
  @Answers({ 200: list(apiKey) })
  async list(@Context() context: CommandContext) {
    return (await this.queries.list(await this.known.managerOf(context.actor))).map(keyRecord);
  }

  @Get('current')
  @Scope('read', { organization: true })
  @Describe({ summary: 'Get the API key of this request' })
  @Answers({ 200: apiKey })
  async current(@Context() context: CommandContext) {
    const { tenantId, organizationId } = context.actor;
    const acting = { tenant_id: tenantId === NO_TENANT ? null : tenantId, organization_id: organizationId };
    return { ...keyRecord(await this.known.keyOf(context.actor)), ...acting };
  }

  @Delete(':id')
  @Scope('admin', { views: [apiKeysProjection.name], acrossWorkspaces: true })
  @Describe({
    summary: 'Revoke an API key',
    description: 'With it end the keys that it made, and those that they made.',
    takes: ['x-reason'],
  })
  @Answers({ 200: apiKey, 409: 'It is the last admin key.' })
  async revoke(@Context() context: CommandContext, @Path(keyPath) { id }: Infer<typeof keyPath>) {
    return keyRecord(await this.commands.revoke(context, id));
  }
}
