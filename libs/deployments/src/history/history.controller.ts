import { actorNames, EventStore, type Recorded, streamName } from '@fairlead/eventing';
import { Answers, Area, CommandContext, Context, Describe, linkNext, Path, Query, Scope, shape } from '@fairlead/api';
import type { Infer } from '@fairlead/schema';
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { history } from '../deployment/audit';
import type { DeploymentEvent, SecretsRead } from '../deployment/deployment-events';
import * as answers from '../deployment/deployment.answers.schema';
import { deploymentPath, historyQuery } from '../deployment/deployment.schema';
import { DeploymentNotFound } from '../deployment/deployment.errors';
import { HistoryExport } from './history.export';

@Area('Deployments')
@Controller('v2/deployments/:deployment_id/history')
export class HistoryController {
  constructor(
    private readonly store: EventStore,
    private readonly exports: HistoryExport,
  ) {}

  /** What happened to a deployment, also after its removal. `after` leaves out all up to the event that made this version. */
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
    const id = path.deployment_id;
    const events = await this.eventsOf(context, id);
    const reads = (await this.store.read(streamName('secretAccess', id))) as Recorded<SecretsRead>[];
    const after = query.after ? (events[query.after - 1]?.position ?? events.at(-1)!.position) : 0n;
    const { types, order } = query;
    const entries = history(events, reads).filter(
      ({ position, entry }) => position > after && (types?.includes(entry.type) ?? true),
    );
    if (order === 'desc') entries.reverse();
    const page = entries.slice(query.offset, query.offset + query.limit);
    const offset = query.offset + page.length;
    if (offset < entries.length) linkNext(reply, offset);
    const names = await actorNames(
      this.store,
      page.map(({ entry }) => entry.actor),
    );
    const resources = page.map(({ entry: { actor, ...entry } }) => {
      return { ...entry, actor, actor_name: names.get(actor) ?? null };
    });
    return { resources, offset, total: entries.length };
  }

  /** The events themselves as JSON lines, with a signed last line: to be kept, and verified without this service. */
  @Get('export')
  @Scope('read')
  @Describe({
    summary: 'Export the events of a deployment',
    description: 'As JSON lines, the last one signed: to be kept, and verified without this service.',
    gives: ['Content-Disposition'],
  })
  @Answers({ 200: { content: { 'application/jsonl': shape.text } } })
  async export(
    @Context() context: CommandContext,
    @Path(deploymentPath) path: Infer<typeof deploymentPath>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const id = path.deployment_id;
    const lines = await this.exports.lines(await this.eventsOf(context, id));
    reply.header('content-type', 'application/jsonl; charset=utf-8');
    reply.header('content-disposition', `attachment; filename="deployment-${id}.jsonl"`);
    return `${lines.join('\n')}\n`;
  }

  private async eventsOf(context: CommandContext, id: string): Promise<Recorded<DeploymentEvent>[]> {
    const events = (await this.store.read(streamName('deployment', id))) as Recorded<DeploymentEvent>[];
    const [created] = events;
    if (created?.type === 'DeploymentCreated' && created.data.tenant_id === context.tenantId) return events;
    throw new DeploymentNotFound(id);
  }
}
