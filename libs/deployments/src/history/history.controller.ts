import { Readable } from 'node:stream';
import { Answers, Area, CommandContext, Context, Describe, linkNext, Path, Query, Scope } from '@fairlead/api';
import { type Infer, str } from '@fairlead/schema';
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import * as answers from '../deployment/deployment.answers.schema';
import { deploymentPath, historyQuery } from '../deployment/deployment.schema';
import { HistoryExport } from './history-export.service';
import { HistoryQueries } from './history.queries';

@Area('Deployments')
@Controller('v2/deployments/:deployment_id/history')
export class HistoryController {
  constructor(
    private readonly queries: HistoryQueries,
    private readonly exports: HistoryExport,
  ) {}

  /**
   * The history of a deployment, also after its removal. `after` leaves out all up to the event that made this version.
   */
  @Get()
  @Scope('read')
  @Describe({
    summary: 'List what happened to a deployment',
    description: 'The newest first unless `order` says otherwise, also after its removal.',
    gives: ['Link'],
  })
  @Answers({ 200: answers.history })
  async list(
    @Context() context: CommandContext,
    @Path(deploymentPath) path: Infer<typeof deploymentPath>,
    @Query(historyQuery) query: Infer<typeof historyQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const page = await this.queries.list(context.tenantId, path.deployment_id, query);
    if (page.offset < page.total) linkNext(reply, page.offset);
    return page;
  }

  /** The events themselves as JSON lines, with a signed last line: to be kept, and verified without this service. */
  @Get('export')
  @Scope('read')
  @Describe({
    summary: 'Export the events of a deployment',
    description: 'As JSON lines, the last one signed: to be kept, and verified without this service.',
    gives: ['Content-Disposition'],
  })
  @Answers({ 200: { content: { 'application/jsonl': str() } } })
  async export(
    @Context() context: CommandContext,
    @Path(deploymentPath) path: Infer<typeof deploymentPath>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const id = path.deployment_id;
    const lines = this.exports.lines(this.queries.eventsOf(context.tenantId, id));
    // A deployment that is not there is found out before the answer begins.
    const first = await lines.next();
    reply.header('content-type', 'application/jsonl; charset=utf-8');
    reply.header('content-disposition', `attachment; filename="deployment-${id}.jsonl"`);
    return Readable.from(joined(first, lines), { objectMode: false });
  }
}

async function* joined(first: IteratorResult<string, void>, rest: AsyncIterable<string>): AsyncGenerator<string> {
  if (!first.done) yield first.value;
  yield* rest;
}
