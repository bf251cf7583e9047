export { copyAtOnce } from './database/copy-queries';
export {
  connect,
  type EntityClass,
  type MigrationClass,
  openDatabase,
  openDataSource,
  transaction,
} from './database/database';
export { writeDurably } from './embedded/durable-file';
export { findEmbedded, startEmbedded, type EmbeddedPostgres } from './embedded/embedded';
export { timeText } from './database/time-text';
export { LOCKS } from './database/locks';
export { makeDirectory } from './embedded/make-directory';
export { Migration, opaque } from './database/migration';
export { nested } from './database/nested';
export { opaqueStorage } from './database/opaque-storage';
export { currentReading, outsideRequest, reading, type Reading, sharedReading, writing } from './database/reading';
export { openRequestPool } from './database/request-pool';
export { SharedReads } from './database/shared-reads';
export { DatabaseProblem } from './database/problem';
