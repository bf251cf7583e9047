export { Authenticator } from './authenticator.service';
export { AccessModule } from './access.module';
export { AccessOptions } from './access.options';
export { AdminKeyProblem, registerAdminKey } from './keys/admin-key.service';
export { DEFAULT_TENANT } from './tenant';
export { accessEntities, accessMigrations, accessReadModels } from './domain';
