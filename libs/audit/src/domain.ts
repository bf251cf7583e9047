import type { ReadModel } from '@fairlead/eventing';
import { AuditLogEntity } from './audit-log.entity';
import { auditView } from './audit.projection';
import {
  AuditByEvent1763900000500,
  AuditTables1763700000300,
  AuditWorkspaceKey1764900062100,
} from './migrations/audit-tables';

/** Describe the table of the audit log. */
export const auditEntities = [AuditLogEntity];

/** Tables of the audit log. */
export const auditMigrations = [AuditTables1763700000300, AuditByEvent1763900000500, AuditWorkspaceKey1764900062100];

/** The tables of this domain that can be made again from the log. Refused attempts are not in it. */
export function auditReadModels(): ReadModel[] {
  return [{ name: 'audit-log', tables: ['audit_log'], projections: () => [auditView] }];
}
