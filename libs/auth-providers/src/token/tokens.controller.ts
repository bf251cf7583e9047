import { randomUUID } from 'node:crypto';
import { serviceCaller } from '@fairlead/eventing';
import { Answers, Area, Body, CommandContext, Context, Describe, Path, Query, Scope } from '@fairlead/api';
import { canonicalUuid, type Infer, list } from '@fairlead/schema';
import { Controller, Delete, Get, HttpCode, Patch, Post } from '@nestjs/common';
import { ConnectionNotFound, TokenNotFound } from '../oauth/token.errors';
import { connection, connections, removedTokens, tokenRecord, tokenStatus } from '../oauth/oauth.schema';
import { connectionRecord, OAuthQueries, type TokenFilter } from '../oauth/oauth.queries';
import { OAUTH_VIEW } from '../oauth/oauth.projection';
import { ProviderCommands } from '../provider/provider.commands';
import {
  changeToken,
  connectAgent,
  disconnectAgent,
  removeToken,
  type Token,
  type TokenEvent,
  tokenSummary,
} from '../oauth/token';
import { TokenCommands } from './token.commands';
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
    private readonly commands: TokenCommands,
    private readonly providers: ProviderCommands,
    private readonly queries: OAuthQueries,
  ) {}

  @Get('tokens')
  @Scope('read', { views: [OAUTH_VIEW] })
  @Describe({
    summary: 'List tokens',
    description: 'Never the tokens themselves.',
  })
  @Answers({ 200: list(tokenRecord), 404: 'There is no such provider.' })
  async list(
    @Context() context: CommandContext,
    @Query(tokensQuery) { provider_id, user_id }: Infer<typeof tokensQuery>,
  ) {
    return (await this.tokens(context, provider_id, user_id)).map(tokenSummary);
  }

  @Get('tokens/exists')
  @Scope('read', { views: [OAUTH_VIEW] })
  @Describe({ summary: 'Ask whether there is a token of a provider' })
  @Answers({ 200: tokenStatus, 404: 'There is no such provider.' })
  async exists(
    @Context() context: CommandContext,
    @Query(providerTokensQuery) { provider_id, user_id }: Infer<typeof providerTokensQuery>,
  ) {
    return { has_token: (await this.tokens(context, provider_id, user_id)).length > 0 };
  }

  /** Removes the tokens of a provider; of one user alone when `user_id` is given. */
  @Delete('tokens')
  @Scope('write', { views: [OAUTH_VIEW] })
  @Describe({
    summary: 'Remove the tokens of a provider',
    takes: ['x-reason'],
  })
  @Answers({ 200: removedTokens, 404: 'There is no such provider.' })
  @HttpCode(200)
  async removeAll(
    @Context() context: CommandContext,
    @Query(providerTokensQuery) { provider_id, user_id }: Infer<typeof providerTokensQuery>,
  ) {
    const tokens = await this.tokens(context, provider_id, user_id);
    for (const { id } of tokens) await this.change(context, id, removeToken);
    return { deleted: tokens.map(({ id }) => id) };
  }

  @Patch('tokens/:token_id/metadata')
  @Scope('write', { views: [OAUTH_VIEW] })
  @Describe({
    summary: 'Label a token, or make it the default',
    takes: ['x-reason'],
  })
  @Answers({ 200: tokenRecord })
  async describe(
    @Context() context: CommandContext,
    @Path(tokenPath) path: Infer<typeof tokenPath>,
    @Body(tokenUpdate) body: Infer<typeof tokenUpdate>,
  ) {
    const { id } = await this.owned(context, path.token_id);
    return tokenSummary(await this.change(context, id, changeToken(body)));
  }

  @Delete('tokens/:token_id')
  @Scope('write', { views: [OAUTH_VIEW] })
  @Describe({
    summary: 'Remove a token',
    takes: ['x-reason'],
  })
  @Answers({ 204: null })
  @HttpCode(204)
  async remove(@Context() context: CommandContext, @Path(tokenPath) path: Infer<typeof tokenPath>): Promise<void> {
    const { id } = await this.owned(context, path.token_id);
    await this.change(context, id, removeToken);
  }

  @Get('agents/:agent_id/connections')
  @Scope('read', { views: [OAUTH_VIEW] })
  @Describe({ summary: 'List the tokens that an agent uses' })
  @Answers({ 200: connections })
  async connections(@Context() context: CommandContext, @Path(agentPath) path: Infer<typeof agentPath>) {
    const found = await this.queries.connections(context.tenantId, path.agent_id);
    return { data: found.map(connectionRecord) };
  }

  /** Connects an agent with a token; connecting it again answers the connection that there is. */
  @Post('agents/:agent_id/connections')
  @Scope('write', { views: [OAUTH_VIEW] })
  @Describe({
    summary: 'Let an agent use a token',
    takes: ['x-reason'],
  })
  @Answers({ 201: connection })
  @HttpCode(201)
  async connect(
    @Context() context: CommandContext,
    @Path(agentPath) path: Infer<typeof agentPath>,
    @Body(connectionRequest) body: Infer<typeof connectionRequest>,
  ) {
    const { id } = await this.owned(context, body.oauth_token_id);
    const wanted = { connection_id: randomUUID(), agent_id: path.agent_id, created_by: context.actor.keyId };
    const token = await this.change(context, id, connectAgent(wanted));
    const connection = token.connections.find(({ agent_id }) => agent_id === path.agent_id)!;
    return connectionRecord({ token, connection });
  }

  @Delete('agents/:agent_id/connections/:connection_id')
  @Scope('write', { views: [OAUTH_VIEW] })
  @Describe({
    summary: 'Let an agent use a token no more',
    takes: ['x-reason'],
  })
  @Answers({ 204: null })
  @HttpCode(204)
  async disconnect(
    @Context() context: CommandContext,
    @Path(connectionPath) { agent_id, connection_id }: Infer<typeof connectionPath>,
  ): Promise<void> {
    const connections = await this.queries.connections(context.tenantId, agent_id);
    const found = connections.find(({ connection }) => connection.connection_id === connection_id);
    if (!found) throw new ConnectionNotFound(connection_id);
    await this.commands.run(withoutVersion(context), found.token.id, disconnectAgent(agent_id, connection_id));
  }

  private async tokens(context: CommandContext, providerRef?: string, user_id?: string): Promise<Token[]> {
    const { tenantId } = context;
    const provider =
      providerRef === undefined ? undefined : (await this.providers.find(tenantId, providerRef)).provider;
    const filter: TokenFilter = {
      ...(provider && { provider: provider.id }),
      ...(user_id !== undefined && { user_id }),
    };
    return this.queries.tokens(tenantId, filter);
  }

  private async owned(context: CommandContext, id: string): Promise<Token> {
    const uuid = canonicalUuid(id);
    const token = uuid === undefined ? undefined : await this.queries.token(context.tenantId, uuid);
    if (!token) throw new TokenNotFound(id);
    return token;
  }

  private async change(context: CommandContext, id: string, decide: (token: Token) => TokenEvent[]) {
    return (await this.commands.change(withoutVersion(context), id, decide)).state;
  }
}

/** Commands on tokens ignore `If-Match`. */
function withoutVersion({ metadata }: CommandContext) {
  return serviceCaller(metadata);
}
