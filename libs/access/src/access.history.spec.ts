import { join } from 'node:path';
import { historyTests, renamed } from '@fairlead/eventstoredb/testing';
import { apiKeyModel } from './keys/api-key';
import { consoleCodeModel } from './console/console-code';
import { consoleSessionModel } from './console/console-session';
import { tenantModel } from './tenants/tenant';
import { savedViewModel } from './views/saved-view';

historyTests(
  join(__dirname, 'recorded'),
  {
    ...{ apiKey: apiKeyModel, consoleCode: consoleCodeModel, consoleSession: consoleSessionModel },
    ...{ savedView: savedViewModel, tenant: tenantModel },
  },
  renamed('TenantCreated', 'display_name', 'label'),
);
