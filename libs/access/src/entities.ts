import { ApiKeyEntity } from './keys/api-key.entity';
import { ConsoleSessionEntity } from './console-session.entity';
import { TenantEntity } from './tenant.entity';

/** Describe the tables of tenants, API keys and console sessions. */
export const accessEntities = [ApiKeyEntity, ConsoleSessionEntity, TenantEntity];
