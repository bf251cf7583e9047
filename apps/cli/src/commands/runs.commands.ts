import type { Group } from '../table/group';

export const runs: Group = {
  name: 'runs',
  alias: 'run',
  about: 'what experiments and agents ran: inputs, outputs, times, scores',
  lines: {
    list: {
      route: 'POST /api/v1/runs/query',
      about: 'list runs, the newest first',
      columns: ['id', 'name', 'run_type', 'status', 'start_time', 'error'],
    },
    stats: { route: 'POST /api/v1/runs/stats' },
    get: { route: 'GET /api/v1/runs/{run_id}' },
    create: { route: 'POST /api/v1/runs' },
    patch: { route: 'PATCH /api/v1/runs/{run_id}' },
    attachment: { route: 'GET /api/v1/runs/{run_id}/attachment', saves: true },
    share: { route: 'PUT /api/v1/runs/{run_id}/share' },
    shared: { route: 'GET /api/v1/runs/{run_id}/share' },
    unshare: { route: 'DELETE /api/v1/runs/{run_id}/share' },
    url: { route: 'GET /v2/runs/{run_id}/url' },
  },
};

const DATASET = '/api/v1/public/{dataset_token}';
const RUN = '/api/v1/public/{run_token}';

export const links: Group = {
  name: 'links',
  alias: 'link',
  about: 'share links to comparisons and runs, which expire and can hide some of what they show',
  lines: {
    list: { route: 'GET /v1/shares', columns: ['id', 'kind', 'hidden', 'experiments', 'created_at', 'expires_at'] },
    create: { route: 'POST /v1/shares' },
    delete: { route: 'DELETE /v1/shares/{share_id}' },
  },
};

const LINK = '/api/v1/public/{link_token}/link';

export const shared: Group = {
  name: 'shared',
  about: 'what somebody shared, by its token',
  lines: {
    dataset: { route: `GET ${DATASET}/datasets` },
    examples: { route: `GET ${DATASET}/examples`, columns: ['id', 'inputs', 'outputs', 'modified_at'] },
    experiments: { route: `GET ${DATASET}/datasets/sessions`, columns: ['name', 'start_time', 'run_count', 'id'] },
    comparison: { route: `GET ${DATASET}/datasets/compare` },
    run: { route: `GET ${RUN}/run` },
    child: { route: `GET ${RUN}/run/{run_id}`, about: 'get a run below a shared run' },
    runs: {
      route: `POST ${RUN}/runs/query`,
      columns: ['id', 'name', 'run_type', 'status', 'start_time', 'error'],
    },
    link: { route: `GET ${LINK}`, about: 'get what a share link shows' },
    compared: { route: `GET ${LINK}/comparison` },
    'linked-run': { route: `GET ${LINK}/runs/{run_id}` },
  },
};
