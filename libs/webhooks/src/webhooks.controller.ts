import { EventStore, handle, load, Quotas, streamName } from '@fairlead/eventing';
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
import { webhookRecord, type WithSecret } from './record';
import { HEALTHY, TargetTable } from './deliveries/target.table';
import {
  add,
  owned,
  patch,
  remove,
  renews,
  rotateSecret,
  type Webhook,
  type WebhookEvent,
  webhookModel,
} from './webhook';
import { WebhookSecrets } from './webhook.secrets';
import { webhook as webhookShape, webhooksPage, webhookWithSecret } from './webhooks.answers.schema';
import { WebhooksOptions } from './webhooks.options';
import { addRequest, patchRequest, webhookPath, webhooksQuery } from './webhooks.schema';
import { WEBHOOKS_VIEW, WebhooksView } from './webhooks.view';

@Area('Webhooks')
@Controller('v1/webhooks')
export class WebhooksController {
  constructor(
    private readonly store: EventStore,
    private readonly view: WebhooksView,
    private readonly targets: TargetTable,
    private readonly secrets: WebhookSecrets,
    private readonly idempotency: Idempotency,
    private readonly quotas: Quotas,
    private readonly options: WebhooksOptions,
  ) {}

  @Get()
  @Access('read', { views: [WEBHOOKS_VIEW] })
  @Describe({
    summary: 'List webhooks',
    query: webhooksQuery,
    answers: { 200: webhooksPage },
    gives: ['Link'],
  })
  async list(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const page = query(webhooksQuery, request);
    const { items, more } = await this.view.list(request.actor.tenantId, page);
    const offset = page.offset + items.length;
    if (more) linkNext(request, reply, offset);
    return { resources: items.map(({ webhook, ...health }) => webhookRecord(webhook, health)), offset };
  }

  @Post()
  @Access('write')
  @Describe({
    summary: 'Add a webhook',
    description: 'The answer tells the secret that deliveries are signed with after Standard Webhooks.',
    body: addRequest,
    answers: { 201: webhookWithSecret, 400: 'The target cannot be called.', 409: 'There are as many as there may be.' },
    takes: ['Idempotency-Key', 'x-reason'],
    gives: ['ETag'],
  })
  @HttpCode(201)
  async add(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<WithSecret> {
    const { event_types, ...sent } = body(addRequest, request);
    await checkTarget(sent.url, this.options.outbound, request.actor.tenantId);
    const { tenantId } = request.actor;
    const record = await this.idempotency.run(request, reply, async () => {
      const id = uuid();
      const types = [...new Set(event_types)];
      const create = async () => {
        const secret = await this.secrets.make(tenantId, id);
        const decide = add({ webhook_id: id, tenant_id: tenantId, ...sent, event_types: types, secret });
        return handle(this.store, webhookModel, streamName('webhook', id), decide, metadataOf(request));
      };
      const added = await this.quotas.within('webhooks', tenantId, id, create, this.options.mostPerTenant);
      return this.shown(reply, added);
    });
    return this.withSecret(tenantId, record);
  }

  @Get(':webhook_id')
  @Access('read', { views: [WEBHOOKS_VIEW] })
  @Describe({ summary: 'Get a webhook', path: webhookPath, answers: { 200: webhookShape }, gives: ['ETag'] })
  async find(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { webhook_id: id } = pathOf(webhookPath, request);
    const { state, version } = await load(this.store, webhookModel, streamName('webhook', id));
    const webhook = owned(request.actor.tenantId, id, (found) => found)(state);
    reply.header('etag', etag(version));
    return webhookRecord(webhook, await this.targets.health(id));
  }

  @Patch(':webhook_id')
  @Access('write')
  @Describe({
    summary: 'Change a webhook',
    path: webhookPath,
    body: patchRequest,
    answers: { 200: webhookShape, 400: 'The target cannot be called.' },
    takes: ['Idempotency-Key', 'If-Match', 'x-reason'],
    gives: ['ETag'],
  })
  async patch(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { path, body: sent } = validateRequest(request, { path: webhookPath, body: patchRequest });
    if (sent.url !== undefined) await checkTarget(sent.url, this.options.outbound, request.actor.tenantId);
    const event_types = sent.event_types && [...new Set(sent.event_types)];
    return this.idempotency.run(request, reply, async () =>
      this.shown(reply, await this.run(request, path.webhook_id, patch({ ...sent, event_types }))),
    );
  }

  @Delete(':webhook_id')
  @Access('write')
  @Describe({
    summary: 'Remove a webhook',
    path: webhookPath,
    answers: { 204: null },
    takes: ['If-Match', 'x-reason'],
  })
  @HttpCode(204)
  async remove(@Req() request: FastifyRequest): Promise<void> {
    const { webhook_id: id } = pathOf(webhookPath, request);
    await this.run(request, id, remove);
    await this.quotas.giveBack('webhooks', id);
  }

  @Post(':webhook_id/rotate-secret')
  @Access('write')
  @Describe({
    summary: 'Give a webhook a new secret',
    description: 'For a day deliveries are signed with both.',
    path: webhookPath,
    answers: { 200: webhookWithSecret },
    takes: ['Idempotency-Key', 'If-Match', 'x-reason'],
    gives: ['ETag'],
  })
  @HttpCode(200)
  async rotate(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<WithSecret> {
    const { webhook_id: id } = pathOf(webhookPath, request);
    const { tenantId } = request.actor;
    const record = await this.idempotency.run(request, reply, async () => {
      const { state } = await load(this.store, webhookModel, streamName('webhook', id));
      owned(tenantId, id, () => undefined)(state);
      const secret = await this.secrets.make(tenantId, id);
      return this.shown(reply, await this.run(request, id, rotateSecret(secret)));
    });
    return this.withSecret(tenantId, record);
  }

  private async run(request: FastifyRequest, id: string, decide: (state: Webhook) => WebhookEvent[]) {
    const decideOwned = owned(request.actor.tenantId, id, decide);
    const stream = streamName('webhook', id);
    return handle(this.store, webhookModel, stream, decideOwned, metadataOf(request), ifMatch(request));
  }

  private async shown(reply: FastifyReply, handled: Awaited<ReturnType<WebhooksController['run']>>) {
    const { state, version, events } = handled;
    reply.header('etag', etag(version));
    const health = events.some(renews) ? HEALTHY : await this.targets.health(state!.id);
    return webhookRecord(state!, health);
  }

  /** Opened for every answer, so that what is kept to be repeated for an Idempotency-Key holds no secret. */
  private async withSecret(tenantId: string, record: ReturnType<typeof webhookRecord>): Promise<WithSecret> {
    const { state } = await load(this.store, webhookModel, streamName('webhook', record.id));
    const webhook = owned(tenantId, record.id, (found) => found)(state);
    const [secret] = await this.secrets.open(webhook, this.options.now());
    return { ...record, secret };
  }
}
