export * from './repositories/commits.module';
export * from './hosts/code-host.errors';
export * from './integration.errors';
export * from './integration';
export * from './integrations.module';
export * from './integrations.options';
export { integrationsEntities, integrationsMigrations, integrationsReadModels } from './domain';
