export { type Cell, csvLine, oneLine } from './common/csv-line';
export { DatasetsModule } from './datasets.module';
export {
  addExperiment,
  checkTarget,
  type Dataset,
  type DatasetChanges,
  type DatasetCreated,
  type DatasetDeleted,
  type DatasetEvent,
  datasetModel,
  isThere,
  type ScoreDirections,
  type Target,
} from './datasets/dataset';
export { DatasetExists, DatasetMismatch } from './datasets/dataset.errors';
export {
  dataset,
  example,
  exampleAnswerMembers,
  removed,
  uploadedDatasetMembers,
} from './datasets/datasets.answers.schema';
export { DatasetCommands } from './datasets/datasets.commands';
export { applyDatasetDeleted } from './datasets/datasets.projection';
export { findDataset, findHoldings, findScoreDirections, requireDataset } from './datasets/datasets.queries';
export { LoggedDatasets } from './datasets/logged-datasets.service';
export { datasetsEntities } from './domain';
export { type ExampleEntity } from './examples/example.entity';
export { DatasetCopies } from './datasets/dataset-copies.service';
export { ExamplesThread } from './examples/examples-thread.service';
export { applyDatasetTagged, applyExamples } from './examples/examples.projection';
export { countExamples, exampleMembers, listExamples, readCurrentExamples } from './examples/examples.queries';
export { sameJson } from './examples/same-json';
