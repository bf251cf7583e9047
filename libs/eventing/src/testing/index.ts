export * from './given';
export * from './store-contract';
