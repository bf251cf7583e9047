export * from './deployments';
export * from './connections';
export * from './experiments';
export * from './rollouts';
export * from './turns';
export { asyncApi } from './asyncapi';
export * from './catalogue';
