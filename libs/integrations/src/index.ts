export type { CodeHost, Credentials } from './hosts/code-host';
export * from './commits.module';
export * from './hosts/code-host.errors';
export * from './integration.errors';
export * from './integration';
export * from './integrations.module';
export * from './integrations.options';
export * from './migrations';
export { integrationsReadModels } from './read-models';
