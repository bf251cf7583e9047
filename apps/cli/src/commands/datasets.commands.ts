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
      example: '--name questions',
      columns: ['name', 'example_count', 'session_count', 'last_session_start_time', 'id'],
    },
    get: { route: `GET ${ONE}`, example: 'questions' },
    create: { route: 'POST /api/v1/datasets', example: '--name questions --data-type kv' },
    patch: { route: `PATCH ${ONE}`, example: "questions --description 'questions of our customers'" },
    delete: { route: `DELETE ${ONE}`, example: 'questions' },
    copy: { route: `POST ${ONE}/copy`, example: "questions --name 'questions of ours'" },
    versions: { route: `GET ${ONE}/versions`, example: 'questions', columns: ['as_of', 'tags'] },
    version: { route: `GET ${ONE}/version`, example: 'questions --tag release' },
    tag: { route: `PUT ${ONE}/tags`, example: 'questions --tag release --as-of 2026-01-31T12:00:00Z' },
    diff: {
      route: `GET ${ONE}/versions/diff`,
      example: 'questions release latest',
      args: ['from_version', 'to_version'],
    },
    splits: { route: `GET ${ONE}/splits`, example: 'questions' },
    split: {
      route: `PUT ${ONE}/splits`,
      example: 'questions --split-name hard --examples 0198c1f0-0000-7000-8000-000000000001',
    },
    share: { route: `PUT ${ONE}/share`, example: 'questions' },
    shared: { route: `GET ${ONE}/share`, example: 'questions' },
    unshare: { route: `DELETE ${ONE}/share`, example: 'questions' },
    'score-directions': { route: `GET ${ONE}/score-directions`, example: 'questions' },
    'set-score-directions': { route: `PUT ${ONE}/score-directions`, example: 'questions --lower-is-better cost' },
    'set-baseline': { route: `PUT ${ONE}/baseline`, example: 'questions --experiment-id model-a' },
    csv: { route: `GET ${ONE}/csv`, example: 'questions -o questions.csv', saves: true },
    jsonl: { route: `GET ${ONE}/jsonl`, example: 'questions -o questions.jsonl', saves: true },
    openai: { route: `GET ${ONE}/openai`, example: 'questions -o questions.jsonl', saves: true },
    'openai-ft': { route: `GET ${ONE}/openai_ft`, example: 'questions -o questions.jsonl', saves: true },
    comparisons: { route: `GET ${ONE}/comparative`, example: 'questions', columns: ['id', 'name', 'created_at'] },
    'create-comparison': {
      route: 'POST /api/v1/datasets/comparative',
      example: "--name 'a or b' --experiment-ids model-a --experiment-ids model-b",
    },
    'delete-comparison': {
      route: 'DELETE /api/v1/datasets/comparative/{comparative_experiment_id}',
      example: '0198c1f0-0000-7000-8000-000000000001',
    },
  },
};

export const examples: Group = {
  name: 'examples',
  alias: 'example',
  about: 'the rows of datasets',
  lines: {
    list: {
      route: 'GET /api/v1/examples',
      example: '--dataset questions --splits hard',
      columns: ['id', 'inputs', 'outputs', 'dataset_id', 'modified_at'],
    },
    count: { route: 'GET /api/v1/examples/count', example: '--dataset questions' },
    get: { route: `GET ${EXAMPLE}`, example: '0198c1f0-0000-7000-8000-000000000001' },
    create: {
      route: 'POST /api/v1/examples',
      example: '--dataset-id questions --inputs \'{"question": "2 + 2?"}\' --outputs \'{"answer": "4"}\'',
    },
    patch: { route: `PATCH ${EXAMPLE}`, example: '0198c1f0-0000-7000-8000-000000000001 --outputs \'{"answer": "5"}\'' },
    delete: { route: `DELETE ${EXAMPLE}`, example: '0198c1f0-0000-7000-8000-000000000001' },
    'create-many': { route: 'POST /api/v1/examples/bulk', example: '--file examples.json' },
    'patch-many': { route: 'PATCH /api/v1/examples/bulk', example: '--file changes.json' },
    'patch-metadata': {
      route: 'PATCH /api/v1/platform/datasets/{dataset_id}/examples/metadata',
      example: 'questions --file operations.json',
    },
    'delete-many': {
      route: 'POST /api/v1/platform/datasets/examples/delete',
      example: '--example-ids 0198c1f0-0000-7000-8000-000000000001',
    },
    attachment: {
      route: `GET ${EXAMPLE}/attachment`,
      example:
        '0198c1f0-0000-7000-8000-000000000001 --name image.png --dataset questions --sha256 "$SHA256" --tenant research --expires 1767268800 --signature "$SIGNATURE" -o image.png',
      saves: true,
    },
  },
};
