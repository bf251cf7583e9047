export * from './ports/deployments';
export * from './ports/connections';
export * from './ports/experiments';
export * from './ports/measures';
export * from './ports/rollouts';
export * from './ports/standing';
export * from './ports/turns';
export { asyncApi } from './catalogue/asyncapi';
export * from './catalogue/catalogue';
