import { Idempotency } from '@fairlead/api';
import { Followers, Quotas, Vault, WorkspaceRemovals } from '@fairlead/eventing';
import { type DynamicModule, Module, type OnModuleInit } from '@nestjs/common';
import { CommitsModule } from './repositories/commits.module';
import { remove } from './integration/integration';
import { IntegrationCommands } from './integration/integration.commands';
import { IntegrationsConsumer } from './integrations.consumer';
import { IntegrationsController } from './integration/integrations.controller';
import { IntegrationsOptions } from './integration/integrations.options';
import { INTEGRATIONS_VIEW, integrationsProjection } from './integration/integration.projection';
import { IntegrationQueries } from './integration/integration.queries';
import { Repositories } from './repositories/repositories.service';
import { RepositoriesController } from './repositories/repositories.controller';
import { BranchHeadWorker } from './deliveries/branch-head.worker';
import { PushDeliveriesController } from './deliveries/push-deliveries.controller';
import { DeliveryIntake } from './deliveries/delivery-intake.service';
import { HostDeliveryQueries } from './deliveries/host-delivery.queries';
import { DeliveryStore } from './deliveries/delivery.store';
import { PushBranches } from './deliveries/push-branches.store';
import { PullComments } from './reports/pull-comments.service';
import { PullCommentsStore } from './reports/pull-comments.store';
import { VerdictReportQueries } from './reports/verdict-report.queries';
import { VerdictReportsController } from './reports/verdict-reports.controller';
import { verdictReportsView } from './reports/verdict-reports.projection';
import { VerdictReportsStore } from './reports/verdict-reports.store';
import { VerdictReportsWorker } from './reports/verdict-reports.worker';
import { VerdictTurns } from './reports/verdict-turns.store';
import { PushWebhooksController } from './deliveries/push-webhooks.controller';

/**
 * Integrations with code hosts: their records, repositories, commits and pushes, and what hosts are told of gates. Needs
 * the providers of EventingModule, PushFollowers and VerdictReports of global modules; provides those of
 * {@link CommitsModule}.
 */
@Module({})
export class IntegrationsModule implements OnModuleInit {
  constructor(
    private readonly followers: Followers,
    private readonly quotas: Quotas,
    private readonly removals: WorkspaceRemovals,
    private readonly commands: IntegrationCommands,
    private readonly queries: IntegrationQueries,
  ) {}

  static register(options = new IntegrationsOptions()): DynamicModule {
    return {
      module: IntegrationsModule,
      imports: [CommitsModule.register(options)],
      // The listings first: `codehost` is no id.
      controllers: [
        RepositoriesController,
        IntegrationsController,
        PushWebhooksController,
        PushDeliveriesController,
        VerdictReportsController,
        IntegrationsConsumer,
      ],
      providers: [
        BranchHeadWorker,
        DeliveryIntake,
        HostDeliveryQueries,
        DeliveryStore,
        PushBranches,
        IntegrationQueries,
        Repositories,
        PullComments,
        PullCommentsStore,
        VerdictReportQueries,
        VerdictReportsStore,
        VerdictReportsWorker,
        VerdictTurns,
        Idempotency.hashedBy(Vault),
      ],
    };
  }

  onModuleInit(): void {
    this.removals.register('integrations', 'system:integrations', [
      {
        view: INTEGRATIONS_VIEW,
        find: async (tenant, limit) =>
          (await this.queries.list(tenant, { limit, offset: 0 })).items.map(({ id }) => id),
        remove: (caller, id) => this.commands.change(caller, id, remove),
      },
    ]);
    this.quotas.count('integrations', 'IntegrationAdded', 'IntegrationRemoved');
    this.followers.register(integrationsProjection);
    this.followers.register(verdictReportsView);
  }
}
