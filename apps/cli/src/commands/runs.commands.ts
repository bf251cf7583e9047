import type { Group } from '../table/group';

export const runs: Group = {
  name: 'runs',
  alias: 'run',
  about: 'what experiments and agents ran: inputs, outputs, times, scores',
  lines: {
    list: {
      route: 'POST /api/v1/runs/query',
      example: '--session model-a --error true',
      about: 'list runs, the newest first',
      columns: ['id', 'name', 'run_type', 'status', 'start_time', 'error'],
    },
    projects: {
      route: 'GET /v1/projects',
      columns: ['id', 'name', 'runs', 'errors', 'total_tokens', 'total_cost', 'latency_p50', 'last_run_start_time'],
    },
    counts: {
      route: 'GET /v1/projects/{project_id}/counts',
      example: 'support-agent --interval day',
      columns: ['time', 'runs', 'errors', 'total_tokens', 'total_cost', 'latency_p50', 'latency_p99'],
    },
    traces: {
      route: 'GET /v1/projects/{project_id}/traces',
      example: 'support-agent --status error',
      columns: ['id', 'name', 'status', 'start_time', 'latency', 'total_tokens', 'error_preview'],
    },
    trace: {
      route: 'GET /v1/projects/{project_id}/traces/{trace_id}',
      example: 'support-agent 0198c1f0-0000-7000-8000-000000000001',
      columns: ['id', 'parent_run_id', 'name', 'run_type', 'status', 'start_time', 'latency'],
    },
    stats: { route: 'POST /api/v1/runs/stats', example: '--session model-a' },
    get: { route: 'GET /api/v1/runs/{run_id}', example: '0198c1f0-0000-7000-8000-000000000001' },
    refused: {
      route: 'GET /v1/refused',
      about: 'list what was refused of the runs and scores that were sent, and why',
      columns: ['count', 'kind', 'reason', 'place', 'session_name', 'last_at'],
      example: '--session-id 0198c1f0-0000-7000-8000-000000000002',
    },
    create: { route: 'POST /api/v1/runs', example: '--file run.json' },
    patch: {
      route: 'PATCH /api/v1/runs/{run_id}',
      example: '0198c1f0-0000-7000-8000-000000000001 --outputs \'{"answer": "4"}\'',
    },
    attachment: {
      route: 'GET /api/v1/runs/{run_id}/attachment',
      example:
        '0198c1f0-0000-7000-8000-000000000001 --name image.png --tenant research --expires 1767268800 --signature "$SIGNATURE" -o image.png',
      saves: true,
    },
    thread: { route: 'GET /api/v1/runs/threads/{thread_id}', example: 'support-42 --session-id support-agent' },
    share: { route: 'PUT /api/v1/runs/{run_id}/share', example: '0198c1f0-0000-7000-8000-000000000001' },
    shared: { route: 'GET /api/v1/runs/{run_id}/share', example: '0198c1f0-0000-7000-8000-000000000001' },
    unshare: { route: 'DELETE /api/v1/runs/{run_id}/share', example: '0198c1f0-0000-7000-8000-000000000001' },
    url: {
      route: 'GET /v2/runs/{run_id}/url',
      example:
        '0198c1f0-0000-7000-8000-000000000001 --project-id 0198c1f0-0000-7000-8000-000000000002 --trace-id 0198c1f0-0000-7000-8000-000000000001',
    },
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
    create: {
      route: 'POST /v1/shares',
      example: '--kind run --run-id 0198c1f0-0000-7000-8000-000000000001 --hide inputs',
    },
    delete: { route: 'DELETE /v1/shares/{share_id}', example: '0198c1f0-0000-7000-8000-000000000001' },
  },
};

const LINK = '/api/v1/public/{link_token}/link';

export const shared: Group = {
  name: 'shared',
  about: 'what somebody shared, by its token',
  lines: {
    dataset: { route: `GET ${DATASET}/datasets`, example: '"$TOKEN"' },
    examples: {
      route: `GET ${DATASET}/examples`,
      example: '"$TOKEN"',
      columns: ['id', 'inputs', 'outputs', 'modified_at'],
    },
    experiments: {
      route: `GET ${DATASET}/datasets/sessions`,
      example: '"$TOKEN"',
      columns: ['name', 'start_time', 'run_count', 'id'],
    },
    comparison: {
      route: `GET ${DATASET}/datasets/compare`,
      example: '"$TOKEN" --experiments 0198c1f0-0000-7000-8000-000000000001',
    },
    run: { route: `GET ${RUN}/run`, example: '"$TOKEN"' },
    child: {
      route: `GET ${RUN}/run/{run_id}`,
      example: '"$TOKEN" 0198c1f0-0000-7000-8000-000000000001',
      about: 'get a run below a shared run',
    },
    runs: {
      route: `POST ${RUN}/runs/query`,
      example: '"$TOKEN"',
      columns: ['id', 'name', 'run_type', 'status', 'start_time', 'error'],
    },
    link: { route: `GET ${LINK}`, example: '"$TOKEN"', about: 'get what a share link shows' },
    compared: { route: `GET ${LINK}/comparison`, example: '"$TOKEN"' },
    'compared-row': {
      route: `GET ${LINK}/comparison/rows/{example_id}`,
      example: '"$TOKEN" 0198c1f0-0000-7000-8000-000000000002',
    },
    'linked-run': { route: `GET ${LINK}/runs/{run_id}`, example: '"$TOKEN" 0198c1f0-0000-7000-8000-000000000001' },
  },
};
