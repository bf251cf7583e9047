export { AuditModule } from './audit.module';
export { auditEntities } from './entities';
export { auditMigrations } from './migrations';
export { RejectedRequestLog } from './rejected-requests.store';
export type { RejectedRequest } from './rejected-requests';
export { auditReadModels } from './read-models';
