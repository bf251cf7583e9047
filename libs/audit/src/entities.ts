import { AuditLogEntity } from './audit-log.entity';

/** Describe the table of the audit log. */
export const auditEntities = [AuditLogEntity];
