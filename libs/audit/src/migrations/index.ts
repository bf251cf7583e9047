import { AuditTables1763700000300 } from './1763700000300-audit';
import { AuditByEvent1763900000500 } from './1763900000500-audit-by-event';

/** Tables of the audit log. */
export const auditMigrations = [AuditTables1763700000300, AuditByEvent1763900000500];
