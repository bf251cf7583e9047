import { EventStore, load, streamName } from '@fairlead/eventing';
import { Access, Area, Describe, Idempotency, path as pathOf, validateRequest } from '@fairlead/api';
import { Controller, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DeliveryQueries } from './delivery.queries';
import { DeliveryTable } from './delivery.table';
import { owned, webhookModel } from '../webhook';
import { deliveriesPage, delivery } from '../webhooks.answers.schema';
import { deliveriesQuery, deliveryPath, webhookPath } from '../webhooks.schema';
import { WEBHOOKS_VIEW } from '../webhooks.view';

/** The log of what was sent to a webhook, and sending again. */
@Area('Webhooks')
@Controller('v1/webhooks/:webhook_id')
export class DeliveriesController {
  constructor(
    private readonly store: EventStore,
    private readonly queries: DeliveryQueries,
    private readonly deliveries: DeliveryTable,
    private readonly idempotency: Idempotency,
  ) {}

  @Post('test')
  @Access('write', { views: [WEBHOOKS_VIEW] })
  @Describe({
    summary: 'Send a test event to a webhook',
    path: webhookPath,
    answers: { 202: delivery },
    takes: ['Idempotency-Key'],
  })
  @HttpCode(202)
  async test(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { webhook_id: id } = pathOf(webhookPath, request);
    return this.idempotency.run(request, reply, async () => {
      await this.checkOwned(request, id);
      return this.queries.find(id, await this.deliveries.addTest(id));
    });
  }

  @Get('deliveries')
  @Access('read', { views: [WEBHOOKS_VIEW] })
  @Describe({
    summary: 'List what was sent to a webhook',
    description: 'The newest first. Pages follow `next_cursor`; it is null on the last one.',
    path: webhookPath,
    query: deliveriesQuery,
    answers: { 200: deliveriesPage },
  })
  async list(@Req() request: FastifyRequest) {
    const { path, query } = validateRequest(request, { path: webhookPath, query: deliveriesQuery });
    await this.checkOwned(request, path.webhook_id);
    return this.queries.list(path.webhook_id, query);
  }

  @Get('deliveries/:delivery_id')
  @Access('read', { views: [WEBHOOKS_VIEW] })
  @Describe({ summary: 'Get a delivery with its attempts', path: deliveryPath, answers: { 200: delivery } })
  async find(@Req() request: FastifyRequest) {
    const { webhook_id, delivery_id } = pathOf(deliveryPath, request);
    await this.checkOwned(request, webhook_id);
    return this.queries.find(webhook_id, delivery_id);
  }

  @Post('deliveries/:delivery_id/redeliver')
  @Access('write', { views: [WEBHOOKS_VIEW] })
  @Describe({
    summary: 'Send a delivery again',
    path: deliveryPath,
    answers: { 202: delivery },
    takes: ['Idempotency-Key'],
  })
  @HttpCode(202)
  async redeliver(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { webhook_id, delivery_id } = pathOf(deliveryPath, request);
    return this.idempotency.run(request, reply, async () => {
      await this.checkOwned(request, webhook_id);
      await this.queries.find(webhook_id, delivery_id);
      await this.deliveries.redeliver(webhook_id, delivery_id);
      return this.queries.find(webhook_id, delivery_id);
    });
  }

  /** @throws WebhookNotFound */
  private async checkOwned(request: FastifyRequest, id: string): Promise<void> {
    const { state } = await load(this.store, webhookModel, streamName('webhook', id));
    owned(request.actor.tenantId, id, () => undefined)(state);
  }
}
