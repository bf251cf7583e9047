import { EventStore, Followers, Quotas, type Removal, Vault, WorkspaceRemovals } from '@fairlead/eventing';
import { Idempotency } from '@fairlead/api';
import { type DynamicModule, Module, type OnModuleInit } from '@nestjs/common';
import { Pool } from 'pg';
import { DeploymentAddresses } from './deployment/deployment-addresses.service';
import { ControlController } from './deployment/control.controller';
import { DeploymentCommands } from './deployment/deployment.commands';
import { DeploymentQueries } from './deployment/deployment.queries';
import { CauseQueries } from './revision/cause.queries';
import { StandingQueries } from './deployment/standing.queries';
import { DeploymentRemoval } from './deployment/deployment-removal.service';
import { DeploymentsView } from './deployment/deployment.projection';
import { DeploymentsController } from './deployment/deployments.controller';
import { DeploymentsPushConsumer } from './source/deployments-push.consumer';
import { DeploymentsOptions } from './model/deployments.options';
import { GatesController } from './gates/gates.controller';
import { HistoryController } from './history/history.controller';
import { HistoryExport } from './history/history-export.service';
import { HistoryQueries } from './history/history.queries';
import { IdleWatch } from './deployment/idle-watch.worker';
import { ListenerCommands } from './listener/listener.commands';
import { LISTENERS_VIEW, listenersProjection, ListenersView } from './listener/listener.projection';
import { ListenersController } from './listener/listeners.controller';
import { NamedResources } from './deployment/named-resources.service';
import { PushTargetsView } from './source/push-targets.projection';
import { PushTokenController } from './source/push-token.controller';
import { RevisionCommands } from './revision/revision.commands';
import { RevisionsController } from './revision/revisions.controller';
import { RolloutsConsumer } from './revision/rollouts.consumer';
import { SecretStore } from './deployment/secret.store';
import { SecretsController } from './deployment/secrets.controller';
import { SourcesModule } from './source/sources.module';
import { TracingProjectConsumer } from './deployment/tracing-project.consumer';
import { UploadIntake } from './source/upload-intake.service';
import { RevisionCommitsController } from './source/revision-commits.controller';
import { SourceDifferenceController } from './source/source-difference.controller';
import { SourceDifferences } from './archives/source-differences.service';
import { UploadUrls } from './archives/upload-urls.service';
import { UploadsController } from './source/uploads.controller';
import { UsageConsumer } from './deployment/usage.consumer';

/**
 * Deployments and their revisions over HTTP, their read model, and the consumer of their events. Needs the providers
 * of EventingModule; the consumer runs where a microservice is connected to the application. HostedApps is used where a
 * global module provides it.
 */
@Module({})
export class DeploymentsModule implements OnModuleInit {
  constructor(
    private readonly followers: Followers,
    private readonly quotas: Quotas,
    private readonly removals: WorkspaceRemovals,
    private readonly deployments: DeploymentCommands,
    private readonly listenerCommands: ListenerCommands,
    private readonly listeners: ListenersView,
    private readonly pool: Pool,
    private readonly view: DeploymentsView,
    private readonly store: EventStore,
    private readonly pushTargets: PushTargetsView,
  ) {}

  static register(options = new DeploymentsOptions()): DynamicModule {
    return {
      module: DeploymentsModule,
      // The sources are read by those who build them.
      imports: [SourcesModule.register()],
      controllers: [
        DeploymentsController,
        ControlController,
        RevisionsController,
        GatesController,
        HistoryController,
        SecretsController,
        UploadsController,
        PushTokenController,
        SourceDifferenceController,
        RevisionCommitsController,
        ListenersController,
        RolloutsConsumer,
        DeploymentsPushConsumer,
        TracingProjectConsumer,
        ...(options.unusedAfter === undefined ? [] : [UsageConsumer]),
      ],
      providers: [
        { provide: DeploymentsOptions, useValue: options },
        DeploymentAddresses,
        DeploymentCommands,
        DeploymentQueries,
        StandingQueries,
        CauseQueries,
        DeploymentsView,
        DeploymentRemoval,
        HistoryExport,
        HistoryQueries,
        IdleWatch,
        ListenerCommands,
        ListenersView,
        NamedResources,
        PushTargetsView,
        RevisionCommands,
        SecretStore,
        SourceDifferences,
        UploadIntake,
        UploadUrls,
        Idempotency.hashedBy(Vault),
      ],
    };
  }

  onModuleInit(): void {
    this.removals.register('deployments', 'system:deployments', this.kinds(), (tenant) => this.leaving(tenant));
    this.quotas.count('deployments', 'DeploymentCreated', 'DeploymentDeleted');
    this.quotas.count('listeners', 'ListenerCreated', 'ListenerDeleted');
    this.followers.register(this.view);
    this.followers.register(listenersProjection(this.store));
    this.followers.register(this.pushTargets);
  }

  private kinds(): Removal[] {
    return [
      {
        view: 'deployments.view',
        find: async (tenant, limit) => {
          const text = `select id from deployments where tenant_id = $1 and status <> 'AWAITING_DELETE' limit $2`;
          return (await this.pool.query<{ id: string }>(text, [tenant, limit])).rows.map(({ id }) => id);
        },
        remove: (caller, id) => this.deployments.remove(caller, id, false),
      },
      {
        view: LISTENERS_VIEW,
        find: async (tenant, limit) =>
          (await this.listeners.list(tenant, { limit, offset: 0 })).items.map(({ id }) => id),
        remove: (caller, id) => this.listenerCommands.remove(caller, id),
      },
    ];
  }

  /** Deployments count until their executor has taken them away. */
  private async leaving(tenant: string): Promise<number> {
    return (await this.pool.query('select from deployments where tenant_id = $1 limit 1', [tenant])).rowCount!;
  }
}
