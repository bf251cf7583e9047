import { Idempotency } from '@fairlead/api';
import { Vault, WorkspaceRemovals } from '@fairlead/eventing';
import { EXPERIMENTS_VIEW } from '@fairlead/runs';
import { type DynamicModule, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Pool } from 'pg';
import { DatasetCopiesController } from './datasets/dataset-copies.controller';
import { DatasetCopies } from './datasets/dataset-copies.service';
import { DatasetFilesController } from './datasets/dataset-files.controller';
import { DatasetWritesController } from './datasets/dataset-writes.controller';
import { DatasetCommands } from './datasets/datasets.commands';
import { DatasetsController } from './datasets/datasets.controller';
import { ScoreDirectionsController } from './datasets/score-directions.controller';
import { ExampleAttachmentsController } from './examples/example-attachments.controller';
import { ExampleWritesController } from './examples/example-writes.controller';
import { ExamplesThread } from './examples/examples-thread.service';
import { ExamplesController } from './examples/examples.controller';

/** Datasets with their versions and examples. Expects what EventingModule provides. */
@Module({})
export class DatasetsModule implements OnModuleInit, OnApplicationShutdown {
  static readonly controllers = [
    DatasetsController,
    DatasetCopiesController,
    DatasetFilesController,
    DatasetWritesController,
    ExampleAttachmentsController,
    ExamplesController,
    ExampleWritesController,
    ScoreDirectionsController,
  ];

  /** @param runs the registered module of runs, which a library above this one shares */
  static register(runs: DynamicModule): DynamicModule {
    return {
      module: DatasetsModule,
      imports: [runs],
      controllers: DatasetsModule.controllers,
      providers: [Idempotency.hashedBy(Vault), DatasetCommands, DatasetCopies, ExamplesThread],
      exports: [DatasetCommands],
    };
  }

  constructor(
    private readonly removals: WorkspaceRemovals,
    private readonly datasets: DatasetCommands,
    private readonly pool: Pool,
    private readonly thread: ExamplesThread,
  ) {}

  onModuleInit(): void {
    const find = async (tenant: string, limit: number) => {
      const text = 'select id from datasets where tenant_id = $1 limit $2';
      return (await this.pool.query<{ id: string }>(text, [tenant, limit])).rows.map(({ id }) => id);
    };
    const remove = (caller: Parameters<DatasetCommands['delete']>[0], id: string) => this.datasets.delete(caller, id);
    this.removals.register('experiments', 'system:experiments', [{ view: EXPERIMENTS_VIEW, find, remove }]);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.thread.stop();
  }
}
