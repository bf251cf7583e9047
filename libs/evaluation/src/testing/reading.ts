import { experimentsView } from '@fairlead/experiments';
import { NamedComparisons } from '@fairlead/runs';
import { type Added, startReading as startAlone } from '@fairlead/experiments/testing';
import { ComparativeExperimentCommands } from '../comparative/comparative-experiments.commands';
import { ComparativeExperimentsController } from '../comparative/comparative-experiments.controller';
import { comparativeExperimentsView } from '../comparative/comparative-experiments.projection';
import { CompareController } from '../compare/compare.controller';
import { ComparisonViewController } from '../view/comparison-view.controller';
import { Comparisons } from '../compare/comparisons.service';
import { RevisionScoresController } from '../revisions/revision-scores.controller';
import { RevisionsEvidence } from '../revisions/revisions-evidence.service';
import { RowRunsController } from '../row/row-runs.controller';
import { RunsV2Controller } from '../runs-v2/runs-v2.controller';
import { PublicDatasetsController } from '../sharing/public-datasets.controller';
import { PublicLinksController } from '../sharing/public-links.controller';
import { PublicReading } from '../sharing/public-reading.service';
import { PublicRunsController } from '../sharing/public-runs.controller';
import { ShareLinksController } from '../sharing/share-links.controller';
import { ShareCommands } from '../sharing/share.commands';
import { ShareQueries } from '../sharing/share.queries';
import { SharesController } from '../sharing/shares.controller';
import { SliceComparisons } from '../slices/slice-comparisons.service';
import { SlicesController } from '../slices/slices.controller';
import { TrendController } from '../trend/trend.controller';
import { Trends } from '../trend/trends.service';
import { shareHandlers } from '../sharing/shares.projection';

export * from '@fairlead/experiments/testing';

const ADDED: Added = {
  controllers: [
    CompareController,
    ComparativeExperimentsController,
    ComparisonViewController,
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
  ],
  providers: [
    ComparativeExperimentCommands,
    { provide: NamedComparisons, useExisting: ComparativeExperimentCommands },
    Comparisons,
    PublicReading,
    RevisionsEvidence,
    ShareCommands,
    ShareQueries,
    SliceComparisons,
    Trends,
  ],
  projections: [experimentsView(shareHandlers), comparativeExperimentsView],
};

/** Starts the server, with experiments below it, on tables that are empty. */
export const startReading = (
  limits?: Parameters<typeof startAlone>[0],
  ofExperiments?: Parameters<typeof startAlone>[1],
) => startAlone(limits, ofExperiments, ADDED);
