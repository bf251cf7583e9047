export { AuditModule } from './audit.module';
export { auditMigrations } from './migrations';
export { RefusalBook } from './refusal.book';
export type { Refusal } from './refusals';
export { auditReadModels } from './read-models';
