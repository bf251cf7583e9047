export { copyIn, copyLine, type CopyValue } from './copy';
export { copyAtOnce, type CopyQuery } from './copy-queries';
export { connect, openDatabase, pool, transaction, type DatabaseOptions, type MigrationClass } from './database';
export { findEmbedded, startEmbedded, type EmbeddedOptions, type EmbeddedPostgres } from './embedded';
export { makeDirectory } from './make-directory';
export { opaqueStorage } from './opaque-storage';
export { DatabaseProblem, isConnectionLost } from './problem';
