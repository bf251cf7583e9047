import { Answers, Area, CommandContext, Context, Describe, Idempotent, Path, Query, Scope } from '@fairlead/api';
import type { Infer } from '@fairlead/schema';
import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { IntegrationCommands } from '../integration/integration.commands';
import { DeliverySettled } from '../integration/integration.errors';
import { integrationPath } from '../integration/integration.schema';
import { deliveries, deliveriesQuery, delivery, deliveryPath } from './deliveries.schema';
import { DeliveryIntake } from './delivery-intake.service';
import { HostDeliveryQueries } from './host-delivery.queries';

/** Serves the log of what code hosts delivered, and tries deliveries again. */
@Area('Integrations', 'deliveries')
@Controller('v1/integrations/:integration_id')
export class PushDeliveriesController {
  constructor(
    private readonly integrations: IntegrationCommands,
    private readonly queries: HostDeliveryQueries,
    private readonly intake: DeliveryIntake,
  ) {}

  @Get('deliveries')
  @Scope('read', { strict: true })
  @Describe({
    summary: 'List what the code host delivered',
    description:
      'The newest first, with what was made of each delivery and why. Pages follow `next_cursor`; it is null on the last one.',
  })
  @Answers({ 200: deliveries })
  async list(
    @Context() { tenantId }: CommandContext,
    @Path(integrationPath) { integration_id: integrationId }: Infer<typeof integrationPath>,
    @Query(deliveriesQuery) query: Infer<typeof deliveriesQuery>,
  ) {
    await this.integrations.find(tenantId, integrationId);
    return this.queries.list({ tenantId, integrationId }, query);
  }

  @Get('deliveries/:delivery_id')
  @Scope('read', { strict: true })
  @Describe({ summary: 'Get a delivery of the code host' })
  @Answers({ 200: delivery })
  async find(
    @Context() { tenantId }: CommandContext,
    @Path(deliveryPath) { integration_id: integrationId, delivery_id: id }: Infer<typeof deliveryPath>,
  ) {
    await this.integrations.find(tenantId, integrationId);
    return this.queries.find({ tenantId, integrationId }, id);
  }

  @Post('deliveries/:delivery_id/retry')
  @Scope('write', { strict: true })
  @Idempotent()
  @Describe({
    summary: 'Try a delivery of the code host again',
    description: 'For deliveries that were set aside or ignored: what is made of them is decided anew.',
  })
  @Answers({ 202: delivery, 409: 'Nothing of it was set aside or ignored.' })
  @HttpCode(202)
  async retry(
    @Context() { tenantId, command }: CommandContext,
    @Path(deliveryPath) { integration_id: integrationId, delivery_id: id }: Infer<typeof deliveryPath>,
  ) {
    await this.integrations.find(tenantId, integrationId);
    const owner = { tenantId, integrationId };
    const { status } = await this.queries.find(owner, id);
    // An earlier attempt may have settled it.
    if (!(await this.intake.judge(owner, id)) && !command?.mayBeRepeated) throw new DeliverySettled(id, status);
    return this.queries.find(owner, id);
  }
}
