import { Idempotency } from '@fairlead/api';
import { DatasetsModule, LoggedDatasets } from '@fairlead/datasets';
import { Vault } from '@fairlead/eventing';
import { type ExperimentLimits, type NamedComparisons, RunsModule } from '@fairlead/runs';
import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { InfoController } from './info.controller';
import { ExperimentsController } from './sessions/experiments.controller';
import { SessionsController } from './sessions/sessions.controller';
import { TracingProjectCommands } from './sessions/tracing-projects.commands';
import { TracingProjectsController } from './sessions/tracing-projects.controller';
import { Fills } from './upload/fills.service';
import { UploadReceiver } from './upload/upload-receiver.service';
import { UploadController } from './upload/upload.controller';
import { Uploads } from './upload/uploads.service';

/** Experiments: uploads and lists, above datasets and runs, which it brings along. Expects what EventingModule provides. */
@Module({})
export class ExperimentsModule {
  /**
   * A library above this one says which comparative experiments there are, and registers the view of experiments with the
   * handlers that it adds.
   */
  static register(
    comparisons: Type<NamedComparisons>,
    limits: Partial<ExperimentLimits> = {},
    publicUrl?: string,
  ): DynamicModule {
    const runs = RunsModule.register({ comparisons, datasets: LoggedDatasets }, limits, publicUrl);
    return {
      module: ExperimentsModule,
      imports: [runs, DatasetsModule.register(runs)],
      controllers: [
        UploadController,
        InfoController,
        ExperimentsController,
        SessionsController,
        TracingProjectsController,
      ],
      providers: [Idempotency.hashedBy(Vault), Fills, TracingProjectCommands, UploadReceiver, Uploads],
      exports: [runs],
    };
  }
}
