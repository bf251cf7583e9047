import { Answers, Area, CommandContext, Context, Describe, Idempotent, Path, Query, Scope } from '@fairlead/api';
import type { Infer } from '@fairlead/schema';
import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { DeliveryQueries } from './delivery.queries';
import { WebhookDeliveryStore } from './webhook-delivery.store';
import { WebhookCommands } from '../webhook/webhook.commands';
import { deliveriesPage, deliveriesQuery, delivery, deliveryPath, webhookPath } from '../webhook/webhook.schema';
import { WEBHOOKS_VIEW } from '../webhook/webhook.projection';

/** Serves the log of deliveries to a webhook, and sends deliveries again. */
@Area('Webhooks')
@Controller('v1/webhooks/:webhook_id')
export class DeliveriesController {
  constructor(
    private readonly webhooks: WebhookCommands,
    private readonly queries: DeliveryQueries,
    private readonly deliveries: WebhookDeliveryStore,
  ) {}

  @Post('test')
  @Scope('write', { views: [WEBHOOKS_VIEW], strict: true })
  @Idempotent()
  @Describe({ summary: 'Send a test event to a webhook' })
  @Answers({ 202: delivery })
  @HttpCode(202)
  async test(@Context() context: CommandContext, @Path(webhookPath) { webhook_id: id }: Infer<typeof webhookPath>) {
    await this.webhooks.find(context.tenantId, id);
    return this.queries.find(
      context.tenantId,
      id,
      await this.deliveries.addTest(id, context.command?.idFor('delivery')),
    );
  }

  @Get('deliveries')
  @Scope('read', { views: [WEBHOOKS_VIEW], strict: true })
  @Describe({
    summary: 'List what was sent to a webhook',
    description: 'The newest first. Pages follow `next_cursor`; it is null on the last one.',
  })
  @Answers({ 200: deliveriesPage })
  async list(
    @Context() context: CommandContext,
    @Path(webhookPath) path: Infer<typeof webhookPath>,
    @Query(deliveriesQuery) query: Infer<typeof deliveriesQuery>,
  ) {
    await this.webhooks.find(context.tenantId, path.webhook_id);
    return this.queries.list(context.tenantId, path.webhook_id, query);
  }

  @Get('deliveries/:delivery_id')
  @Scope('read', { views: [WEBHOOKS_VIEW], strict: true })
  @Describe({ summary: 'Get a delivery with its attempts' })
  @Answers({ 200: delivery })
  async find(
    @Context() context: CommandContext,
    @Path(deliveryPath) { webhook_id, delivery_id }: Infer<typeof deliveryPath>,
  ) {
    await this.webhooks.find(context.tenantId, webhook_id);
    return this.queries.find(context.tenantId, webhook_id, delivery_id);
  }

  @Post('deliveries/:delivery_id/redeliver')
  @Scope('write', { views: [WEBHOOKS_VIEW], strict: true })
  @Idempotent()
  @Describe({ summary: 'Send a delivery again' })
  @Answers({ 202: delivery })
  @HttpCode(202)
  async redeliver(
    @Context() context: CommandContext,
    @Path(deliveryPath) { webhook_id, delivery_id }: Infer<typeof deliveryPath>,
  ) {
    await this.webhooks.find(context.tenantId, webhook_id);
    await this.queries.find(context.tenantId, webhook_id, delivery_id);
    await this.deliveries.redeliver(webhook_id, delivery_id);
    return this.queries.find(context.tenantId, webhook_id, delivery_id);
  }
}
