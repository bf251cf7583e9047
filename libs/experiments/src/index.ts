export { type Cell, csvLine, oneLine } from './common/csv-line';
export { ExperimentLimits } from './common/experiment-limits';
export { EXPERIMENTS_VIEW } from './common/experiments-view';
export { compileFilter } from './common/filter-sql';
export { digestOf, type OpaqueBody, readOpaqueBody } from './common/opaque-body.schema';
export { array, number, object, preview, raw, text, unquoted } from './common/platform-json';
export { found, Id, JSON_TEXT, oneOrMany, pageOf100, sent } from './common/reading';
export { insertRow } from './common/rows.queries';
export { all, containing, isoTime, jsonContaining, latencyOf, Parameters, storable } from './common/sql';
export { type DatasetDeleted, type ScoreDirections } from './datasets/dataset';
export { dataset, example, removed } from './datasets/datasets.answers.schema';
export { findDataset, findScoreDirections, requireDataset } from './datasets/datasets.queries';
export { experimentsEntities, experimentsMigrations, experimentsReadModel } from './domain';
export { type ExampleEntity } from './examples/example.entity';
export { countExamples, exampleMembers, listExamples, readCurrentExamples } from './examples/examples.queries';
export { ExperimentsModule } from './experiments.module';
export { experimentsView, type Handler } from './experiments.projection';
export { comparativeFeedbackStatistics, runFeedbackStatistics } from './feedback/feedback-statistics.queries';
export { feedbackStatistics } from './feedback/feedback.answers.schema';
export { type FeedbackEntity } from './feedback/feedback.entity';
export { FEEDBACK_COLUMNS, feedbackJson, type FeedbackRow } from './feedback/feedback.queries';
export { feedbackConfigModel } from './feedback/feedback-config';
export { NamedComparisons } from './feedback/named-comparisons';
export { decodeCursor } from './runs/run-cursor';
export { RUN_SELECT, runMembers, type RunRow } from './runs/run-json';
export { RUN_USAGE, usageOf } from './runs/run-usage';
export { type RunEntity } from './runs/run.entity';
export { metadataOf, V2_SELECTS, type V2Select } from './runs/runs-v2-json';
export { pageV2, type Rendering, renderRowsV2, renderRunsV2 } from './runs/runs-v2.queries';
export { RUN_INPUTS, RUN_VOCABULARY } from './runs/runs-vocabulary';
export {
  exampleWithRuns,
  experimentRuns,
  feedbackDelta,
  LEFT_OUT,
  run,
  runsPage,
  runsPageV2,
  runV2,
} from './runs/runs.answers.schema';
export { findRun, findRunPage, queryRuns, readRuns, type RunFilter } from './runs/runs.queries';
export { session } from './sessions/sessions.answers.schema';
export { listSessions } from './sessions/sessions.queries';
export { type AttachmentLinks, Attachments, attachmentUrls, PublicUrl } from './storage/attachments.service';
export { ID_BYTES, IdTable } from './storage/id-table';
export { batches, pieces } from './storage/pieces';
