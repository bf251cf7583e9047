import { type Caller, Followers, Quotas, Vault, WorkspaceRemovals } from '@fairlead/eventing';
import { Idempotency } from '@fairlead/api';
import { type DynamicModule, Module, type OnModuleInit } from '@nestjs/common';
import { Pool } from 'pg';
import { ChangesController } from './changes/changes.controller';
import { ChangesFeed } from './changes/changes-feed.service';
import { ChangesReader } from './changes/changes-reader.service';
import { DeliveriesController } from './deliveries/deliveries.controller';
import { DeliveryAttempts } from './deliveries/delivery-attempts.service';
import { DeliveryBounds } from './deliveries/delivery-bounds.store';
import { DeliveryFanOut } from './deliveries/delivery-fan-out.service';
import { DeliveryQueries } from './deliveries/delivery.queries';
import { DeliveryWorker } from './deliveries/delivery.worker';
import { DeliverySweepWorker } from './deliveries/delivery-sweep.worker';
import { WebhookDeliveryStore } from './deliveries/webhook-delivery.store';
import { TargetStore } from './deliveries/target.store';
import { remove } from './webhook/webhook';
import { WebhookCommands } from './webhook/webhook.commands';
import { WebhookSecrets } from './webhook/webhook-secrets.service';
import { WebhooksConsumer } from './webhooks.consumer';
import { WebhooksController } from './webhooks.controller';
import { WebhooksOptions } from './webhook/webhooks.options';
import { WebhooksView } from './webhooks.projection';

/**
 * Webhooks out: tells addresses that tenants name what happens, signed, again until it has arrived, with a log. Needs
 * the providers of EventingModule; sends in every process that it is part of.
 */
@Module({})
export class WebhooksModule implements OnModuleInit {
  constructor(
    private readonly followers: Followers,
    private readonly quotas: Quotas,
    private readonly removals: WorkspaceRemovals,
    private readonly commands: WebhookCommands,
    private readonly view: WebhooksView,
    private readonly sweeper: DeliverySweepWorker,
    private readonly pool: Pool,
  ) {}

  static register(options = new WebhooksOptions()): DynamicModule {
    return {
      module: WebhooksModule,
      controllers: [WebhooksController, DeliveriesController, ChangesController, WebhooksConsumer],
      providers: [
        { provide: WebhooksOptions, useValue: options },
        ChangesFeed,
        ChangesReader,
        DeliveryAttempts,
        DeliveryBounds,
        DeliveryFanOut,
        DeliveryQueries,
        DeliveryWorker,
        DeliverySweepWorker,
        WebhookDeliveryStore,
        TargetStore,
        WebhookCommands,
        WebhookSecrets,
        WebhooksView,
        Idempotency.hashedBy(Vault),
      ],
    };
  }

  onModuleInit(): void {
    const webhooks = {
      view: this.view.name,
      find: async (tenant: string, limit: number) =>
        (await this.view.list(tenant, { limit, offset: 0 })).items.map(({ webhook }) => webhook.id),
      remove: (caller: Caller, id: string) => this.commands.change(caller, id, remove),
    };
    this.removals.register('webhooks', 'system:webhooks', [webhooks], async (tenant) => {
      await this.sweeper.sweep();
      const { rowCount } = await this.pool.query('select from webhook_targets where tenant_id = $1 limit 1', [tenant]);
      return rowCount!;
    });
    this.quotas.count('webhooks', 'WebhookAdded', 'WebhookRemoved');
    this.followers.register(this.view);
  }
}
