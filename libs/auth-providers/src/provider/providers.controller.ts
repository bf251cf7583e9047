import { randomUUID } from 'node:crypto';
import { Answers, Area, Body, CommandContext, Context, Describe, etag, Idempotent, Path, Scope } from '@fairlead/api';
import { empty, type Infer, list, requireSame } from '@fairlead/schema';
import { publicAddress } from '@fairlead/edge';
import { checkTarget } from '@fairlead/outbound';
import { Controller, Delete, Get, HttpCode, Patch, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AuthProvidersOptions } from '../oauth/auth-providers.options';
import { McpDiscovery } from './mcp-discovery.client';
import { provider as answered } from '../oauth/oauth.schema';
import { OAuthQueries } from '../oauth/oauth.queries';
import { OAUTH_VIEW } from '../oauth/oauth.projection';
import { type Provider, providerRecord, redirectUri } from '../oauth/provider';
import { ProviderCommands } from './provider.commands';
import { mcpRequest, providerPath, providerRequest, providerUpdate } from './provider.schema';

/** Facts that only a provider for an MCP server has, and those that all of these share. */
const WITHOUT_SERVER = { mcp_server_url: null, resource: null, issuer: null, is_dynamic_client: false };
const OF_SERVER = { code_challenge_method: 'S256', provider_type: null, is_dynamic_client: true } as const;

@Area('OAuth providers')
@Controller('v2/auth/providers')
export class ProvidersController {
  constructor(
    private readonly options: AuthProvidersOptions,
    private readonly commands: ProviderCommands,
    private readonly queries: OAuthQueries,
    private readonly discovery: McpDiscovery,
  ) {}

  @Get()
  @Scope('read', { views: [OAUTH_VIEW] })
  @Describe({ summary: 'List OAuth providers' })
  @Answers({ 200: list(answered) })
  async list(@Context() context: CommandContext) {
    return (await this.queries.providers(context.tenantId)).map(providerRecord);
  }

  @Post()
  @Scope('write')
  @Idempotent()
  @Describe({
    summary: 'Add an OAuth provider',
    takes: ['x-reason'],
    gives: ['ETag'],
  })
  @Answers({ 200: answered, 409: 'The `provider_id` is taken.' })
  @HttpCode(200)
  async add(
    @Context() context: CommandContext,
    @Body(providerRequest) body: Infer<typeof providerRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.checkUrls(context.tenantId, body);
    const provider_type = body.provider_type ?? null;
    const facts = { ...WITHOUT_SERVER, ...body, id: context.command?.idFor('provider') ?? randomUUID(), provider_type };
    const { provider, version } = await this.commands.add(context, facts);
    return answer(reply, provider, version);
  }

  /** Adds a provider for an MCP server by asking the server and registering a client. */
  @Post('mcp-discover')
  @Scope('write', { load: 'wait' })
  @Idempotent()
  @Describe({
    summary: 'Add an OAuth provider for an MCP server',
    description: 'Asks the server for its metadata (RFC 9728, RFC 8414) and registers a client (RFC 7591).',
    takes: ['x-reason'],
    gives: ['ETag'],
  })
  @Answers({ 200: answered, 409: 'The `provider_id` is taken.' })
  @HttpCode(200)
  async discover(
    @Context() context: CommandContext,
    @Body(mcpRequest) body: Infer<typeof mcpRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { tenantId } = context;
    const id = context.command?.idFor('provider') ?? randomUUID();
    await this.commands.checkFree(tenantId, body.provider_id, id);
    const callback = redirectUri(publicAddress(context, this.options.publicUrl), id);
    const found = await this.discovery.register(tenantId, body.mcp_server_url, body.name, callback);
    const { provider, version } = await this.commands.add(context, { ...found, ...body, ...OF_SERVER, id });
    return answer(reply, provider, version);
  }

  @Get(':provider_id')
  @Scope('read')
  @Describe({
    summary: 'Get an OAuth provider',
    description: 'By its `provider_id` or its `id`; never its secret.',
    gives: ['ETag'],
  })
  @Answers({ 200: answered })
  async find(
    @Context() context: CommandContext,
    @Path(providerPath) { provider_id }: Infer<typeof providerPath>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { provider, version } = await this.commands.find(context.tenantId, provider_id);
    return answer(reply, provider, version);
  }

  @Patch(':provider_id')
  @Scope('write')
  @Idempotent()
  @Describe({
    summary: 'Change an OAuth provider',
    takes: ['If-Match', 'x-reason'],
    gives: ['ETag'],
  })
  @Answers({ 200: answered })
  async change(
    @Context() context: CommandContext,
    @Path(providerPath) path: Infer<typeof providerPath>,
    @Body(providerUpdate) body: Infer<typeof providerUpdate>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { provider_id, mcp_server_url, is_dynamic_client, ...changes } = body;
    const known = await this.commands.find(context.tenantId, path.provider_id);
    requireSame({ provider_id, mcp_server_url, is_dynamic_client }, known.provider);
    await this.checkUrls(context.tenantId, changes);
    const { provider, version } = await this.commands.change(context, path.provider_id, changes);
    return answer(reply, provider, version);
  }

  /** Removes the provider with every token that came from it. */
  @Delete(':provider_id')
  @Scope('write')
  @Describe({
    summary: 'Remove an OAuth provider and its tokens',
    takes: ['If-Match', 'x-reason'],
  })
  @Answers({ 200: empty })
  @HttpCode(200)
  async remove(@Context() context: CommandContext, @Path(providerPath) { provider_id }: Infer<typeof providerPath>) {
    await this.commands.remove(context, provider_id);
    return {};
  }

  private async checkUrls(
    workspace: string,
    { auth_url, token_url }: { auth_url?: string; token_url?: string },
  ): Promise<void> {
    const { outbound } = this.options;
    if (auth_url !== undefined) await checkTarget(auth_url, outbound, workspace, 'auth_url');
    if (token_url !== undefined) await checkTarget(token_url, outbound, workspace, 'token_url');
  }
}

function answer(reply: FastifyReply, provider: Provider, version: number) {
  reply.header('etag', etag(version));
  return providerRecord(provider);
}
