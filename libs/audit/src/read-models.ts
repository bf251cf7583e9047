import type { ReadModel } from '@fairlead/eventing';
import { auditView } from './audit.projection';

/** The tables of this domain that can be made again from the log. Refused attempts are not in it. */
export function auditReadModels(): ReadModel[] {
  return [{ name: 'audit-log', tables: ['audit_log'], projections: () => [auditView] }];
}
