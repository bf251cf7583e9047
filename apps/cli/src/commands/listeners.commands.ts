import type { Group } from '../table/group';

const ONE = '/v2/listeners/{listener_id}';

export const listeners: Group = {
  name: 'listeners',
  alias: 'listener',
  about: 'clusters that run deployments',
  lines: {
    list: { route: 'GET /v2/listeners', columns: ['compute_id', 'compute_type', 'version', 'updated_at', 'id'] },
    get: { route: `GET ${ONE}` },
    create: { route: 'POST /v2/listeners' },
    patch: { route: `PATCH ${ONE}` },
    delete: { route: `DELETE ${ONE}` },
  },
};
