export { AuditModule } from './audit.module';
export { RejectedRequestsStore } from './rejected-requests.store';
export type { RejectedRequest } from './rejected-requests';
export { auditEntities, auditMigrations, auditReadModels } from './domain';
