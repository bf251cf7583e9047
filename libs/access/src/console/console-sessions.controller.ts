import { Controller, Delete, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
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
} from '@fairlead/api';
import {
  BadRequest,
  Forbidden,
  type Infer,
  list,
  note,
  object,
  optional,
  refine,
  secret,
  str,
  Unauthorized,
  uuid,
} from '@fairlead/schema';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Authenticator } from '../authenticator.service';
import { AccessOptions } from '../tenants/access.options';
import type { Manager } from '../keys/api-key';
import type { ApiKeyEntity } from '../keys/api-key.entity';
import { requireSameOrigin, setCookie } from './console-cookie';
import { CodeUnusable, ConsoleSessionNotFound } from './console.errors';
import { SESSION_MS, sessionScopes } from './console-session';
import { ConsoleSessionView, consoleSessionViews, type ListedSession } from './console-session.projection';
import { ConsoleSessions } from './console-session.commands';
import { consoleCode, consoleSession, listedConsoleSession } from './console.schema';
import { tenantsProjection, TenantView } from '../tenants/tenant.projection';

const LONGEST = 256;
const signIn = refine(
  object({
    api_key: note(optional(secret(str({ max: LONGEST }))), 'API key to sign in with; either it or `code`.'),
    code: note(optional(secret(str({ max: LONGEST }))), 'One-time code to sign in with; either it or `api_key`.'),
  }),
  ({ api_key, code }) => ((api_key === undefined) === (code === undefined) ? 'give api_key or code' : undefined),
);
const named = object({ console_session_id: note(uuid(), 'The `id` of an element of the list of sessions.') });

/** Signs browsers in to the console, and out. */
@Area('Console')
@Controller('/v1/console')
export class ConsoleSessionsController {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly sessions: ConsoleSessions,
    private readonly view: ConsoleSessionView,
    private readonly tenants: TenantView,
    private readonly options: AccessOptions,
  ) {}

  @Post('session')
  @HttpCode(200)
  @Scope('public', { views: [tenantsProjection.name], acrossWorkspaces: true, strict: true })
  @Describe({
    summary: 'Sign in to the console',
    description:
      'With a key, or with the code of a link. Sets a cookie that stands for the key in requests of the pages of this server; only these may ask for it.',
  })
  @Answers({
    200: consoleSession,
    401: 'The key or the code is wrong.',
    403: 'It is no page of this server that asks.',
  })
  async open(
    @Req() request: FastifyRequest,
    @Context() context: CommandContext,
    @Body(signIn) { api_key, code }: Infer<typeof signIn>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    requireSameOrigin(request);
    const { key, tenantId } = await this.signedIn(request, api_key, code);
    request.claimant = { keyId: key.id, tenantId };
    const metadata = { ...context.metadata, actor: key.id, tenant: tenantId };
    const { session, token } = await this.sessions.open(key, tenantId, metadata);
    void reply.header('set-cookie', setCookie(request, this.options.https, token, SESSION_MS / 1000));
    return this.answer(key, tenantId, session);
  }

  @Get('session')
  @Scope('read', { views: [tenantsProjection.name], acrossWorkspaces: true, anonymous: true, strict: true })
  @Describe({
    summary: 'Get the session of this request',
    description: 'Sent with a key instead of a session, it tells of the key.',
  })
  @Answers({ 200: consoleSession })
  async show(@Req() request: FastifyRequest) {
    const { actor, consoleSession: session } = request;
    const key = await this.authenticator.keyOf(actor);
    return session ? this.answer(key, session.tenant_id, session) : this.answer(key, actor.tenantId);
  }

  @Delete('session')
  @HttpCode(204)
  @Scope('read', { strict: true })
  @Describe({
    summary: 'Sign out of the console',
    takes: ['x-reason'],
  })
  @Answers({
    204: null,
    400: 'The request was sent with a key and has no session.',
    422: 'It has a body that is no JSON.',
  })
  async close(
    @Req() request: FastifyRequest,
    @Context() context: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const { consoleSession: session } = request;
    if (!session) throw new BadRequest('This request was sent with a key: it has no session that could end.');
    await this.sessions.end(session.id, context.metadata);
    void reply.header('set-cookie', setCookie(request, this.options.https, undefined, 0));
  }

  @Post('codes')
  @HttpCode(200)
  @Scope('read', { strict: true })
  @Describe({
    summary: 'Make a link that signs in to the console',
    description: 'Whoever opens it within ten minutes, once, has a session of the key that made it.',
    takes: ['x-reason'],
  })
  @Answers({ 200: consoleCode, 422: 'It has a body that is no JSON.' })
  async code(@Req() { consoleSession: session }: FastifyRequest, @Context() context: CommandContext) {
    // Otherwise a session could follow itself again and again, and would never end.
    if (session) throw new Forbidden('A link is made with a key: a session of the console makes no further sessions.');
    const key = await this.authenticator.keyOf(context.actor);
    const { code, expires_at } = await this.sessions.issueCode(key, context.tenantId, context.metadata);
    return { code, path: `/login#code=${code}`, expires_at };
  }

  @Get('sessions')
  @Scope('admin', { views: consoleSessionViews, acrossWorkspaces: true, strict: true })
  @Describe({ summary: 'List the browsers that are signed in to the console' })
  @Answers({ 200: list(listedConsoleSession) })
  async list(@Req() request: FastifyRequest) {
    const sessions = await this.view.list(await this.managerOf(request.actor));
    return sessions.map((session) => listed(session, request.consoleSession?.id));
  }

  @Delete('sessions/:console_session_id')
  @HttpCode(204)
  @Scope('admin', { views: consoleSessionViews, acrossWorkspaces: true, strict: true })
  @Describe({ summary: 'Sign a browser out of the console', takes: ['x-reason'] })
  @Answers({ 204: null })
  async end(
    @Context() context: CommandContext,
    @Path(named) { console_session_id: id }: Infer<typeof named>,
  ): Promise<void> {
    const seen = await this.view.list(await this.managerOf(context.actor));
    if (!seen.some((session) => session.id === id)) throw new ConsoleSessionNotFound(id);
    await this.sessions.end(id, context.metadata);
  }

  /** Whose key or code it is, and the workspace to begin in. @throws Unauthorized */
  private async signedIn(request: FastifyRequest, text: string | undefined, code: string | undefined) {
    try {
      if (text !== undefined) return await this.authenticator.signIn(text);
      const { key_id, key_hash, tenant_id } = await this.sessions.redeem(code!);
      return await this.authenticator.signInAs(key_id, key_hash, tenant_id);
    } catch (error) {
      if (!(error instanceof Unauthorized)) throw error;
      request.guessed = text ?? code;
      throw code === undefined ? error : new CodeUnusable();
    }
  }

  private async answer(key: ApiKeyEntity, workspaceId: string, session?: { id: string; expires_at: string }) {
    const { kind, organization_id } = key;
    const opened =
      kind === 'tenant'
        ? await this.tenants.byIds([workspaceId])
        : await this.tenants.list(kind === 'operator' ? undefined : organization_id, false);
    const workspaces = opened.map(({ id, display_name, tenant_handle }) => ({ id, display_name, tenant_handle }));
    return shown(key, workspaceId, workspaces, session);
  }

  private async managerOf(actor: Actor): Promise<Manager> {
    const { kind, expires_at } = await this.authenticator.keyOf(actor);
    if (!actor.scopes.has('admin')) throw new Forbidden();
    return { ...actor, kind, expires_at };
  }
}

/** An element of the list of sessions; `current`: the id of the session that asks. */
function listed(session: ListedSession, current: string | undefined) {
  const { id, key_id, short_key, key_description: description, tenant_id, address } = session;
  const { created_at, used_at, expires_at } = session;
  const key = { id: key_id, short_key, description };
  return { id, key, workspace_id: tenant_id, address, created_at, used_at, expires_at, current: id === current };
}

/** The answer about a session, or about a key that no session stands for. */
function shown<W>(
  key: ApiKeyEntity,
  workspace_id: string,
  workspaces: W[],
  session?: { id: string; expires_at: string },
) {
  const { id, short_key, description } = key;
  return {
    id: session?.id ?? null,
    workspace_id,
    workspaces,
    scopes: session ? [...sessionScopes(key.scopes)] : [...key.scopes],
    reveals_secrets: effectiveScopes(key.scopes).has('secrets:read'),
    key: { id, short_key, description },
    expires_at: session?.expires_at ?? key.expires_at,
  };
}
