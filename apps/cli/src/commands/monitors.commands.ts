import type { Group } from '../table/group';

const ONE = '/v1/monitors/{monitor_id}';

export const monitors: Group = {
  name: 'monitors',
  alias: 'monitor',
  about: 'values of tracing projects that webhooks are told of when they are beyond a threshold',
  lines: {
    list: {
      route: 'GET /v1/monitors',
      columns: ['name', 'state', 'last_look.value', 'threshold', 'measure', 'project_id', 'state_since', 'id'],
    },
    get: { route: `GET ${ONE}`, example: 'agent-errors' },
    create: {
      route: 'POST /v1/monitors',
      example:
        '--name agent-errors --project-id my-agent --measure error_rate --alerts-when above --threshold 0.05 --window-minutes 60',
    },
    patch: { route: `PATCH ${ONE}`, example: 'agent-errors --threshold 0.1' },
    delete: { route: `DELETE ${ONE}`, example: 'agent-errors' },
  },
};
