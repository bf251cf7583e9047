import type { Group } from '../table/group';

const ONE = '/v1/integrations/{integration_id}';

export const integrations: Group = {
  name: 'integrations',
  alias: 'integration',
  about: 'credentials for code hosts, and the repositories they open',
  lines: {
    list: { route: 'GET /v1/integrations', columns: ['name', 'provider', 'auth', 'base_url', 'updated_at', 'id'] },
    get: { route: `GET ${ONE}` },
    create: { route: 'POST /v1/integrations' },
    patch: { route: `PATCH ${ONE}` },
    delete: { route: `DELETE ${ONE}` },
    repositories: {
      route: 'GET /v1/integrations/codehost/{integration_id}/repos',
      columns: ['url', 'owner', 'name', 'default_branch'],
    },
  },
};
