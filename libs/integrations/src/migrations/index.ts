import { IntegrationTables1763600009000 } from './1763600009000-integrations';
import { Deliveries1764500000200 } from './1764500000200-deliveries';

/** Tables of integrations: their read model, what was delivered for them, and the ids of repositories. */
export const integrationsMigrations = [IntegrationTables1763600009000, Deliveries1764500000200];
