import { allows, type CommandContext } from '@fairlead/api';
import { AggregateCommands, type Caller, type Changed, EventStore, Quotas, streamName } from '@fairlead/eventing';
import { checkTarget } from '@fairlead/outbound';
import { Forbidden, type Infer } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import {
  add,
  patch,
  remove,
  rotateSecret,
  type Webhook,
  type WebhookAdded,
  webhookAggregate,
  type WebhookEvent,
} from './webhook';
import { unmasked } from './masked-url';
import type { patchRequest } from './webhook.schema';
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

  /** Changes what a client sends; the masked form of its address changes nothing. @throws WebhookNotFound, VersionMismatch */
  patch(caller: Caller, id: string, sent: Infer<typeof patchRequest>): Promise<Changed<Webhook, WebhookEvent>> {
    return this.changePrepared(caller, id, async (current) => {
      const { url, event_types, ...others } = unmasked(sent, current);
      if (url !== undefined) await checkTarget(url, this.options.outbound, caller.tenantId);
      return patch({ url, event_types: event_types && [...new Set(event_types)], ...others });
    });
  }

  /**
   * Returns the whole address of a webhook to a key that may read secrets, and records that it was read.
   * @throws Forbidden, WebhookNotFound
   */
  async reveal({ actor, tenantId, metadata }: CommandContext, id: string): Promise<string> {
    if (!allows(actor, 'secrets:read')) throw Forbidden.without('secrets:read');
    const { state, version } = await this.find(tenantId, id);
    const read = { type: 'SecretsRead' as const, data: { version, names: ['url'] } };
    await this.store.append(streamName('secretAccess', id), 'any', [read], metadata);
    return state.url;
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
