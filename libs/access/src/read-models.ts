import type { ReadModel } from '@fairlead/eventing';
import { apiKeysProjection } from './keys/api-key.projection';
import { consoleSessionsProjection } from './console-session.projection';
import { tenantsProjection } from './tenant.projection';

/** The tables of this domain that can be made again from the log. */
export function accessReadModels(): ReadModel[] {
  return [
    { name: 'tenants', tables: ['tenants'], projections: () => [tenantsProjection] },
    { name: 'api-keys', tables: ['api_keys'], projections: () => [apiKeysProjection] },
    { name: 'console-sessions', tables: ['console_sessions'], projections: () => [consoleSessionsProjection] },
  ];
}
