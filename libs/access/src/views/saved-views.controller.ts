import type { Found } from '@fairlead/eventing';
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
import type { Infer } from '@fairlead/schema';
import { Controller, Delete, Get, HttpCode, Patch, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { changeView, type SavedView } from './saved-view';
import { SavedViewCommands } from './saved-view.commands';
import { SAVED_VIEWS_VIEW } from './saved-view.projection';
import { SavedViewQueries } from './saved-view.queries';
import { changeRequest, createRequest, savedView, savedViews, viewPath, viewsQuery } from './saved-view.schema';

@Area('Console')
@Controller('/v1/views')
export class SavedViewsController {
  constructor(
    private readonly commands: SavedViewCommands,
    private readonly queries: SavedViewQueries,
  ) {}

  @Get()
  @Scope('read', { views: [SAVED_VIEWS_VIEW], strict: true })
  @Describe({ summary: 'List saved views', gives: ['Link'] })
  @Answers({ 200: savedViews })
  async list(
    @Context() { tenantId }: CommandContext,
    @Query(viewsQuery) { page, ...paging }: Infer<typeof viewsQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return answerPage(reply, paging, await this.queries.list(tenantId, page, paging), viewRecord);
  }

  @Post()
  @HttpCode(201)
  @Scope('write', { strict: true })
  @Idempotent()
  @Describe({
    summary: 'Save a view',
    description: 'Everybody in the workspace sees it.',
    takes: ['x-reason'],
    gives: ['ETag'],
  })
  @Answers({ 201: savedView, 409: 'There are as many as there may be.' })
  async create(
    @Context() context: CommandContext,
    @Body(createRequest) sent: Infer<typeof createRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return shown(reply, await this.commands.create(context, sent));
  }

  @Get(':view_id')
  @Scope('read', { strict: true })
  @Describe({ summary: 'Get a saved view', gives: ['ETag'] })
  @Answers({ 200: savedView })
  async find(
    @Context() { tenantId }: CommandContext,
    @Path(viewPath) { view_id: id }: Infer<typeof viewPath>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return shown(reply, await this.commands.find(tenantId, id));
  }

  @Patch(':view_id')
  @Scope('write', { strict: true })
  @Idempotent()
  @Describe({
    summary: 'Change a saved view',
    description: '`parameters` replaces all of them.',
    takes: ['If-Match', 'x-reason'],
    gives: ['ETag'],
  })
  @Answers({ 200: savedView })
  async change(
    @Context() context: CommandContext,
    @Path(viewPath) { view_id: id }: Infer<typeof viewPath>,
    @Body(changeRequest) sent: Infer<typeof changeRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return shown(reply, await this.commands.change(context, id, changeView(sent)));
  }

  @Delete(':view_id')
  @HttpCode(204)
  @Scope('write', { strict: true })
  @Idempotent()
  @Describe({ summary: 'Delete a saved view', takes: ['If-Match', 'x-reason'] })
  @Answers({ 204: null })
  async delete(
    @Context() context: CommandContext,
    @Path(viewPath) { view_id: id }: Infer<typeof viewPath>,
  ): Promise<void> {
    await this.commands.delete(context, id);
  }
}

function viewRecord({ id, page, name, parameters, created_at, updated_at }: SavedView) {
  return { id, page, name, parameters, created_at, updated_at };
}

function shown(reply: FastifyReply, { state, edition }: Found<SavedView>) {
  reply.header('etag', etag(edition));
  return viewRecord(state);
}
