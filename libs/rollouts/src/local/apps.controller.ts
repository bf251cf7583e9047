import { Answers, Area, CommandContext, Context, Describe, Path, Query, Scope, shape } from '@fairlead/api';
import { int, literal, note, NotFound, object, optional, str, Unavailable, uuid, type Infer } from '@fairlead/schema';
import type { IncomingMessage } from 'node:http';
import { Controller, Delete, Get, Patch, Post, Put, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AppLogLine } from './app-logs.store';
import { AppUnavailable } from './app.runner';
import { forward, responseHeaders } from './apps.http';
import { AppSockets } from './app-sockets.http';
import { LocalApps } from './apps.service';

/** A slash at the end of a path is no part of it for the router. */
const PATHS = ['apps/:app', 'apps/:app/*'];

const appPath = object({ deployment_id: note(uuid(), 'The `id` of a deployment of this workspace.') });
const logsQuery = object({
  level: optional(note(literal(['INFO', 'WARNING', 'ERROR']), 'Only lines of this level.')),
  query: optional(note(str(), 'Only lines that hold this text, in upper or lower case.')),
  after: optional(note(int({ ge: 0 }), 'Only lines after the one of this `id`.'), 0),
  limit: optional(
    note(int({ ge: 1, le: 1000 }), 'Most lines; the newest are answered, the oldest of them first.'),
    100,
  ),
});
const { integer, list, noted, oneOf, text, time } = shape;
const appLogs = shape.object('AppLogs', {
  logs: noted(
    list(
      shape.object('AppLogLine', {
        id: noted(integer, 'Counts the lines of the deployment since the server was started.'),
        timestamp: noted(time, 'When the line was written.'),
        level: noted(oneOf('INFO', 'WARNING', 'ERROR'), '`WARNING` for what was written to standard error.'),
        message: noted(text, 'The line, without values of secrets.'),
      }),
    ),
    'The last lines that the program wrote.',
  ),
});

/** The programs that run on this machine, at addresses of this service. */
@Area('Deployments')
@Controller()
export class AppsController {
  private readonly sockets = new AppSockets();

  constructor(private readonly apps: LocalApps) {}

  @Get('v2/deployments/:deployment_id/app_logs')
  @Scope('read')
  @Describe({ summary: 'Read what a running deployment writes' })
  @Answers({ 200: appLogs })
  logs(
    @Context() { tenantId }: CommandContext,
    @Path(appPath) { deployment_id }: Infer<typeof appPath>,
    @Query(logsQuery) query: Infer<typeof logsQuery>,
  ): { logs: AppLogLine[] } {
    const id = this.apps.find(tenantId, deployment_id);
    if (id === undefined) throw new NotFound(`Deployment ID ${deployment_id} not found.`);
    return { logs: this.apps.logs(id).read(query) };
  }

  @Get(PATHS)
  @Scope('invoke', { stream: true, load: 'wait' })
  get(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.forward(request, reply);
  }

  @Post(PATHS)
  @Scope('invoke', { stream: true, load: 'wait' })
  post(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.forward(request, reply);
  }

  @Put(PATHS)
  @Scope('invoke', { stream: true, load: 'wait' })
  put(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.forward(request, reply);
  }

  @Patch(PATHS)
  @Scope('invoke', { stream: true, load: 'wait' })
  patch(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.forward(request, reply);
  }

  @Delete(PATHS)
  @Scope('invoke', { stream: true, load: 'wait' })
  remove(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.forward(request, reply);
  }

  private async forward(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { app: named } = request.params as { app: string };
    const id = this.apps.find(request.actor.tenantId, named);
    if (id === undefined) throw new NotFound(`App '${named}' not found.`);
    const entered = await this.apps.enter(id).catch((error: unknown) => {
      const isKnown = error instanceof AppUnavailable;
      throw isKnown ? new Unavailable(1, `The deployment does not answer: ${error.message}`) : error;
    });
    reply.raw.once('close', entered.end);
    if (reply.raw.destroyed) return entered.end();
    const { upgrade } = request.raw as IncomingMessage & { upgrade?: boolean };
    const answer = await (upgrade ? this.sockets.join(request, reply, entered) : forward(request, reply, entered.port));
    if (!answer) return;
    await reply
      .status(answer.statusCode ?? 502)
      .headers(responseHeaders(answer))
      .send(answer);
  }
}
