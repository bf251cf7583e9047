export * from './given';
export * from './memory-event-store';
export * from './own-writes';
export * from './store-contract';
export * from './test-stores';
export * from './verify-chain';
