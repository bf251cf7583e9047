import { AggregateCommands, type Caller, type Changed, EventStore, Quotas } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import {
  add,
  remove,
  rotateSecret,
  type Webhook,
  type WebhookAdded,
  webhookAggregate,
  type WebhookEvent,
} from './webhook';
import { WebhookSecrets } from './webhook-secrets.service';
import { WebhooksOptions } from './webhooks.options';

/** Finds and changes the webhooks of a tenant. */
@Injectable()
export class WebhookCommands extends AggregateCommands<Webhook, WebhookEvent> {
  constructor(
    store: EventStore,
    private readonly quotas: Quotas,
    private readonly secrets: WebhookSecrets,
    private readonly options: WebhooksOptions,
  ) {
    super(store, webhookAggregate);
  }

  /** Adds a webhook with a new secret. @throws QuotaReached */
  add(
    caller: Caller,
    wanted: Omit<WebhookAdded['data'], 'tenant_id' | 'secret'>,
  ): Promise<Changed<Webhook, WebhookEvent>> {
    const { tenantId } = caller;
    const { webhook_id: id } = wanted;
    const create = async () => {
      const secret = await this.secrets.make(tenantId, id);
      return this.run(caller, id, add({ ...wanted, tenant_id: tenantId, secret }));
    };
    return this.quotas.within('webhooks', tenantId, id, create, this.options.mostPerTenant);
  }

  /** Gives a webhook a new secret. @throws WebhookNotFound, VersionMismatch */
  rotateSecret(caller: Caller, id: string): Promise<Changed<Webhook, WebhookEvent>> {
    return this.changePrepared(caller, id, async () => rotateSecret(await this.secrets.make(caller.tenantId, id)));
  }

  /** @throws WebhookNotFound, VersionMismatch */
  async remove(caller: Caller, id: string): Promise<void> {
    await this.change(caller, id, remove);
    await this.quotas.giveBack('webhooks', id);
  }
}
