export * from './deployments';
export * from './connections';
export * from './experiments';
export * from './rollouts';
export { asyncApi } from './asyncapi';
export * from './catalogue';
