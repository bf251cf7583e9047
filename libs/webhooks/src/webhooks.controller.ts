import type { Changed } from '@fairlead/eventing';
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
import { checkTarget } from '@fairlead/outbound';
import { Controller, Delete, Get, HttpCode, Patch, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { v7 as uuid } from 'uuid';
import { AddSecret } from './add-secret.service';
import { webhookRecord } from './record';
import { HEALTHY, TargetStore } from './deliveries/target.store';
import { renews, type Webhook, type WebhookEvent } from './webhook/webhook';
import { unmasked } from './webhook/masked-url';
import { WebhookCommands } from './webhook/webhook.commands';
import {
  addRequest,
  findQuery,
  patchRequest,
  webhook as webhookShape,
  webhookPath,
  webhooksPage,
  webhooksQuery,
  webhookWithSecret,
} from './webhook/webhook.schema';
import { WebhooksOptions } from './webhook/webhooks.options';
import { WEBHOOKS_VIEW } from './webhook/webhook.projection';
import { WebhooksView } from './webhooks.projection';

@Area('Webhooks')
@Controller('v1/webhooks')
export class WebhooksController {
  constructor(
    private readonly commands: WebhookCommands,
    private readonly view: WebhooksView,
    private readonly targets: TargetStore,
    private readonly options: WebhooksOptions,
  ) {}

  @Get()
  @Scope('read', { views: [WEBHOOKS_VIEW], strict: true })
  @Describe({ summary: 'List webhooks', gives: ['Link'] })
  @Answers({ 200: webhooksPage })
  async list(
    @Context() context: CommandContext,
    @Query(webhooksQuery) page: Infer<typeof webhooksQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return answerPage(reply, page, await this.view.list(context.tenantId, page), ({ webhook, ...health }) =>
      webhookRecord(webhook, health),
    );
  }

  @Post()
  @Scope('write', { strict: true })
  @Idempotent(AddSecret)
  @Describe({
    summary: 'Add a webhook',
    description: 'The answer tells the secret that deliveries are signed with after Standard Webhooks.',
    answers: { 201: webhookWithSecret, 400: 'The target cannot be called.', 409: 'There are as many as there may be.' },
    takes: ['x-reason'],
    gives: ['ETag'],
  })
  @HttpCode(201)
  async add(
    @Context() context: CommandContext,
    @Body(addRequest) { event_types, ...sent }: Infer<typeof addRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await checkTarget(unmasked(sent).url, this.options.outbound, context.tenantId);
    const id = context.command?.idFor('webhook') ?? uuid();
    const types = [...new Set(event_types)];
    return this.shown(reply, await this.commands.add(context, { webhook_id: id, ...sent, event_types: types }));
  }

  @Get(':webhook_id')
  @Scope('read', { views: [WEBHOOKS_VIEW], strict: true })
  @Describe({
    summary: 'Get a webhook',
    description:
      'Its address is masked. `include_secrets=true` answers it to a key with the scope `secrets:read`, and the audit log tells of it.',
    takes: ['x-reason'],
    gives: ['ETag'],
  })
  @Answers({ 200: webhookShape })
  async find(
    @Context() context: CommandContext,
    @Path(webhookPath) { webhook_id: id }: Infer<typeof webhookPath>,
    @Query(findQuery) { include_secrets }: Infer<typeof findQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { state, edition } = await this.commands.find(context.tenantId, id);
    const whole = include_secrets && { url: await this.commands.reveal(context, id) };
    if (whole) reply.header('cache-control', 'no-store');
    reply.header('etag', etag(edition));
    return { ...webhookRecord(state, await this.targets.health(id)), ...whole };
  }

  @Patch(':webhook_id')
  @Scope('write', { strict: true })
  @Idempotent()
  @Describe({ summary: 'Change a webhook', takes: ['If-Match', 'x-reason'], gives: ['ETag'] })
  @Answers({ 200: webhookShape, 400: 'The target cannot be called.' })
  async patch(
    @Context() context: CommandContext,
    @Path(webhookPath) path: Infer<typeof webhookPath>,
    @Body(patchRequest) sent: Infer<typeof patchRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.shown(reply, await this.commands.patch(context, path.webhook_id, sent));
  }

  @Delete(':webhook_id')
  @Scope('write', { strict: true })
  @Idempotent()
  @Describe({ summary: 'Remove a webhook', takes: ['If-Match', 'x-reason'] })
  @Answers({ 204: null })
  @HttpCode(204)
  async remove(
    @Context() context: CommandContext,
    @Path(webhookPath) { webhook_id: id }: Infer<typeof webhookPath>,
  ): Promise<void> {
    await this.commands.remove(context, id);
  }

  @Post(':webhook_id/rotate-secret')
  @Scope('write', { strict: true })
  @Idempotent(AddSecret)
  @Describe({
    summary: 'Give a webhook a new secret',
    description: 'For a day deliveries are signed with both.',
    answers: { 200: webhookWithSecret },
    takes: ['If-Match', 'x-reason'],
    gives: ['ETag'],
  })
  @HttpCode(200)
  async rotate(
    @Context() context: CommandContext,
    @Path(webhookPath) { webhook_id: id }: Infer<typeof webhookPath>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.shown(reply, await this.commands.rotateSecret(context, id));
  }

  private async shown(reply: FastifyReply, { state, edition, events }: Changed<Webhook, WebhookEvent>) {
    reply.header('etag', etag(edition));
    const health = events.some(renews) ? HEALTHY : await this.targets.health(state.id);
    return webhookRecord(state, health);
  }
}
