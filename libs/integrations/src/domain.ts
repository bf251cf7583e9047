import type { ReadModel } from '@fairlead/eventing';
import { IntegrationEntity } from './integration/integration.entity';
import { IntegrationTables1763600009000 } from './migrations/1763600009000-integrations';
import { Deliveries1764500000200 } from './migrations/1764500000200-deliveries';
import { integrationsProjection } from './integration/integrations.projection';

/** Describe the table of integrations. */
export const integrationsEntities = [IntegrationEntity];

/** Tables of integrations: their read model, what was delivered for them, and the ids of repositories. */
export const integrationsMigrations = [IntegrationTables1763600009000, Deliveries1764500000200];

/** The tables of this domain that can be made again from the log. */
export function integrationsReadModels(): ReadModel[] {
  return [{ name: 'integrations', tables: ['integrations'], projections: () => [integrationsProjection] }];
}
