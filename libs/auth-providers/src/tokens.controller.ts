import { randomUUID } from 'node:crypto';
import { EventStore, handle, streamName } from '@fairlead/eventing';
import { Access, Area, Describe, metadataOf, query, shape, validateRequest } from '@fairlead/api';
import { canonicalUuid } from '@fairlead/schema';
import { Controller, Delete, Get, HttpCode, Patch, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ConnectionNotFound, TokenNotFound } from './errors';
import { connection, connections, removedTokens, tokenRecord, tokenStatus } from './oauth.answers.schema';
import { connectionRecord, OAuthQueries, type TokenFilter } from './oauth.queries';
import { OAUTH_VIEW } from './oauth.view';
import { ProviderCommands } from './provider.commands';
import {
  changeToken,
  connectAgent,
  disconnectAgent,
  removeToken,
  type Token,
  type TokenEvent,
  tokenModel,
  type TokenState,
  tokenSummary,
} from './token';
import {
  agentPath,
  connectionPath,
  connectionRequest,
  providerTokensQuery,
  tokenPath,
  tokensQuery,
  tokenUpdate,
} from './token.schema';

/** The tokens of a tenant and the agents that use them. No answer here holds a token itself. */
@Area('OAuth tokens')
@Controller('v2/auth')
export class TokensController {
  constructor(
    private readonly store: EventStore,
    private readonly providers: ProviderCommands,
    private readonly queries: OAuthQueries,
  ) {}

  @Get('tokens')
  @Access('read', { views: [OAUTH_VIEW] })
  @Describe({
    summary: 'List tokens',
    description: 'Never the tokens themselves.',
    query: tokensQuery,
    answers: { 200: shape.list(tokenRecord), 404: 'There is no such provider.' },
  })
  async list(@Req() request: FastifyRequest) {
    const { provider_id, user_id } = query(tokensQuery, request);
    return (await this.tokens(request, provider_id, user_id)).map(tokenSummary);
  }

  @Get('tokens/exists')
  @Access('read', { views: [OAUTH_VIEW] })
  @Describe({
    summary: 'Ask whether there is a token of a provider',
    query: providerTokensQuery,
    answers: { 200: tokenStatus, 404: 'There is no such provider.' },
  })
  async exists(@Req() request: FastifyRequest) {
    const { provider_id, user_id } = query(providerTokensQuery, request);
    return { has_token: (await this.tokens(request, provider_id, user_id)).length > 0 };
  }

  /** Removes the tokens of a provider; of one user alone when `user_id` is given. */
  @Delete('tokens')
  @Access('write', { views: [OAUTH_VIEW] })
  @Describe({
    summary: 'Remove the tokens of a provider',
    query: providerTokensQuery,
    answers: { 200: removedTokens, 404: 'There is no such provider.' },
    takes: ['x-reason'],
  })
  @HttpCode(200)
  async removeAll(@Req() request: FastifyRequest) {
    const { provider_id, user_id } = query(providerTokensQuery, request);
    const tokens = await this.tokens(request, provider_id, user_id);
    for (const { id } of tokens) await this.change(request, id, removeToken(id));
    return { deleted: tokens.map(({ id }) => id) };
  }

  @Patch('tokens/:token_id/metadata')
  @Access('write', { views: [OAUTH_VIEW] })
  @Describe({
    summary: 'Label a token, or make it the default',
    path: tokenPath,
    body: tokenUpdate,
    answers: { 200: tokenRecord },
    takes: ['x-reason'],
  })
  async describe(@Req() request: FastifyRequest) {
    const { path, body } = validateRequest(request, { path: tokenPath, body: tokenUpdate });
    const { id } = await this.owned(request, path.token_id);
    return tokenSummary(await this.change(request, id, changeToken(id, body)));
  }

  @Delete('tokens/:token_id')
  @Access('write', { views: [OAUTH_VIEW] })
  @Describe({ summary: 'Remove a token', path: tokenPath, answers: { 204: null }, takes: ['x-reason'] })
  @HttpCode(204)
  async remove(@Req() request: FastifyRequest): Promise<void> {
    const { path } = validateRequest(request, { path: tokenPath });
    const { id } = await this.owned(request, path.token_id);
    await this.change(request, id, removeToken(id));
  }

  @Get('agents/:agent_id/connections')
  @Access('read', { views: [OAUTH_VIEW] })
  @Describe({ summary: 'List the tokens that an agent uses', path: agentPath, answers: { 200: connections } })
  async connections(@Req() request: FastifyRequest) {
    const { path } = validateRequest(request, { path: agentPath });
    const found = await this.queries.connections(request.actor.tenantId, path.agent_id);
    return { data: found.map(connectionRecord) };
  }

  /** Connects an agent with a token; connecting it again answers the connection that there is. */
  @Post('agents/:agent_id/connections')
  @Access('write', { views: [OAUTH_VIEW] })
  @Describe({
    summary: 'Let an agent use a token',
    path: agentPath,
    body: connectionRequest,
    answers: { 201: connection },
    takes: ['x-reason'],
  })
  @HttpCode(201)
  async connect(@Req() request: FastifyRequest) {
    const { path, body } = validateRequest(request, { path: agentPath, body: connectionRequest });
    const { id } = await this.owned(request, body.oauth_token_id);
    const wanted = { connection_id: randomUUID(), agent_id: path.agent_id, created_by: request.actor.keyId };
    const token = await this.change(request, id, connectAgent(id, wanted));
    const connection = token.connections.find(({ agent_id }) => agent_id === path.agent_id)!;
    return connectionRecord({ token, connection });
  }

  @Delete('agents/:agent_id/connections/:connection_id')
  @Access('write', { views: [OAUTH_VIEW] })
  @Describe({
    summary: 'Let an agent use a token no more',
    path: connectionPath,
    answers: { 204: null },
    takes: ['x-reason'],
  })
  @HttpCode(204)
  async disconnect(@Req() request: FastifyRequest): Promise<void> {
    const { agent_id, connection_id } = validateRequest(request, { path: connectionPath }).path;
    const connections = await this.queries.connections(request.actor.tenantId, agent_id);
    const found = connections.find(({ connection }) => connection.connection_id === connection_id);
    if (!found) throw new ConnectionNotFound(connection_id);
    await this.change(request, found.token.id, disconnectAgent(agent_id, connection_id));
  }

  private async tokens(request: FastifyRequest, providerRef?: string, user_id?: string): Promise<Token[]> {
    const { tenantId } = request.actor;
    const provider =
      providerRef === undefined ? undefined : (await this.providers.find(tenantId, providerRef)).provider;
    const filter: TokenFilter = {
      ...(provider && { provider: provider.id }),
      ...(user_id !== undefined && { user_id }),
    };
    return this.queries.tokens(tenantId, filter);
  }

  private async owned(request: FastifyRequest, id: string): Promise<Token> {
    const uuid = canonicalUuid(id);
    const token = uuid === undefined ? undefined : await this.queries.token(request.actor.tenantId, uuid);
    if (!token) throw new TokenNotFound(id);
    return token;
  }

  private async change(request: FastifyRequest, id: string, decide: (state: TokenState) => TokenEvent[]) {
    // Every command here can be repeated as it is.
    const metadata = { ...metadataOf(request), causationId: undefined };
    const stream = streamName('oauthToken', id);
    const { state } = await handle(this.store, tokenModel, stream, decide, metadata);
    return state!;
  }
}
