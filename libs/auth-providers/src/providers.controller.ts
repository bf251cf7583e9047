import { randomUUID } from 'node:crypto';
import { Access, Area, Describe, etag, Idempotency, path, shape, validateRequest } from '@fairlead/api';
import { checkTarget } from '@fairlead/outbound';
import { Controller, Delete, Get, HttpCode, Patch, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AuthProvidersOptions } from './auth-providers.options';
import { AuthorizationFlow } from './authorization.flow';
import { McpDiscovery } from './mcp.discovery';
import { provider as answered } from './oauth.answers.schema';
import { OAuthQueries } from './oauth.queries';
import { OAUTH_VIEW } from './oauth.view';
import { type Provider, providerRecord } from './provider';
import { ProviderCommands } from './provider.commands';
import { mcpRequest, providerPath, providerRequest, providerUpdate } from './provider.schema';

@Area('OAuth providers')
@Controller('v2/auth/providers')
export class ProvidersController {
  constructor(
    private readonly options: AuthProvidersOptions,
    private readonly commands: ProviderCommands,
    private readonly queries: OAuthQueries,
    private readonly discovery: McpDiscovery,
    private readonly flow: AuthorizationFlow,
    private readonly idempotency: Idempotency,
  ) {}

  @Get()
  @Access('read', { views: [OAUTH_VIEW] })
  @Describe({ summary: 'List OAuth providers', answers: { 200: shape.list(answered) } })
  async list(@Req() request: FastifyRequest) {
    return (await this.queries.providers(request.actor.tenantId)).map(providerRecord);
  }

  @Post()
  @Access('write')
  @Describe({
    summary: 'Add an OAuth provider',
    body: providerRequest,
    answers: { 200: answered, 409: 'The `provider_id` is taken.' },
    takes: ['Idempotency-Key', 'x-reason'],
    gives: ['ETag'],
  })
  @HttpCode(200)
  async add(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { body } = validateRequest(request, { body: providerRequest });
    return this.idempotency.run(request, reply, async () => {
      await this.checkUrls(request.actor.tenantId, body);
      const { provider, version } = await this.commands.add(request, {
        ...body,
        id: randomUUID(),
        provider_type: body.provider_type ?? null,
        mcp_server_url: null,
        resource: null,
        issuer: null,
        is_dynamic_client: false,
      });
      return answer(reply, provider, version);
    });
  }

  /** Adds a provider for an MCP server by asking the server and registering a client. */
  @Post('mcp-discover')
  @Access('write', { load: 'wait' })
  @Describe({
    summary: 'Add an OAuth provider for an MCP server',
    description: 'Asks the server for its metadata (RFC 9728, RFC 8414) and registers a client (RFC 7591).',
    body: mcpRequest,
    answers: { 200: answered, 409: 'The `provider_id` is taken.' },
    takes: ['Idempotency-Key', 'x-reason'],
    gives: ['ETag'],
  })
  @HttpCode(200)
  async discover(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { body } = validateRequest(request, { body: mcpRequest });
    return this.idempotency.run(request, reply, async () => {
      const { provider_id, name, mcp_server_url } = body;
      const { tenantId } = request.actor;
      await this.commands.checkFree(tenantId, provider_id);
      const id = randomUUID();
      const redirectUri = this.flow.redirectUri(request, id);
      const discovered = await this.discovery.register(tenantId, mcp_server_url, name, redirectUri);
      const { provider, version } = await this.commands.add(request, {
        ...discovered,
        id,
        provider_id,
        name,
        mcp_server_url,
        code_challenge_method: 'S256',
        provider_type: null,
        is_dynamic_client: true,
      });
      return answer(reply, provider, version);
    });
  }

  @Get(':provider_id')
  @Access('read')
  @Describe({
    summary: 'Get an OAuth provider',
    description: 'By its `provider_id` or its `id`; never its secret.',
    path: providerPath,
    answers: { 200: answered },
    gives: ['ETag'],
  })
  async find(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { provider_id } = path(providerPath, request);
    const { provider, version } = await this.commands.find(request.actor.tenantId, provider_id);
    return answer(reply, provider, version);
  }

  @Patch(':provider_id')
  @Access('write')
  @Describe({
    summary: 'Change an OAuth provider',
    path: providerPath,
    body: providerUpdate,
    answers: { 200: answered },
    takes: ['Idempotency-Key', 'If-Match', 'x-reason'],
    gives: ['ETag'],
  })
  async change(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { path, body } = validateRequest(request, { path: providerPath, body: providerUpdate });
    return this.idempotency.run(request, reply, async () => {
      await this.commands.find(request.actor.tenantId, path.provider_id);
      await this.checkUrls(request.actor.tenantId, body);
      const { provider, version } = await this.commands.change(request, path.provider_id, body);
      return answer(reply, provider, version);
    });
  }

  /** Removes the provider with every token that came from it. */
  @Delete(':provider_id')
  @Access('write')
  @Describe({
    summary: 'Remove an OAuth provider and its tokens',
    path: providerPath,
    answers: { 200: shape.empty },
    takes: ['If-Match', 'x-reason'],
  })
  @HttpCode(200)
  async remove(@Req() request: FastifyRequest) {
    const { provider_id } = path(providerPath, request);
    await this.commands.remove(request, provider_id);
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
