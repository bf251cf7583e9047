import { Followers, Quotas, Vault, WorkspaceRemovals } from '@fairlead/eventing';
import { Idempotency } from '@fairlead/api';
import { type DynamicModule, Module, type OnModuleInit } from '@nestjs/common';
import { Pool } from 'pg';
import { ChangesController } from './changes/changes.controller';
import { ChangesFeed } from './changes/changes-feed.service';
import { DeliveriesController } from './deliveries/deliveries.controller';
import { DeliveryAttempts } from './deliveries/delivery.attempt';
import { DeliveryBounds } from './deliveries/delivery-bounds.store';
import { DeliveryFanOut } from './deliveries/delivery-fan-out.service';
import { DeliveryQueries } from './deliveries/delivery.queries';
import { DeliverySender } from './deliveries/delivery.worker';
import { DeliverySweeper } from './deliveries/delivery-sweep.worker';
import { DeliveryTable } from './deliveries/delivery.store';
import { TargetTable } from './deliveries/target.store';
import { WebhookCommands } from './webhook.commands';
import { WebhookSecrets } from './webhook-secrets.service';
import { WebhooksConsumer } from './webhooks.consumer';
import { WebhooksController } from './webhooks.controller';
import { WebhooksOptions } from './webhooks.options';
import { WebhooksRemover } from './webhooks-removal.service';
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
    private readonly remover: WebhooksRemover,
    private readonly view: WebhooksView,
  ) {}

  static with(options = new WebhooksOptions()): DynamicModule {
    return {
      module: WebhooksModule,
      controllers: [WebhooksController, DeliveriesController, ChangesController, WebhooksConsumer],
      providers: [
        { provide: WebhooksOptions, useValue: options },
        ChangesFeed,
        DeliveryAttempts,
        DeliveryBounds,
        DeliveryFanOut,
        DeliveryQueries,
        DeliverySender,
        DeliverySweeper,
        DeliveryTable,
        TargetTable,
        WebhookCommands,
        WebhookSecrets,
        WebhooksView,
        WebhooksRemover,
        {
          provide: Idempotency,
          useFactory: (pool: Pool, vault: Vault) => new Idempotency(pool, vault),
          inject: [Pool, Vault],
        },
      ],
    };
  }

  onModuleInit(): void {
    this.removals.register('webhooks', (tenant) => this.remover.remove(tenant));
    this.quotas.count('webhooks', 'WebhookAdded', 'WebhookRemoved');
    this.followers.register(this.view);
  }
}
