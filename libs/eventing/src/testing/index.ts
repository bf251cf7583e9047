export * from './esdb-double';
export * from './esdb-log';
export * from './given';
export * from './histories';
export * from './memory-event-store';
export * from './store-contract';
export * from './verify-chain';
