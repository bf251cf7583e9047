import { AggregateCommands, type Caller, type Changed, EventStore, Quotas } from '@fairlead/eventing';
import { checkTarget } from '@fairlead/outbound';
import type { Infer } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { v7 as uuid } from 'uuid';
import { CredentialsStore } from './credentials.store';
import {
  add,
  change,
  checkAuth,
  type Integration,
  type IntegrationEvent,
  integrationAggregate,
  remove,
} from './integration';
import { IntegrationsOptions } from './integrations.options';
import { type addRequest, type changeRequest, credentialsOf } from './integration.schema';
import { publicHost } from './provider';

type IntegrationChanged = Promise<Changed<Integration, IntegrationEvent>>;

/** Finds and changes the integrations of a tenant. */
@Injectable()
export class IntegrationCommands extends AggregateCommands<Integration, IntegrationEvent> {
  constructor(
    store: EventStore,
    private readonly quotas: Quotas,
    private readonly credentials: CredentialsStore,
    private readonly options: IntegrationsOptions,
  ) {
    super(store, integrationAggregate);
  }

  /** Adds an integration, its secrets sealed. @throws InvalidIntegration, QuotaReached, and what `checkTarget` throws */
  async add(
    caller: Caller,
    { name, provider, base_url = publicHost(provider), reports = [], ...sent }: Infer<typeof addRequest>,
  ): IntegrationChanged {
    const { tenantId: tenant_id } = caller;
    const credentials = credentialsOf(sent.credentials);
    checkAuth(provider, credentials.kind);
    await checkTarget(base_url, this.options.outbound, tenant_id, 'base_url');
    const id = caller.command?.idFor('integration') ?? uuid();
    const auth = await this.credentials.seal(tenant_id, id, credentials);
    const webhook_secret = (await this.credentials.sealWebhookSecret(tenant_id, id, sent.webhook_secret)) ?? null;
    const wanted = {
      ...{ integration_id: id, tenant_id, name, provider, base_url, auth, webhook_secret },
      ...(reports.length > 0 && { reports }),
    };
    return this.quotas.within('integrations', tenant_id, id, () => this.run(caller, id, add(wanted)));
  }

  /** Changes an integration, its secrets sealed. @throws InvalidIntegration, and what `checkTarget` throws */
  async patch(caller: Caller, id: string, sent: Infer<typeof changeRequest>): IntegrationChanged {
    const { tenantId } = caller;
    const { name, provider, base_url, reports } = sent;
    const credentials = sent.credentials && credentialsOf(sent.credentials);
    if (base_url !== undefined) await checkTarget(base_url, this.options.outbound, tenantId, 'base_url');
    return this.changePrepared(caller, id, async () => {
      const auth = credentials && (await this.credentials.seal(tenantId, id, credentials));
      const webhook_secret = await this.credentials.sealWebhookSecret(tenantId, id, sent.webhook_secret);
      return change({ name, provider, base_url, auth, webhook_secret, reports });
    });
  }

  /** @throws IntegrationNotFound, VersionMismatch */
  async remove(caller: Caller, id: string): Promise<void> {
    await this.change(caller, id, remove);
    await this.quotas.giveBack('integrations', id);
  }
}
