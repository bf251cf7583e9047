export * from './esdb-double';
export * from './esdb-log';
export * from './given';
export * from './store-contract';
