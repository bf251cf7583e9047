import type { Group } from '../table/group';

const ONE = '/api/v1/workspaces/{workspace_id}';

export const workspaces: Group = {
  name: 'workspace',
  alias: 'workspaces',
  about: 'workspaces of the installation',
  lines: {
    list: { route: 'GET /api/v1/workspaces', columns: ['display_name', 'tenant_handle', 'created_at', 'id'] },
    show: { route: `GET ${ONE}`, example: 'research', about: 'show whether a workspace works' },
    create: { route: 'POST /api/v1/workspaces', example: '--display-name research' },
    suspend: {
      route: `POST ${ONE}/suspend`,
      example: "research --reason 'key leaked'",
      about: 'refuse every key of a workspace, and let nothing of it go on, until it is resumed',
    },
    resume: { route: `POST ${ONE}/resume`, example: 'research', about: 'let a suspended workspace work again' },
    remove: {
      route: `DELETE ${ONE}`,
      example: 'research',
      about: 'remove a workspace with everything it has, for ever',
    },
    usage: { route: 'GET /api/v1/workspaces/current/usage' },
  },
};
