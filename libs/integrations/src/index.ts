export * from './repositories/commits.module';
export * from './hosts/code-host.errors';
export * from './integration/integration.errors';
export * from './integration/integration';
export * from './integrations.module';
export * from './integration/integrations.options';
export { integrationsEntities, integrationsMigrations, integrationsReadModels } from './domain';
