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
import type { Integration } from './integration';
import { IntegrationCommands } from './integration.commands';
import {
  addRequest,
  changeRequest,
  integration,
  integrationPath,
  integrations,
  integrationsQuery,
} from './integration.schema';
import { INTEGRATIONS_VIEW } from './integration.projection';
import { IntegrationQueries } from './integration.queries';
import { integrationRecord } from './record';

@Area('Integrations')
@Controller('v1/integrations')
export class IntegrationsController {
  constructor(
    private readonly commands: IntegrationCommands,
    private readonly queries: IntegrationQueries,
  ) {}

  @Get()
  @Scope('read', { views: [INTEGRATIONS_VIEW], strict: true })
  @Describe({ summary: 'List integrations', gives: ['Link'] })
  @Answers({ 200: integrations })
  async list(
    @Context() context: CommandContext,
    @Query(integrationsQuery) page: Infer<typeof integrationsQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return answerPage(reply, page, await this.queries.list(context.tenantId, page), integrationRecord);
  }

  @Post()
  @Scope('write', { strict: true })
  @Idempotent()
  @Describe({ summary: 'Add an integration with a code host', takes: ['x-reason'], gives: ['ETag'] })
  @Answers({ 201: integration })
  @HttpCode(201)
  async add(
    @Context() context: CommandContext,
    @Body(addRequest) sent: Infer<typeof addRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return shown(reply, await this.commands.add(context, sent));
  }

  @Get(':integration_id')
  @Scope('read', { strict: true })
  @Describe({ summary: 'Get an integration', description: 'Never its credentials.', gives: ['ETag'] })
  @Answers({ 200: integration })
  async find(
    @Context() context: CommandContext,
    @Path(integrationPath) { integration_id: id }: Infer<typeof integrationPath>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return shown(reply, await this.commands.find(context.tenantId, id));
  }

  @Patch(':integration_id')
  @Scope('write', { strict: true })
  @Idempotent()
  @Describe({
    summary: 'Change an integration',
    description: 'Another `base_url` needs the credentials again.',
    takes: ['If-Match', 'x-reason'],
    gives: ['ETag'],
  })
  @Answers({ 200: integration })
  async change(
    @Context() context: CommandContext,
    @Path(integrationPath) { integration_id: id }: Infer<typeof integrationPath>,
    @Body(changeRequest) sent: Infer<typeof changeRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return shown(reply, await this.commands.patch(context, id, sent));
  }

  @Delete(':integration_id')
  @Scope('write', { strict: true })
  @Idempotent()
  @Describe({ summary: 'Remove an integration', takes: ['If-Match', 'x-reason'] })
  @Answers({ 204: null })
  @HttpCode(204)
  async remove(
    @Context() context: CommandContext,
    @Path(integrationPath) { integration_id: id }: Infer<typeof integrationPath>,
  ): Promise<void> {
    await this.commands.remove(context, id);
  }
}

function shown(reply: FastifyReply, { state, edition }: Found<Integration>) {
  reply.header('etag', etag(edition));
  return integrationRecord(state);
}
