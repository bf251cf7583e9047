import type { IncomingHttpHeaders } from 'node:http';
import { Answers, Area, Body, CommandContext, Context, Describe, Path, Query, Scope, untilClosed } from '@fairlead/api';
import { type Infer, str } from '@fairlead/schema';
import { Controller, Get, Headers, HttpCode, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AuthorizationService } from './authorization.service';
import { type Authentication, authentication, finished, type Waited, waited } from '../oauth/oauth.schema';
import { AuthorizationRefused } from './authorization.errors';
import { ProviderFailed } from '../oauth/provider.errors';
import { OAUTH_VIEW } from '../oauth/oauth.projection';
import { page } from './page';
import type { Provider } from '../oauth/provider';
import { ProviderCommands } from '../provider/provider.commands';
import { providerPath } from '../provider/provider.schema';
import { TokenAccess } from './token-access.service';
import {
  authenticateRequest,
  callbackQuery,
  finalizeRequest,
  startQuery,
  waitPath,
  waitQuery,
} from '../token/token.schema';

const html = { 'text/html': str() };

/**
 * Routes with which people give the agents of a tenant access to their accounts at a provider, and agents get the
 * tokens.
 */
@Area('OAuth tokens')
@Controller('v2/auth')
export class AuthorizationController {
  constructor(
    private readonly access: TokenAccess,
    private readonly flow: AuthorizationService,
    private readonly providers: ProviderCommands,
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
    return this.access.authenticate(context, wantedOf(body));
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
    return this.access.wait(context, path.auth_id, query.timeout, untilClosed(reply));
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
    const finishing = this.flow.finish(context, provider_id, returned, { cookie });
    if (!accept?.includes('text/html')) return completed(await finishing);
    try {
      return shown(reply, signedIn(await finishing));
    } catch (error) {
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

function signedIn({ provider }: { readonly provider: Pick<Provider, 'name'> }): string {
  return page('Signed in', `${provider.name} is connected. You can close this window.`);
}

/** Returns the page of a refusal. @throws every other error */
function refusal(reply: FastifyReply, error: unknown): string {
  if (!(error instanceof AuthorizationRefused) && !(error instanceof ProviderFailed)) throw error;
  void reply.code(error instanceof AuthorizationRefused ? 400 : 502);
  return shown(reply, page('Not signed in', error.message));
}

function wantedOf({ user_id, ls_user_id, agent_id, ...wanted }: Infer<typeof authenticateRequest>) {
  return { ...wanted, user_id: user_id ?? ls_user_id ?? null, agent_id: agent_id ?? null };
}
