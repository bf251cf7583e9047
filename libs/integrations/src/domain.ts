import type { ReadModel } from '@fairlead/eventing';
import type { MigrationClass } from '@fairlead/postgres';
import { IntegrationEntity } from './integration/integration.entity';
import { integrationsProjection } from './integration/integration.projection';
import * as tables from './migrations/integration-tables';

/** Describe the table of integrations. */
export const integrationsEntities = [IntegrationEntity];

/** Tables of integrations: their read model, what was delivered for them, and the ids of repositories. */
export const integrationsMigrations = Object.values<MigrationClass>(tables);

/** The tables of this domain that can be made again from the log. */
export function integrationsReadModels(): ReadModel[] {
  return [{ name: 'integrations', tables: ['integrations'], projections: () => [integrationsProjection] }];
}
