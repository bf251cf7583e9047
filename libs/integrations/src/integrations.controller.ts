import { EventStore, handle, type Handled, load, Quotas, streamName } from '@fairlead/eventing';
import {
  Access,
  Area,
  body,
  Describe,
  etag,
  Idempotency,
  ifMatch,
  linkNext,
  metadataOf,
  path as pathOf,
  query,
  validateRequest,
} from '@fairlead/api';
import { checkTarget } from '@fairlead/outbound';
import { Controller, Delete, Get, HttpCode, Patch, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { v7 as uuid } from 'uuid';
import { CredentialsSafe } from './credentials.safe';
import {
  add,
  change,
  checkAuth,
  type Integration,
  integrationModel,
  type IntegrationState,
  owned,
  remove,
} from './integration';
import type { IntegrationEvent } from './integration';
import { integration, integrations } from './integrations.answers.schema';
import { IntegrationsOptions } from './integrations.options';
import { addRequest, changeRequest, credentialsOf, integrationPath, integrationsQuery } from './integrations.schema';
import { INTEGRATIONS_VIEW, IntegrationsView } from './integrations.view';
import { publicHost } from './provider';
import { integrationRecord } from './record';

@Area('Integrations')
@Controller('v1/integrations')
export class IntegrationsController {
  constructor(
    private readonly store: EventStore,
    private readonly quotas: Quotas,
    private readonly view: IntegrationsView,
    private readonly safe: CredentialsSafe,
    private readonly idempotency: Idempotency,
    private readonly options: IntegrationsOptions,
  ) {}

  @Get()
  @Access('read', { views: [INTEGRATIONS_VIEW] })
  @Describe({ summary: 'List integrations', query: integrationsQuery, answers: { 200: integrations }, gives: ['Link'] })
  async list(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const page = query(integrationsQuery, request);
    const { items, more } = await this.view.list(request.actor.tenantId, page);
    const offset = page.offset + items.length;
    if (more) linkNext(request, reply, offset);
    return { resources: items.map(integrationRecord), offset };
  }

  @Post()
  @Access('write')
  @Describe({
    summary: 'Add an integration with a code host',
    body: addRequest,
    answers: { 201: integration },
    takes: ['Idempotency-Key', 'x-reason'],
    gives: ['ETag'],
  })
  @HttpCode(201)
  async add(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { name, provider, base_url = publicHost(provider), ...sent } = body(addRequest, request);
    const credentials = credentialsOf(sent.credentials);
    checkAuth(provider, credentials.kind);
    await checkTarget(base_url, this.options.outbound, request.actor.tenantId, 'base_url');
    return this.idempotency.run(request, reply, async () => {
      const { tenantId } = request.actor;
      const id = uuid();
      const auth = await this.safe.seal(tenantId, id, credentials);
      const webhook_secret =
        sent.webhook_secret === undefined ? null : await this.safe.sealWebhookSecret(tenantId, id, sent.webhook_secret);
      const wanted = { integration_id: id, tenant_id: tenantId, name, provider, base_url, auth, webhook_secret };
      const stream = streamName('integration', id);
      const create = () => handle(this.store, integrationModel, stream, add(wanted), metadataOf(request));
      const added = await this.quotas.within('integrations', tenantId, id, create);
      return shown(reply, added);
    });
  }

  @Get(':integration_id')
  @Access('read')
  @Describe({
    summary: 'Get an integration',
    description: 'Never its credentials.',
    path: integrationPath,
    answers: { 200: integration },
    gives: ['ETag'],
  })
  async find(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { integration_id: id } = pathOf(integrationPath, request);
    const { state, version } = await load(this.store, integrationModel, streamName('integration', id));
    const record = owned(request.actor.tenantId, id, integrationRecord)(state);
    reply.header('etag', etag(version));
    return record;
  }

  @Patch(':integration_id')
  @Access('write')
  @Describe({
    summary: 'Change an integration',
    description: 'Another `base_url` needs the credentials again.',
    path: integrationPath,
    body: changeRequest,
    answers: { 200: integration },
    takes: ['Idempotency-Key', 'If-Match', 'x-reason'],
    gives: ['ETag'],
  })
  async change(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { path, body: sent } = validateRequest(request, { path: integrationPath, body: changeRequest });
    const id = path.integration_id;
    const { tenantId } = request.actor;
    const credentials = sent.credentials && credentialsOf(sent.credentials);
    if (sent.base_url !== undefined) await checkTarget(sent.base_url, this.options.outbound, tenantId, 'base_url');
    return this.idempotency.run(request, reply, async () => {
      const { state } = await load(this.store, integrationModel, streamName('integration', id));
      owned(tenantId, id, () => undefined)(state);
      const auth = credentials && (await this.safe.seal(tenantId, id, credentials));
      const webhook_secret =
        sent.webhook_secret === undefined
          ? undefined
          : await this.safe.sealWebhookSecret(tenantId, id, sent.webhook_secret);
      const { name, provider, base_url } = sent;
      return shown(reply, await this.run(request, id, change({ name, provider, base_url, auth, webhook_secret })));
    });
  }

  @Delete(':integration_id')
  @Access('write')
  @Describe({
    summary: 'Remove an integration',
    path: integrationPath,
    answers: { 204: null },
    takes: ['If-Match', 'x-reason'],
  })
  @HttpCode(204)
  async remove(@Req() request: FastifyRequest): Promise<void> {
    const { integration_id: id } = pathOf(integrationPath, request);
    await this.run(request, id, remove);
    await this.quotas.giveBack('integrations', id);
  }

  private async run(request: FastifyRequest, id: string, decide: (state: Integration) => IntegrationEvent[]) {
    const decideOwned = owned(request.actor.tenantId, id, decide);
    const stream = streamName('integration', id);
    const metadata = metadataOf(request);
    return handle(this.store, integrationModel, stream, decideOwned, metadata, ifMatch(request));
  }
}

function shown(reply: FastifyReply, { state, version }: Handled<IntegrationState, IntegrationEvent>) {
  reply.header('etag', etag(version));
  return integrationRecord(state!);
}
