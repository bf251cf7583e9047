import { IntegrationTables1763600009000 } from './1763600009000-integrations';

/** Tables of the integrations' read model. */
export const integrationsMigrations = [IntegrationTables1763600009000];
