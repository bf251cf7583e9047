import { Idempotency } from '@fairlead/api';
import { PayloadStore } from '@fairlead/blobs';
import { EventStore, Followers, Vault, WorkspaceRemovals } from '@fairlead/eventing';
import {
  type DynamicModule,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import { Pool } from 'pg';
import { ExperimentLimits } from './bodies/experiment-limits';
import { UploadThread } from './bodies/upload-thread.service';
import { EXPERIMENTS_VIEW } from './common/experiments-view';
import { ProjectsController } from './counts/projects.controller';
import { Recounts } from './counts/recounts.worker';
import { AwaitedFeedback } from './feedback/awaited-feedback.consumer';
import { FeedbackChangesController } from './feedback/feedback-changes.controller';
import { FeedbackConfigsController } from './feedback/feedback-configs.controller';
import { FeedbackController } from './feedback/feedback.controller';
import { NamedComparisons } from './feedback/named-comparisons';
import { LiveRunsThread } from './intake/langsmith/live-runs-thread.service';
import { LiveRunsController } from './intake/langsmith/live-runs.controller';
import { Attachments, PublicUrl } from './persist/attachments.service';
import { NamedDatasets } from './persist/named-datasets';
import { LiveRuns } from './batch/live-runs.consumer';
import { PayloadSweeper } from './persist/payload-sweeper.worker';
import { PersistRuns } from './persist/persist-runs.consumer';
import { RunBatches } from './batch/run-batches.store';
import { RefusedItemsController } from './refused/refused-items.controller';
import { RefusedItems } from './refused/refused-items.store';
import { ReplacedRunsController } from './run/replaced-runs.controller';
import { RunAttachmentsController } from './run/run-attachments.controller';
import { RunUrlController } from './run/run-url.controller';
import { RunsController } from './run/runs.controller';
import { ThreadsController } from './run/threads.controller';
import { DELETED_SESSIONS, DeletedSessions } from './session/deleted-sessions.consumer';
import { SessionCommands } from './session/sessions.commands';
import { TracesController } from './traces/traces.controller';

/** Libraries above this one say which comparative experiments and datasets there are. */
interface Known {
  readonly comparisons: Type<NamedComparisons>;
  readonly datasets: Type<NamedDatasets>;
}

/** Sessions, their runs and feedback, and bodies that are stored. Expects what EventingModule provides. */
@Module({})
export class RunsModule implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  static readonly controllers = [
    LiveRunsController,
    RunsController,
    RunAttachmentsController,
    RunUrlController,
    ReplacedRunsController,
    ThreadsController,
    ProjectsController,
    TracesController,
    RefusedItemsController,
    FeedbackController,
    FeedbackChangesController,
    FeedbackConfigsController,
  ];

  static register(known: Known, limits: Partial<ExperimentLimits> = {}, publicUrl?: string): DynamicModule {
    const shared = [
      { provide: ExperimentLimits, useValue: new ExperimentLimits(limits) },
      { provide: PayloadStore, inject: [Pool], useFactory: (pool: Pool) => new PayloadStore(pool) },
      { provide: RunBatches, inject: [Pool], useFactory: (pool: Pool) => new RunBatches(pool) },
      { provide: PublicUrl, useValue: new PublicUrl(publicUrl) },
      Attachments,
      RefusedItems,
      SessionCommands,
      UploadThread,
    ];
    return {
      module: RunsModule,
      controllers: RunsModule.controllers,
      providers: [
        ...shared,
        Idempotency.hashedBy(Vault),
        { provide: NamedComparisons, useClass: known.comparisons },
        { provide: NamedDatasets, useClass: known.datasets },
        AwaitedFeedback,
        DeletedSessions,
        LiveRuns,
        LiveRunsThread,
        PayloadSweeper,
        PersistRuns,
        Recounts,
      ],
      exports: shared,
    };
  }

  constructor(
    private readonly store: EventStore,
    private readonly followers: Followers,
    private readonly removals: WorkspaceRemovals,
    private readonly sessions: SessionCommands,
    private readonly payloads: PayloadStore,
    private readonly pool: Pool,
    private readonly batches: RunBatches,
    private readonly persistRuns: PersistRuns,
    private readonly liveRuns: LiveRuns,
    private readonly deletedSessions: DeletedSessions,
    private readonly awaitedFeedback: AwaitedFeedback,
    private readonly uploadThread: UploadThread,
    private readonly runsThread: LiveRunsThread,
    private readonly sweeper: PayloadSweeper,
    private readonly recounts: Recounts,
  ) {}

  onModuleInit(): void {
    const sessions = {
      view: EXPERIMENTS_VIEW,
      find: (tenant: string, limit: number) => this.ids('sessions', tenant, limit),
      remove: (caller: Parameters<SessionCommands['delete']>[0], id: string) => this.sessions.delete(caller, id),
    };
    this.removals.register('experiments', 'system:experiments', [sessions], (tenant) => this.removePayloads(tenant));
    this.followers.register(this.persistRuns);
    this.followers.register(this.liveRuns);
    this.followers.register(this.deletedSessions);
    this.followers.register(this.awaitedFeedback);
    this.followers.register(this.sweeper.deletedUploads);
  }

  onApplicationBootstrap(): void {
    this.uploadThread.start();
    this.sweeper.start();
    this.recounts.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.sweeper.stop();
    await this.recounts.stop();
    await this.uploadThread.stop();
    await this.runsThread.stop();
  }

  /** When the sessions and datasets are gone, nothing needs the bodies any more. */
  private async removePayloads(tenant: string): Promise<number> {
    const payloads = await this.ids('payloads', tenant, 20);
    for (const id of payloads) await this.payloads.remove(tenant, id, new Date(Date.now() + 60_000));
    await this.pool.query('delete from payload_sessions where tenant_id = $1', [tenant]);
    await this.pool.query('delete from payload_datasets where tenant_id = $1', [tenant]);
    // What large sessions had is gone when the follower that deletes it has passed.
    const isBehind = !(await this.followers.passed(await this.store.head(), [DELETED_SESSIONS]));
    return payloads.length + Number(isBehind) + (await this.batches.deleteSome(tenant));
  }

  private async ids(table: 'sessions' | 'payloads', tenant: string, limit: number): Promise<string[]> {
    const text = `select id from ${table} where tenant_id = $1 limit $2`;
    return (await this.pool.query<{ id: string }>(text, [tenant, limit])).rows.map(({ id }) => id);
  }
}
