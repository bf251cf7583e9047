import type { Found } from '@fairlead/eventing';
import {
  Answers,
  Area,
  Body,
  CommandContext,
  Context,
  Describe,
  etag,
  Idempotent,
  linkNext,
  Path,
  Query,
  Scope,
} from '@fairlead/api';
import type { Infer } from '@fairlead/schema';
import { checkTarget } from '@fairlead/outbound';
import { Controller, Delete, Get, HttpCode, Patch, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { v7 as uuid } from 'uuid';
import { CredentialsStore } from './credentials.store';
import { change, checkAuth, type Integration } from './integration';
import { IntegrationCommands } from './integration.commands';
import { integration, integrations } from './integrations.answers.schema';
import { IntegrationsOptions } from './integrations.options';
import { addRequest, changeRequest, credentialsOf, integrationPath, integrationsQuery } from './integrations.schema';
import { INTEGRATIONS_VIEW, IntegrationsView } from './integrations.projection';
import { publicHost } from './provider';
import { integrationRecord } from './record';

@Area('Integrations')
@Controller('v1/integrations')
export class IntegrationsController {
  constructor(
    private readonly commands: IntegrationCommands,
    private readonly view: IntegrationsView,
    private readonly credentials: CredentialsStore,
    private readonly options: IntegrationsOptions,
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
    const { items, more } = await this.view.list(context.tenantId, page);
    const offset = page.offset + items.length;
    if (more) linkNext(reply, offset);
    return { resources: items.map(integrationRecord), offset };
  }

  @Post()
  @Scope('write', { strict: true })
  @Idempotent()
  @Describe({ summary: 'Add an integration with a code host', takes: ['x-reason'], gives: ['ETag'] })
  @Answers({ 201: integration })
  @HttpCode(201)
  async add(
    @Context() context: CommandContext,
    @Body(addRequest) { name, provider, base_url = publicHost(provider), ...sent }: Infer<typeof addRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const credentials = credentialsOf(sent.credentials);
    checkAuth(provider, credentials.kind);
    const { tenantId } = context;
    await checkTarget(base_url, this.options.outbound, tenantId, 'base_url');
    const id = uuid();
    const auth = await this.credentials.seal(tenantId, id, credentials);
    const webhook_secret =
      sent.webhook_secret === undefined
        ? null
        : await this.credentials.sealWebhookSecret(tenantId, id, sent.webhook_secret);
    const wanted = { integration_id: id, tenant_id: tenantId, name, provider, base_url, auth, webhook_secret };
    return shown(reply, await this.commands.add(context, wanted));
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
    const { tenantId } = context;
    const credentials = sent.credentials && credentialsOf(sent.credentials);
    if (sent.base_url !== undefined) await checkTarget(sent.base_url, this.options.outbound, tenantId, 'base_url');
    const changed = await this.commands.changePrepared(context, id, async () => {
      const auth = credentials && (await this.credentials.seal(tenantId, id, credentials));
      const webhook_secret =
        sent.webhook_secret === undefined
          ? undefined
          : await this.credentials.sealWebhookSecret(tenantId, id, sent.webhook_secret);
      const { name, provider, base_url } = sent;
      return change({ name, provider, base_url, auth, webhook_secret });
    });
    return shown(reply, changed);
  }

  @Delete(':integration_id')
  @Scope('write', { strict: true })
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
