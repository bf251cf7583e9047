export { Authenticator } from './authenticator.service';
export { AccessModule } from './access.module';
export { AccessOptions } from './access.options';
export { AdminKeyProblem, registerAdminKey } from './keys/admin-key.service';
export { accessEntities } from './entities';
export { accessMigrations } from './migrations';
export { DEFAULT_TENANT } from './tenant';
export { accessReadModels } from './read-models';
