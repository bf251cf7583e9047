import {
  answerPage,
  Answers,
  Area,
  Body,
  CommandContext,
  Context,
  Describe,
  etag,
  Idempotent,
  Path,
  Query,
  Scope,
} from '@fairlead/api';
import type { Found } from '@fairlead/eventing';
import { EXPERIMENTS_VIEWS, hasProject } from '@fairlead/runs';
import { type Infer, NotFound } from '@fairlead/schema';
import { Controller, Delete, Get, HttpCode, Patch, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Pool } from 'pg';
import { changeMonitor, type Monitor } from './monitor';
import { MonitorCommands } from './monitor.commands';
import { MONITORS_VIEW } from './monitor.projection';
import { type LastLook, MonitorQueries } from './monitor.queries';
import { changeRequest, createRequest, monitor, monitorPath, monitors, monitorsQuery } from './monitor.schema';

@Area('Monitors')
@Controller('v1/monitors')
export class MonitorsController {
  constructor(
    private readonly commands: MonitorCommands,
    private readonly queries: MonitorQueries,
    private readonly pool: Pool,
  ) {}

  @Get()
  @Scope('read', { views: [MONITORS_VIEW], strict: true })
  @Describe({ summary: 'List monitors', gives: ['Link'] })
  @Answers({ 200: monitors })
  async list(
    @Context() { tenantId }: CommandContext,
    @Query(monitorsQuery) { project_id, ...paging }: Infer<typeof monitorsQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return answerPage(reply, paging, await this.queries.list(tenantId, project_id, paging), ({ monitor: one, last }) =>
      monitorRecord(one, last),
    );
  }

  @Post()
  @HttpCode(201)
  @Scope('write', { views: EXPERIMENTS_VIEWS, strict: true })
  @Idempotent()
  @Describe({
    summary: 'Create a monitor',
    description: 'It looks at the runs of a tracing project from now on, and tells webhooks when its state changes.',
    takes: ['x-reason'],
    gives: ['ETag'],
  })
  @Answers({ 201: monitor, 404: 'There is no such project.', 409: 'There are as many as there may be.' })
  async create(
    @Context() context: CommandContext,
    @Body(createRequest) sent: Infer<typeof createRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { project_id: project } = sent;
    const isKnown = await hasProject(this.pool, { tenantId: context.tenantId, id: project });
    if (!isKnown) throw new NotFound(`Project ID ${project} not found.`);
    return this.shown(reply, await this.commands.create(context, sent));
  }

  @Get(':monitor_id')
  @Scope('read', { strict: true })
  @Describe({ summary: 'Get a monitor', gives: ['ETag'] })
  @Answers({ 200: monitor })
  async find(
    @Context() { tenantId }: CommandContext,
    @Path(monitorPath) { monitor_id: id }: Infer<typeof monitorPath>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.shown(reply, await this.commands.find(tenantId, id));
  }

  @Patch(':monitor_id')
  @Scope('write', { strict: true })
  @Idempotent()
  @Describe({
    summary: 'Change a monitor',
    description: 'Its state stays as it is until looks speak for another one.',
    takes: ['If-Match', 'x-reason'],
    gives: ['ETag'],
  })
  @Answers({ 200: monitor })
  async change(
    @Context() context: CommandContext,
    @Path(monitorPath) { monitor_id: id }: Infer<typeof monitorPath>,
    @Body(changeRequest) sent: Infer<typeof changeRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.shown(reply, await this.commands.change(context, id, changeMonitor(sent)));
  }

  @Delete(':monitor_id')
  @HttpCode(204)
  @Scope('write', { strict: true })
  @Idempotent()
  @Describe({ summary: 'Delete a monitor', takes: ['If-Match', 'x-reason'] })
  @Answers({ 204: null })
  async delete(
    @Context() context: CommandContext,
    @Path(monitorPath) { monitor_id: id }: Infer<typeof monitorPath>,
  ): Promise<void> {
    await this.commands.delete(context, id);
  }

  private async shown(reply: FastifyReply, { state, edition }: Found<Monitor>) {
    reply.header('etag', etag(edition));
    return monitorRecord(state, await this.queries.lastLook(state.tenant_id, state.id));
  }
}

function monitorRecord(monitor: Monitor, last_look: LastLook) {
  const { id, name, project_id, revision_id, measure, feedback_key, alerts_when } = monitor;
  const { threshold, recovery_threshold, window_minutes, looks, min_runs, enabled } = monitor;
  const { state, state_since, reason, alerting_since, created_at, updated_at } = monitor;
  return {
    ...{ id, name, project_id, revision_id, measure, feedback_key, alerts_when },
    ...{ threshold, recovery_threshold, window_minutes, looks, min_runs, enabled },
    ...{ state, state_since, reason, alerting_since, last_look, created_at, updated_at },
  };
}
