import type { RevisionCreatedMessage } from '@fairlead/contracts';
import { type EventContext, idOf } from '@fairlead/eventing';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { CredentialsStore } from './integration/credentials.store';
import { DeliveryStore } from './deliveries/delivery.store';
import { VerdictReportsStore } from './reports/verdict-reports.store';
import { RepositoryIds } from './repositories/repository-ids.store';

/** Deletes what is stored for a removed integration, and learns which revisions were made for deliveries. */
@Controller()
export class IntegrationsConsumer {
  constructor(
    private readonly credentials: CredentialsStore,
    private readonly deliveries: DeliveryStore,
    private readonly repositories: RepositoryIds,
    private readonly reports: VerdictReportsStore,
  ) {}

  @EventPattern<string>('IntegrationRemoved')
  async forget(@Ctx() { event }: EventContext): Promise<void> {
    const integrationId = idOf(event.stream);
    await this.credentials.shred(integrationId);
    const { tenant } = event.metadata;
    if (tenant === undefined) return;
    await this.deliveries.forget({ tenantId: tenant, integrationId });
    await this.repositories.forget(tenant, integrationId);
    await this.reports.forget(tenant, integrationId);
  }

  @EventPattern<string>('RevisionCreated')
  async built(@Payload() message: RevisionCreatedMessage, @Ctx() { event }: EventContext): Promise<void> {
    const { push, deployment_id, revision_id } = message;
    const { tenant } = event.metadata;
    if (push && tenant !== undefined) await this.deliveries.built(tenant, push.delivery_id, deployment_id, revision_id);
  }
}
