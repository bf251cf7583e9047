import type { IncomingHttpHeaders } from 'node:http';
import { Consistency, EventStore, streamName } from '@fairlead/eventing';
import { Answers, Area, Body, CommandContext, Context, Describe, Path, Query, Scope } from '@fairlead/api';
import { type Infer, str } from '@fairlead/schema';
import { Controller, Get, Headers, HttpCode, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { publicAddress } from '@fairlead/edge';
import { AuthProvidersOptions } from '../auth-providers.options';
import { type Asked, AuthorizationFlow } from './authorization.service';
import { type Authorization, AuthorizationStore } from './authorization.store';
import { AuthorizationWaits } from './authorization-waits.service';
import { type Authentication, authentication, finished, type Waited, waited } from '../oauth.answers.schema';
import { AuthorizationRefused } from './authorization.errors';
import { ProviderFailed, ProviderNotFound } from '../provider/provider.errors';
import { TokenNotFound } from '../token/token.errors';
import { OAuthQueries } from '../oauth.queries';
import { OAUTH_VIEW } from '../oauth.projection';
import { page } from './page';
import type { Provider } from '../provider/provider';
import { ProviderCommands } from '../provider/provider.commands';
import { providerPath } from '../provider/provider.schema';
import { covers, type Token } from '../token/token';
import { TokenRefresher } from '../token/token.service';
import {
  authenticateRequest,
  callbackQuery,
  finalizeRequest,
  startQuery,
  waitPath,
  waitQuery,
} from '../token/token.schema';

const LONGEST_WAIT_SECONDS = 300;
const html = { 'text/html': str() };
type Wanted = ReturnType<typeof wantedOf>;
type Pending = Exclude<Authentication['status'], 'completed'>;

/**
 * Routes with which people give the agents of a tenant access to their accounts at a provider, and agents get the
 * tokens.
 */
@Area('OAuth tokens')
@Controller('v2/auth')
export class AuthorizationController {
  constructor(
    private readonly store: EventStore,
    private readonly consistency: Consistency,
    private readonly flow: AuthorizationFlow,
    private readonly authorizations: AuthorizationStore,
    private readonly waits: AuthorizationWaits,
    private readonly providers: ProviderCommands,
    private readonly queries: OAuthQueries,
    private readonly tokens: TokenRefresher,
    private readonly options: AuthProvidersOptions,
  ) {}

  /** Answers with a token, or with the URL at which a person can grant one. */
  @Post('authenticate')
  @Scope('tokens:read', { views: [OAUTH_VIEW] })
  @Describe({
    summary: 'Get a token, or where a person can give it',
    takes: ['x-reason'],
  })
  @Answers({ 200: authentication, 404: 'There is no such provider or token.' })
  @HttpCode(200)
  async authenticate(
    @Context() context: CommandContext,
    @Body(authenticateRequest) body: Infer<typeof authenticateRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Authentication> {
    reply.header('cache-control', 'no-store');
    const wanted = wantedOf(body);
    const { provider } = await this.providers.find(context.tenantId, wanted.provider);
    const { token, connected } = await this.choose(context, provider, wanted);
    const pending = (status: Pending, token?: Token) => {
      const origin = publicAddress(context, this.options.publicUrl);
      return this.pending(context, origin, provider, wanted, status, token);
    };
    if (!token || wanted.force_new) return pending('pending');
    if (!connected) return pending('connection_required', token);
    if (!covers(token, wanted.scopes)) return pending('pending', token);
    const opened = await this.open(context, token.id, provider);
    if (opened === undefined) return pending('token_expired', token);
    const { id, user_id, scopes, expires_at, provider_account_label } = opened.token;
    const metadata = { token_id: id, scopes, expires_at, provider_account_label };
    return { status: 'completed', url: null, auth_id: null, token: opened.text, user_id, metadata };
  }

  /** Waits until an authorisation has ended, `timeout` seconds at most. */
  @Get('wait/:auth_id')
  @Scope('tokens:read', { load: 'wait' })
  @Describe({
    summary: 'Wait for the end of a sign-in',
    takes: ['x-reason'],
  })
  @Answers({ 200: waited })
  async wait(
    @Context() context: CommandContext,
    @Path(waitPath) path: Infer<typeof waitPath>,
    @Query(waitQuery) query: Infer<typeof waitQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Waited> {
    reply.header('cache-control', 'no-store');
    const seconds = Math.min(query.timeout, LONGEST_WAIT_SECONDS);
    const first = await this.ended(context, path.auth_id);
    if ('token' in first) return first;
    if (seconds === 0) return { status: 'pending', token: null };
    await this.waits.ended(first.id, seconds * 1000, untilClosed(reply));
    const last = await this.ended(context, path.auth_id);
    return 'token' in last ? last : { status: 'timeout', token: null };
  }

  /** Binds a sign-in to the browser that opens it, and sends it to the provider. */
  @Get('start')
  @Scope('public')
  @Describe({
    summary: 'Go to a provider to sign in',
    description: 'The `url` of an answer to `authenticate`: sets a cookie, and redirects to the provider.',
  })
  @Answers({ 302: null, 400: { content: html } })
  async start(
    @Headers('accept') accept: string | undefined,
    @Query(startQuery) { state }: Infer<typeof startQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    void reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
    try {
      const { url, cookie } = await this.flow.open(state);
      void reply.header('set-cookie', cookie).header('location', url).code(302);
      return '';
    } catch (error) {
      if (!(error instanceof AuthorizationRefused) || !accept?.includes('text/html')) throw error;
      return refusal(reply, error);
    }
  }

  /** Where providers send browsers back to. Who comes here has no key: the state tells what it is about. */
  @Get('callback/:provider_id')
  @Scope('public')
  @Describe({
    summary: 'Come back from a provider',
    description:
      'Where providers send browsers, at the `id` of the provider; state and cookie stand for a key. A page with `Accept: text/html`.',
  })
  @Answers({
    200: { content: { 'application/json': finished, ...html } },
    400: { content: html },
    502: { content: html },
  })
  async callback(
    @Context() context: CommandContext,
    @Headers() { accept, cookie }: IncomingHttpHeaders,
    @Path(providerPath) { provider_id }: Infer<typeof providerPath>,
    @Query(callbackQuery) returned: Infer<typeof callbackQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    // Whoever only looks must not use the state up.
    if (reply.request.method === 'HEAD') return '';
    void reply.header('cache-control', 'no-store');
    if (!accept?.includes('text/html')) {
      return completed(await this.flow.finish(context, provider_id, returned, { cookie }));
    }
    try {
      const { provider } = await this.flow.finish(context, provider_id, returned, { cookie });
      return shown(reply, page('Signed in', `${provider.name} is connected. You can close this window.`));
    } catch (error) {
      if (!(error instanceof AuthorizationRefused) && !(error instanceof ProviderFailed)) throw error;
      return refusal(reply, error);
    }
  }

  /** Finishes an authorisation for a client that took the browser's return itself. */
  @Post('callback/:provider_id')
  @Scope('write')
  @Describe({
    summary: 'Finish a sign-in with a code',
    takes: ['x-reason'],
  })
  @Answers({ 200: finished })
  @HttpCode(200)
  async finalize(
    @Context() context: CommandContext,
    @Path(providerPath) path: Infer<typeof providerPath>,
    @Body(finalizeRequest) body: Infer<typeof finalizeRequest>,
  ) {
    const { tenantId } = context;
    await this.providers.find(tenantId, path.provider_id);
    return completed(await this.flow.finish(context, path.provider_id, body, { tenantId }));
  }

  /** The token to use, and whether the agent may: its own connections come first, then the user's tokens. */
  private async choose(
    { tenantId }: CommandContext,
    provider: Provider,
    { token_id, agent_id, user_id, scopes }: Wanted,
  ): Promise<{ token?: Token; connected: boolean }> {
    if (token_id !== undefined) {
      const token = await this.queries.token(tenantId, token_id);
      const fits = token?.provider === provider.id && (user_id === null || token.user_id === user_id);
      if (!token || !fits) throw new TokenNotFound(token_id);
      return { token, connected: true };
    }
    const tokens = await this.queries.tokens(tenantId, { provider: provider.id, user_id });
    const best = (from: Token[]) => from.find((token) => covers(token, scopes)) ?? from[0];
    if (agent_id === null) return { token: best(tokens), connected: true };
    const connected = tokens.filter((token) => token.connections.some((known) => known.agent_id === agent_id));
    return { token: best(connected) ?? best(tokens), connected: connected.length > 0 };
  }

  private async pending(
    context: CommandContext,
    origin: string,
    provider: Provider,
    { user_id, agent_id, is_default, scopes: wanted }: Wanted,
    status: Pending,
    token: Token | undefined,
  ): Promise<Authentication> {
    // Consented to anew, a token keeps what it could do before.
    const scopes = [...new Set([...(token?.requested_scopes ?? []), ...wanted])];
    const asked: Asked = { token_id: token?.id, user_id: token?.user_id ?? user_id, agent_id, scopes, is_default };
    const { url, auth_id } = await this.flow.begin(context, origin, provider, asked);
    return {
      status,
      url,
      auth_id,
      token: null,
      user_id: asked.user_id,
      metadata: token ? { token_id: token.id } : null,
    };
  }

  /** The answer of `wait`, or the authorisation that is still to be waited for. */
  private async ended(context: CommandContext, authId: string): Promise<Waited | Authorization> {
    const { tenantId } = context;
    const found = await this.authorizations.find(tenantId, authId);
    if (!found) return { status: 'not_found', token: null };
    if (found.status === 'failed') return { status: 'not_found', token: null, detail: found.problem ?? undefined };
    if (found.status !== 'completed') {
      return found.expired
        ? { status: 'not_found', token: null, detail: 'Nobody signed in within ten minutes.' }
        : found;
    }
    try {
      const provider = await this.providers.byId(tenantId, found.provider);
      // The sign-in has ended while this request waited.
      await this.consistency.upToDate(tenantId, [OAUTH_VIEW]);
      const opened = await this.open(context, found.token_id, provider);
      return { status: opened ? 'completed' : 'not_found', token: opened?.text ?? null };
    } catch (error) {
      if (!(error instanceof ProviderNotFound) && !(error instanceof TokenNotFound)) throw error;
      return { status: 'not_found', token: null };
    }
  }

  /** The token in plain text; that it was given out is recorded first. */
  private async open(context: CommandContext, id: string, provider: Provider) {
    const { metadata } = context;
    const text = await this.tokens.open(id, provider, metadata);
    if (text === undefined) return undefined;
    const token = await this.queries.token(context.tenantId, id);
    if (!token) throw new TokenNotFound(id);
    const read = { type: 'OAuthTokenRead' as const, data: { provider_id: token.provider_id, user_id: token.user_id } };
    await this.store.append(streamName('oauthTokenAccess', id), 'any', [read], metadata);
    return { text, token };
  }
}

function completed({ auth_id }: { readonly auth_id: string }) {
  return { status: 'completed' as const, auth_id };
}

/** A page that a browser shows. */
function shown(reply: FastifyReply, text: string): string {
  void reply.type('text/html; charset=utf-8');
  void reply.header('content-security-policy', "default-src 'none'; img-src data:; style-src 'unsafe-inline'");
  return text;
}

function refusal(reply: FastifyReply, error: AuthorizationRefused | ProviderFailed): string {
  void reply.code(error instanceof AuthorizationRefused ? 400 : 502);
  return shown(reply, page('Not signed in', error.message));
}

function wantedOf({ user_id, ls_user_id, agent_id, ...wanted }: Infer<typeof authenticateRequest>) {
  return { ...wanted, user_id: user_id ?? ls_user_id ?? null, agent_id: agent_id ?? null };
}

/** Aborts when the client goes away. */
function untilClosed(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}
