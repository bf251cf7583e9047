export * from './esdb-double';
export * from './esdb-log';
export * from './histories';
