import { HostedApps } from '@fairlead/contracts';
import { type DynamicModule, Module } from '@nestjs/common';
import { CommandsController } from './commands/commands.controller';
import { CommandsService } from './commands/commands.service';
import {
  AppForwarding,
  AppPagesController,
  AppsController,
  ClusterPreviews,
  Executor,
  KubernetesExecutor,
  LocalApps,
  LocalExecutor,
} from '@fairlead/executors';
import { ExecutorCheck } from './steps/executor-check.worker';
import { DeploymentHealthController } from './health/deployment-health.controller';
import { HealthQueries } from './health/health.queries';
import { DeploymentMetricsController } from './metrics/deployment-metrics.controller';
import { MetricsStore } from './metrics/metrics.store';
import { MetricsWorker } from './metrics/metrics.worker';
import { RolloutLogs } from './logs/rollout-logs.store';
import { LogCountQueries } from './logs/log-count.queries';
import { LogCountsController } from './logs/log-counts.controller';
import { LogQueries } from './logs/log.queries';
import { LogsController } from './logs/logs.controller';
import { ProgramLogsController } from './logs/program-logs.controller';
import { ProgramLogs } from './logs/program-logs.service';
import { PreviewForwarding } from './previews/preview-forwarding.service';
import { PreviewsController } from './previews/previews.controller';
import { AppsWorker } from './steps/apps.worker';
import { GatedDeployments } from './steps/gated-deployments.store';
import { GatedDeploymentsWorker } from './steps/gated-deployments.worker';
import { RolloutAttempts } from './steps/rollout-attempts.service';
import { RolloutQueue } from './steps/rollout-queue.store';
import { RolloutReports } from './rollout/rollout-reports.service';
import { RolloutRunner } from './steps/rollout-runner.worker';
import { RevisionsConsumer } from './steps/revisions.consumer';
import { RolloutsOptions } from './steps/rollouts.options';
import { UpkeepService } from './steps/upkeep.service';

/**
 * Rolls revisions out through an executor, and answers with their logs. Needs the providers of EventingModule; events
 * are heard where a microservice is connected to the application. CommitResolver and SourceArchives are used where a
 * global module provides them.
 */
@Module({})
export class RolloutsModule {
  /** The module with this executor. */
  static register(executor: Executor, options = new RolloutsOptions()): DynamicModule {
    const apps = executor instanceof LocalExecutor ? executor.programs : undefined;
    const previews = executor instanceof KubernetesExecutor ? executor.previews : undefined;
    return {
      module: RolloutsModule,
      // Deployments are answered with the addresses of their programs.
      ...(apps && { global: true, exports: [HostedApps] }),
      controllers: [
        CommandsController,
        DeploymentHealthController,
        DeploymentMetricsController,
        LogsController,
        LogCountsController,
        ProgramLogsController,
        RevisionsConsumer,
        ...(apps ? [AppsController, AppPagesController] : []),
        ...(previews ? [PreviewsController] : []),
      ],
      providers: [
        { provide: Executor, useValue: executor },
        { provide: RolloutsOptions, useValue: options },
        ...(apps
          ? [
              { provide: LocalApps, useFactory: () => apps },
              { provide: HostedApps, useExisting: LocalApps },
              AppForwarding,
              AppsWorker,
            ]
          : []),
        ...(previews ? [{ provide: ClusterPreviews, useValue: previews }, PreviewForwarding] : []),
        RolloutQueue,
        RolloutLogs,
        LogQueries,
        LogCountQueries,
        HealthQueries,
        MetricsStore,
        MetricsWorker,
        ProgramLogs,
        CommandsService,
        RolloutAttempts,
        RolloutReports,
        UpkeepService,
        RolloutRunner,
        GatedDeployments,
        GatedDeploymentsWorker,
        ExecutorCheck,
      ],
    };
  }
}
