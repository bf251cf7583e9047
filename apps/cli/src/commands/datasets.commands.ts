import type { Group } from '../table/group';

const ONE = '/api/v1/datasets/{dataset_id}';
const EXAMPLE = '/api/v1/examples/{example_id}';

export const datasets: Group = {
  name: 'datasets',
  alias: 'dataset',
  about: 'what experiments are run on: versions, tags, splits',
  lines: {
    list: {
      route: 'GET /api/v1/datasets',
      columns: ['name', 'example_count', 'session_count', 'last_session_start_time', 'id'],
    },
    get: { route: `GET ${ONE}` },
    create: { route: 'POST /api/v1/datasets' },
    patch: { route: `PATCH ${ONE}` },
    delete: { route: `DELETE ${ONE}` },
    versions: { route: `GET ${ONE}/versions`, columns: ['as_of', 'tags'] },
    version: { route: `GET ${ONE}/version` },
    tag: { route: `PUT ${ONE}/tags` },
    diff: { route: `GET ${ONE}/versions/diff`, args: ['from_version', 'to_version'] },
    splits: { route: `GET ${ONE}/splits` },
    split: { route: `PUT ${ONE}/splits` },
    share: { route: `PUT ${ONE}/share` },
    shared: { route: `GET ${ONE}/share` },
    unshare: { route: `DELETE ${ONE}/share` },
    'score-directions': { route: `GET ${ONE}/score-directions` },
    'set-score-directions': { route: `PUT ${ONE}/score-directions` },
    'set-baseline': { route: `PUT ${ONE}/baseline` },
    comparisons: { route: `GET ${ONE}/comparative`, columns: ['id', 'name', 'created_at'] },
    'create-comparison': { route: 'POST /api/v1/datasets/comparative' },
    'delete-comparison': { route: 'DELETE /api/v1/datasets/comparative/{comparative_experiment_id}' },
  },
};

export const examples: Group = {
  name: 'examples',
  alias: 'example',
  about: 'the rows of datasets',
  lines: {
    list: { route: 'GET /api/v1/examples', columns: ['id', 'inputs', 'outputs', 'dataset_id', 'modified_at'] },
    count: { route: 'GET /api/v1/examples/count' },
    get: { route: `GET ${EXAMPLE}` },
    create: { route: 'POST /api/v1/examples' },
    patch: { route: `PATCH ${EXAMPLE}` },
    delete: { route: `DELETE ${EXAMPLE}` },
    'create-many': { route: 'POST /api/v1/examples/bulk' },
    'patch-many': { route: 'PATCH /api/v1/examples/bulk' },
    'patch-metadata': { route: 'PATCH /api/v1/platform/datasets/{dataset_id}/examples/metadata' },
    'delete-many': { route: 'POST /api/v1/platform/datasets/examples/delete' },
    attachment: { route: `GET ${EXAMPLE}/attachment`, saves: true },
  },
};
