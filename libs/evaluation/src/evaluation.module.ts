import { type Caller, Followers, Quotas, Vault, WorkspaceRemovals } from '@fairlead/eventing';
import { Idempotency } from '@fairlead/api';
import { type DynamicModule, Module, type OnModuleInit } from '@nestjs/common';
import { Pool } from 'pg';
import { ExperimentsModule, experimentsView } from '@fairlead/experiments';
import type { ExperimentLimits } from '@fairlead/runs';
import { deleteComparison } from './comparative/comparative-experiment';
import { ComparativeExperimentCommands } from './comparative/comparative-experiments.commands';
import { ComparativeExperimentsController } from './comparative/comparative-experiments.controller';
import { comparativeExperimentsView } from './comparative/comparative-experiments.projection';
import { CompareController } from './compare/compare.controller';
import { ComparisonViewController } from './view/comparison-view.controller';
import { ActiveRevisions } from './gates/active-revisions.service';
import { EvidenceChanges } from './gates/evidence-changes.service';
import { EvidenceWriters } from './gates/evidence-writers.service';
import { GateEvidenceService } from './gates/gate-evidence.service';
import { GatesWorker } from './gates/gates.worker';
import { heldRevisionsView } from './gates/held-revisions.projection';
import { HeldRevisions } from './gates/held-revisions.store';
import { RepeatedVerdicts } from './gates/repeated-verdicts.service';
import { VerdictController } from './gates/verdict.controller';
import { ReportController } from './report/report.controller';
import { VerdictReportsModule } from './report/verdict-reports.module';
import { deleteMonitor } from './monitors/monitor';
import { MonitorLooks } from './monitors/monitor-looks.store';
import { MonitorCommands } from './monitors/monitor.commands';
import { monitorsProjection } from './monitors/monitor.projection';
import { MonitorQueries } from './monitors/monitor.queries';
import { MonitorsController } from './monitors/monitors.controller';
import { MonitorsWorker } from './monitors/monitors.worker';
import { RevisionScoresController } from './revisions/revision-scores.controller';
import { RevisionsEvidence } from './revisions/revisions-evidence.service';
import { RowRunsController } from './row/row-runs.controller';
import { RunsV2Controller } from './runs-v2/runs-v2.controller';
import { PublicDatasetsController } from './sharing/public-datasets.controller';
import { PublicLinksController } from './sharing/public-links.controller';
import { PublicReading } from './sharing/public-reading.service';
import { PublicRunsController } from './sharing/public-runs.controller';
import { ShareLinksController } from './sharing/share-links.controller';
import { ShareCommands } from './sharing/share.commands';
import { sealsOf, ShareQueries } from './sharing/share.queries';
import { SharesController } from './sharing/shares.controller';
import { SlicesController } from './slices/slices.controller';
import { TrendController } from './trend/trend.controller';
import { Trends } from './trend/trends.service';
import { shareHandlers } from './sharing/shares.projection';

/**
 * Comparisons of experiments and what is shared, above experiments themselves, which it brings along. Expects what
 * EventingModule provides.
 */
@Module({})
export class EvaluationModule implements OnModuleInit {
  static register(limits: Partial<ExperimentLimits> = {}, publicUrl?: string): DynamicModule {
    return {
      module: EvaluationModule,
      imports: [
        ExperimentsModule.register(ComparativeExperimentCommands, limits, publicUrl),
        VerdictReportsModule.register(limits),
      ],
      controllers: [
        CompareController,
        ComparativeExperimentsController,
        ComparisonViewController,
        ReportController,
        MonitorsController,
        RevisionScoresController,
        RowRunsController,
        RunsV2Controller,
        SharesController,
        PublicDatasetsController,
        PublicRunsController,
        PublicLinksController,
        ShareLinksController,
        SlicesController,
        TrendController,
        VerdictController,
      ],
      providers: [
        Idempotency.hashedBy(Vault),
        ComparativeExperimentCommands,
        PublicReading,
        RevisionsEvidence,
        ShareCommands,
        ShareQueries,
        Trends,
        ActiveRevisions,
        EvidenceChanges,
        EvidenceWriters,
        GateEvidenceService,
        GatesWorker,
        HeldRevisions,
        RepeatedVerdicts,
        MonitorCommands,
        MonitorLooks,
        MonitorQueries,
        MonitorsWorker,
      ],
    };
  }

  constructor(
    private readonly followers: Followers,
    private readonly quotas: Quotas,
    private readonly removals: WorkspaceRemovals,
    private readonly comparisons: ComparativeExperimentCommands,
    private readonly monitors: MonitorCommands,
    private readonly listed: MonitorQueries,
    private readonly vault: Vault,
    private readonly pool: Pool,
  ) {}

  onModuleInit(): void {
    const find = async (tenant: string, limit: number) => {
      const text = 'select id from comparative_experiments where tenant_id = $1 limit $2';
      return (await this.pool.query<{ id: string }>(text, [tenant, limit])).rows.map(({ id }) => id);
    };
    const comparisons = {
      view: comparativeExperimentsView.name,
      find,
      remove: (caller: Caller, id: string) => this.comparisons.change(caller, id, deleteComparison),
    };
    const monitors = {
      view: monitorsProjection.name,
      find: async (tenant: string, limit: number) =>
        (await this.listed.list(tenant, undefined, { limit, offset: 0 })).items.map(({ monitor }) => monitor.id),
      remove: (caller: Caller, id: string) => this.monitors.change(caller, id, deleteMonitor('requested')),
    };
    this.removals.register('experiments', 'system:experiments', [comparisons, monitors], async (tenant) => {
      await this.vault.shred(sealsOf(tenant));
      return 0;
    });
    this.followers.register(experimentsView(shareHandlers));
    this.followers.register(comparativeExperimentsView);
    this.followers.register(heldRevisionsView);
    this.followers.register(monitorsProjection);
    this.quotas.count('monitors', 'MonitorCreated', 'MonitorDeleted');
  }
}
