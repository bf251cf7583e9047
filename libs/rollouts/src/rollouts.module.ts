import { HostedApps } from '@fairlead/contracts';
import { type DynamicModule, Module } from '@nestjs/common';
import { CommandsController } from './commands/commands.controller';
import { CommandsService } from './commands/commands.service';
import {
  AppForwarding,
  AppPagesController,
  AppsController,
  Executor,
  LocalApps,
  LocalExecutor,
} from '@fairlead/executors';
import { ExecutorCheck } from './executor-check.worker';
import { HealthController } from './health/health.controller';
import { HealthQueries } from './health/health.queries';
import { RolloutLogs } from './logs/rollout-logs.store';
import { LogQueries } from './logs/log.queries';
import { LogsController } from './logs/logs.controller';
import { ProgramLogsController } from './logs/program-logs.controller';
import { AppsWorker } from './apps.worker';
import { RolloutAttempts } from './rollout.attempt';
import { RolloutQueue } from './rollout.store';
import { RolloutReports } from './rollout.reports';
import { RolloutRunner } from './rollout.runner';
import { RolloutsConsumer } from './rollouts.consumer';
import { RolloutsOptions } from './rollouts.options';
import { UpkeepService } from './upkeep.service';

/**
 * Rolls revisions out through an executor, and answers with their logs. Needs the providers of EventingModule; events
 * are heard where a microservice is connected to the application. CommitResolver and SourceArchives are used where a
 * global module provides them.
 */
@Module({})
export class RolloutsModule {
  /** The module with this executor. */
  static with(executor: Executor, options = new RolloutsOptions()): DynamicModule {
    const apps = executor instanceof LocalExecutor ? executor.programs : undefined;
    return {
      module: RolloutsModule,
      // Deployments are answered with the addresses of their programs.
      ...(apps && { global: true, exports: [HostedApps] }),
      controllers: [
        CommandsController,
        HealthController,
        LogsController,
        ProgramLogsController,
        RolloutsConsumer,
        ...(apps ? [AppsController, AppPagesController] : []),
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
        RolloutQueue,
        RolloutLogs,
        LogQueries,
        HealthQueries,
        CommandsService,
        RolloutAttempts,
        RolloutReports,
        UpkeepService,
        RolloutRunner,
        ExecutorCheck,
      ],
    };
  }
}
