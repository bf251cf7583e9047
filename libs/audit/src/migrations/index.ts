import { AuditTables1763700000300 } from './1763700000300-audit';

/** Tables of the audit log. */
export const auditMigrations = [AuditTables1763700000300];
