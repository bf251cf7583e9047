import { PayloadStore } from '@fairlead/blobs';
import { Followers, type Removal, Vault, WorkspaceRemovals } from '@fairlead/eventing';
import { Idempotency } from '@fairlead/api';
import {
  type DynamicModule,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import { Pool } from 'pg';
import { DatasetCommands } from './datasets/datasets.commands';
import { DatasetFilesController } from './datasets/dataset-files.controller';
import { DatasetsController } from './datasets/datasets.controller';
import { DatasetWritesController } from './datasets/dataset-writes.controller';
import { ExampleAttachmentsController } from './examples/example-attachments.controller';
import { ExampleWritesController } from './examples/example-writes.controller';
import { ExamplesThread } from './examples/examples-thread.service';
import { ExamplesController } from './examples/examples.controller';
import { AwaitedFeedback } from './feedback/awaited-feedback.consumer';
import { FeedbackChangesController } from './feedback/feedback-changes.controller';
import { FeedbackConfigsController } from './feedback/feedback-configs.controller';
import { RunUrlController } from './runs/run-url.controller';
import { ThreadsController } from './runs/threads.controller';
import { FeedbackController } from './feedback/feedback.controller';
import { LoggedDatasets } from './datasets/logged-datasets.service';
import { NamedDatasets } from './storage/named-datasets';
import { NamedComparisons } from './feedback/named-comparisons';
import { InfoController } from './info.controller';
import { ExperimentLimits } from './common/experiment-limits';
import { EXPERIMENTS_VIEW } from './common/experiments-view';
import { LiveRunsController } from './runs/live/live-runs.controller';
import { LiveRunsThread } from './runs/live/live-runs-thread.service';
import { PayloadSweeper } from './storage/payload-sweeper.worker';
import { PersistRuns } from './storage/persist-runs.consumer';
import { PublicUrl, Attachments } from './storage/attachments.service';
import { RunAttachmentsController } from './runs/run-attachments.controller';
import { ReplacedRunsController } from './runs/replaced-runs.controller';
import { RunsController } from './runs/runs.controller';
import { ScoreDirectionsController } from './datasets/score-directions.controller';
import { RefusedItemsController } from './refused/refused-items.controller';
import { RefusedItems } from './refused/refused-items.store';
import { SessionCommands } from './sessions/sessions.commands';
import { ExperimentsController } from './sessions/experiments.controller';
import { SessionsController } from './sessions/sessions.controller';
import { TracingProjectCommands } from './sessions/tracing-projects.commands';
import { TracingProjectsController } from './sessions/tracing-projects.controller';
import { Fills } from './upload/fills.service';
import { UploadController } from './upload/upload.controller';
import { UploadReceiver } from './upload/upload-receiver.service';
import { Uploads } from './upload/uploads.service';
import { UploadThread } from './upload/upload-thread.service';

/** Datasets, experiments, runs and feedback: uploads and what is read back. Expects what EventingModule provides. */
@Module({})
export class ExperimentsModule implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  /**
   * A library above this one says which comparative experiments there are, and registers the view of experiments with the
   * handlers that it adds.
   */
  static register(
    comparisons: Type<NamedComparisons>,
    limits: Partial<ExperimentLimits> = {},
    publicUrl?: string,
  ): DynamicModule {
    return {
      module: ExperimentsModule,
      controllers: [
        UploadController,
        DatasetsController,
        DatasetFilesController,
        DatasetWritesController,
        ExampleAttachmentsController,
        ExamplesController,
        ExampleWritesController,
        FeedbackController,
        FeedbackChangesController,
        FeedbackConfigsController,
        RunUrlController,
        ThreadsController,
        InfoController,
        LiveRunsController,
        RefusedItemsController,
        ReplacedRunsController,
        RunAttachmentsController,
        RunsController,
        ScoreDirectionsController,
        ExperimentsController,
        SessionsController,
        TracingProjectsController,
      ],
      providers: [
        { provide: ExperimentLimits, useValue: new ExperimentLimits(limits) },
        Idempotency.hashedBy(Vault),
        AwaitedFeedback,
        DatasetCommands,
        ExamplesThread,
        Fills,
        LiveRunsThread,
        { provide: NamedComparisons, useClass: comparisons },
        { provide: NamedDatasets, useClass: LoggedDatasets },
        { provide: PayloadStore, inject: [Pool], useFactory: (pool: Pool) => new PayloadStore(pool) },
        PayloadSweeper,
        PersistRuns,
        { provide: PublicUrl, useValue: new PublicUrl(publicUrl) },
        RefusedItems,
        Attachments,
        SessionCommands,
        TracingProjectCommands,
        UploadReceiver,
        Uploads,
        UploadThread,
      ],
      exports: [Attachments, ExperimentLimits, PublicUrl],
    };
  }

  constructor(
    private readonly followers: Followers,
    private readonly removals: WorkspaceRemovals,
    private readonly datasets: DatasetCommands,
    private readonly sessions: SessionCommands,
    private readonly payloads: PayloadStore,
    private readonly pool: Pool,
    private readonly persistRuns: PersistRuns,
    private readonly awaitedFeedback: AwaitedFeedback,
    private readonly thread: UploadThread,
    private readonly runsThread: LiveRunsThread,
    private readonly examplesThread: ExamplesThread,
    private readonly sweeper: PayloadSweeper,
  ) {}

  onModuleInit(): void {
    this.removals.register('experiments', 'system:experiments', this.kinds(), (tenant) => this.removePayloads(tenant));
    this.followers.register(this.persistRuns);
    this.followers.register(this.awaitedFeedback);
    this.followers.register(this.sweeper.deletedUploads);
  }

  onApplicationBootstrap(): void {
    this.thread.start();
    this.sweeper.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.sweeper.stop();
    await this.thread.stop();
    await this.runsThread.stop();
    await this.examplesThread.stop();
  }

  private kinds(): Removal[] {
    const find = (table: string) => (tenant: string, limit: number) => this.ids(table, tenant, limit);
    return [
      { view: EXPERIMENTS_VIEW, find: find('datasets'), remove: (caller, id) => this.datasets.delete(caller, id) },
      { view: EXPERIMENTS_VIEW, find: find('sessions'), remove: (caller, id) => this.sessions.delete(caller, id) },
    ];
  }

  /** When the sessions and datasets are gone, nothing needs the bodies any more. */
  private async removePayloads(tenant: string): Promise<number> {
    const payloads = await this.ids('payloads', tenant, 20);
    for (const id of payloads) await this.payloads.remove(tenant, id, new Date(Date.now() + 60_000));
    await this.pool.query('delete from payload_sessions where tenant_id = $1', [tenant]);
    await this.pool.query('delete from payload_datasets where tenant_id = $1', [tenant]);
    return payloads.length;
  }

  private async ids(table: string, tenant: string, limit: number): Promise<string[]> {
    const text = `select id from ${table} where tenant_id = $1 limit $2`;
    return (await this.pool.query<{ id: string }>(text, [tenant, limit])).rows.map(({ id }) => id);
  }
}
