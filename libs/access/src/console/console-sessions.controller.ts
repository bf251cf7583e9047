import { Answers, Area, Body, CommandContext, Context, Describe, Path, Scope } from '@fairlead/api';
import { BadRequest, Forbidden, type Infer, list, Unauthorized } from '@fairlead/schema';
import { Controller, Delete, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiKeyEntity } from '../keys/api-key.entity';
import { KnownKeys } from '../keys/known-keys.service';
import { AccessOptions } from '../tenants/access.options';
import { tenantsProjection } from '../tenants/tenant.projection';
import { TenantQueries } from '../tenants/tenant.queries';
import { requireSameOrigin, setCookie } from './console-cookie';
import { SESSION_MS } from './console-session';
import { ConsoleSessionCommands } from './console-session.commands';
import { ConsoleSessionQueries, consoleSessionViews, sessionRecord, signedInRecord } from './console-session.queries';
import { ConsoleSessionNotFound } from './console.errors';
import { consoleCode, consoleSession, listedConsoleSession, sessionPath, signInRequest } from './console.schema';
import { SignIn } from './sign-in.service';

/** Signs browsers in to the console, and out. */
@Area('Console')
@Controller('/v1/console')
export class ConsoleSessionsController {
  constructor(
    private readonly signIn: SignIn,
    private readonly commands: ConsoleSessionCommands,
    private readonly queries: ConsoleSessionQueries,
    private readonly keys: KnownKeys,
    private readonly tenants: TenantQueries,
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
    @Body(signInRequest) sent: Infer<typeof signInRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    requireSameOrigin(request);
    const { key, tenantId } = await this.signIn.begin(sent).catch((error: unknown) => {
      if (error instanceof Unauthorized) request.guessed = sent.api_key ?? sent.code;
      throw error;
    });
    request.claimant = { keyId: key.id, tenantId };
    const metadata = { ...context.metadata, actor: key.id, tenant: tenantId };
    const { session, token } = await this.commands.open(key, tenantId, metadata);
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
    const key = await this.keys.keyOf(actor);
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
    await this.commands.end(session.id, context.metadata);
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
    const key = await this.keys.keyOf(context.actor);
    const { code, expires_at } = await this.commands.issueCode(key, context.tenantId, context.metadata);
    return { code, path: `/login#code=${code}`, expires_at };
  }

  @Get('sessions')
  @Scope('admin', { views: consoleSessionViews, acrossWorkspaces: true, strict: true })
  @Describe({ summary: 'List the browsers that are signed in to the console' })
  @Answers({ 200: list(listedConsoleSession) })
  async list(@Req() request: FastifyRequest) {
    const sessions = await this.queries.list(await this.keys.managerOf(request.actor));
    return sessions.map((session) => sessionRecord(session, request.consoleSession?.id));
  }

  @Delete('sessions/:console_session_id')
  @HttpCode(204)
  @Scope('admin', { views: consoleSessionViews, acrossWorkspaces: true, strict: true })
  @Describe({ summary: 'Sign a browser out of the console', takes: ['x-reason'] })
  @Answers({ 204: null })
  async end(
    @Context() context: CommandContext,
    @Path(sessionPath) { console_session_id: id }: Infer<typeof sessionPath>,
  ): Promise<void> {
    const seen = await this.queries.list(await this.keys.managerOf(context.actor));
    if (!seen.some((session) => session.id === id)) throw new ConsoleSessionNotFound(id);
    await this.commands.end(id, context.metadata);
  }

  private async answer(key: ApiKeyEntity, workspaceId: string, session?: { id: string; expires_at: string }) {
    return signedInRecord(key, workspaceId, await this.tenants.openTo(key, workspaceId), session);
  }
}
