import type { Group } from '../table/group';

const ONE = '/v2/listeners/{listener_id}';

export const listeners: Group = {
  name: 'listeners',
  alias: 'listener',
  about: 'clusters that run deployments',
  lines: {
    list: { route: 'GET /v2/listeners', columns: ['compute_id', 'compute_type', 'version', 'updated_at', 'id'] },
    get: { route: `GET ${ONE}`, example: 'eu-cluster' },
    create: {
      route: 'POST /v2/listeners',
      example: '--compute-type k8s --compute-id eu-cluster --compute-config \'{"cluster_namespaces": ["agents"]}\'',
    },
    patch: {
      route: `PATCH ${ONE}`,
      example: 'eu-cluster --compute-config \'{"cluster_namespaces": ["agents", "trials"]}\'',
    },
    delete: { route: `DELETE ${ONE}`, example: 'eu-cluster' },
  },
};
