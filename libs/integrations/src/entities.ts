import { IntegrationEntity } from './integration.entity';

/** Describe the table of integrations. */
export const integrationsEntities = [IntegrationEntity];
