export { decompressed } from './bodies/decompress';
export { ExperimentLimits } from './bodies/experiment-limits';
export { ID_BYTES, IdTable } from './bodies/id-table';
export { contentDigest, type FillRow, fillRows, type FillRows } from './bodies/row-contents';
export { type CheckedUpload, type Verdict } from './bodies/upload-check';
export { LocalChecker, type UploadChecker } from './bodies/upload-checker';
export { type Header, uploadSchema } from './bodies/upload-schema';
export { UploadThread } from './bodies/upload-thread.service';
export { IdTaken, LimitExceeded, REPLAY_MS } from './bodies/upload.errors';
export { conversationEnd, lastTurn, type Turn } from './common/conversation-turn';
export { EXPERIMENTS_VIEW, EXPERIMENTS_VIEWS } from './common/experiments-view';
export { compileFilter, metadataFamily, type Vocabulary } from './common/filter-sql';
export { experimentId, newDatasetId, numberedIds, tracingProjectId } from './common/ids';
export { digestOf, type OpaqueBody, readBytes, readJson, readOpaqueBody } from './common/opaque-body.schema';
export { array, nulled, number, object, preview, raw, text, time, unquoted } from './common/platform-json';
export { found, Id, idPath, JSON_TEXT, notOffered, oneOrMany, pageOf100, searchedObject, sent } from './common/reading';
export { SCORE_FORM, SCORE_OPERATORS, scoreBound, type ScoreBound } from './common/score-bound';
export { type Expressions, insertRow, type Row, updateRow, workspaceOf } from './common/rows.queries';
export {
  all,
  containing,
  isoTime,
  jsonContaining,
  latencyOf,
  ofSession,
  Parameters,
  shownMetadataOf,
  storable,
} from './common/sql';
export { countsOfSessions } from './counts/trace-counts.queries';
export { refreshRunStats } from './counts/run-stats.projection';
export { TraceCounts } from './counts/trace-counts.projection';
export { runsEntities } from './domain';
export { AwaitedFeedback } from './feedback/awaited-feedback.consumer';
export { applyFeedbackChange } from './feedback/feedback-changes.projection';
export { type FeedbackConfigEvent, feedbackConfigModel, feedbackConfigStream } from './feedback/feedback-config';
export { applyFeedbackConfig } from './feedback/feedback-configs.projection';
export { lowerIsBetter } from './feedback/feedback-configs.queries';
export { comparativeFeedbackStatistics, runFeedbackStatistics } from './feedback/feedback-statistics.queries';
export { feedback, feedbackStatistics } from './feedback/feedback.answers.schema';
export { type FeedbackEntity } from './feedback/feedback.entity';
export {
  applyFeedbackAdded,
  applyFeedbackAwaited,
  deleteComparativeFeedback,
  refreshFeedbackStats,
  settleFeedback,
} from './feedback/feedback.projection';
export { feedbackColumns, feedbackJson, type FeedbackRow } from './feedback/feedback.queries';
export { awaitedStream } from './feedback/live-feedback.commands';
export { NamedComparisons } from './feedback/named-comparisons';
export { LiveRunsThread } from './intake/langsmith/live-runs-thread.service';
export { applyRunsReceived } from './batch/live-runs.projection';
export {
  type AttachmentLinks,
  Attachments,
  attachmentUrls,
  PublicUrl,
  signedQuery,
} from './persist/attachments.service';
export {
  exampleTexts,
  type Filled,
  type FillExample,
  type FillTarget,
  findFillTargets,
  placesOf,
} from './persist/fill-targets.queries';
export { NamedDatasets } from './persist/named-datasets';
export { LiveRuns } from './batch/live-runs.consumer';
export { PersistRuns } from './persist/persist-runs.consumer';
export { RunBatches } from './batch/run-batches.store';
export { answer, batches, pieces, type Sized } from './persist/pieces';
export { RefusedItems } from './refused/refused-items.store';
export { decodeCursor, encodeCursor, type RunCursor } from './run/run-cursor';
export { RUN_SELECT, runMembers, type RunRow } from './run/run-json';
export { counted as countedUsage, runUsage, USAGE_MEMBERS, usageOf } from './common/run-usage';
export { type RunEntity } from './run/run.entity';
export { metadataOf, V2_SELECTS, type V2Select } from './run/runs-v2-json';
export { pageV2, type Rendering, renderRowsV2, renderRunsV2 } from './run/runs-v2.queries';
export { runInputs, runVocabulary } from './run/runs-vocabulary';
export { itemsPage, run, runAnswerMembers, runsPage, runsPageV2, runV2 } from './run/runs.answers.schema';
export { placeOfRun } from './run/run-lookups.queries';
export { findRun, findRunPage, queryRuns, readRuns, type RunFilter } from './run/runs.queries';
export { hasProject } from './traces/traces.queries';
export { RunsModule } from './runs.module';
export { DeletedSessions } from './session/deleted-sessions.consumer';
export { applySessionDeleted, applyTenantRemoved } from './session/deletions.projection';
export {
  createSession,
  type DatasetFacts,
  type DatasetHoldings,
  type ExperimentEvent,
  type FeedbackAdded,
  type ExperimentFilled,
  experimentModel,
  type ExperimentUploaded,
  type FeedbackAwaited,
  fill,
  newProject,
  type RunsPersisted,
  type RunsReceived,
  type SessionChanges,
  type SessionCreated,
  sessionStream,
  upload,
} from './session/experiment';
export { findReferenceDataset } from './session/experiment.queries';
export { requireOwnDataset } from './session/own-dataset.queries';
export { type SessionEntity } from './session/session.entity';
export { SessionExists, SessionNotFound } from './session/session.errors';
export { SessionCommands, unlessGone } from './session/sessions.commands';
