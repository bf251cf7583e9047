import type { Group } from '../table/group';

const ONE = '/v1/integrations/{integration_id}';

export const integrations: Group = {
  name: 'integrations',
  alias: 'integration',
  about: 'credentials for code hosts, and the repositories they open',
  lines: {
    list: { route: 'GET /v1/integrations', columns: ['name', 'provider', 'auth', 'base_url', 'updated_at', 'id'] },
    get: { route: `GET ${ONE}`, example: "'our code host'" },
    create: {
      route: 'POST /v1/integrations',
      example: '--name \'our code host\' --provider github --credentials \'{"token": "\'"$TOKEN"\'"}\'',
    },
    patch: { route: `PATCH ${ONE}`, example: "'our code host' --base-url https://git.example.com" },
    delete: { route: `DELETE ${ONE}`, example: "'our code host'" },
    repositories: {
      route: 'GET /v1/integrations/codehost/{integration_id}/repos',
      example: "'our code host'",
      columns: ['url', 'owner', 'name', 'default_branch'],
    },
    deliveries: {
      route: `GET ${ONE}/deliveries`,
      example: "'our code host' --status set_aside",
      columns: ['id', 'status', 'event', 'times', 'last_received_at', 'reason'],
    },
    delivery: {
      route: `GET ${ONE}/deliveries/{delivery_id}`,
      example: "'our code host' 0198c1f0-0000-7000-8000-000000000001",
    },
    'retry-delivery': {
      route: `POST ${ONE}/deliveries/{delivery_id}/retry`,
      example: "'our code host' 0198c1f0-0000-7000-8000-000000000001",
    },
    reports: {
      route: `GET ${ONE}/reports`,
      example: "'our code host' --status set_aside",
      columns: ['revision_id', 'deployment', 'standing', 'status', 'sent_at', 'reason'],
    },
    'retry-report': {
      route: `POST ${ONE}/reports/{revision_id}/retry`,
      example: "'our code host' 0198c1f0-0000-7000-8000-000000000001",
    },
  },
};
