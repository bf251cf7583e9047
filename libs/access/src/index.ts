export { Authenticator } from './authenticator.service';
export { AccessModule } from './access.module';
export { AccessOptions } from './tenants/access.options';
export { AdminKey, AdminKeyProblem } from './admin-key.service';
export { DEFAULT_TENANT } from './tenants/tenant';
export { accessEntities, accessMigrations, accessReadModels } from './domain';
