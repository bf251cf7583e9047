import fc from 'fast-check';
import { hostileJson } from './hostile';

type Ids = Readonly<Record<string, string>>;
type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export const newDeployment = (name: string) => ({
  name,
  source: 'external_container',
  source_config: { resource_spec: { cpu: 1 } },
  source_revision_config: { image_uri: 'registry.example/a:1' },
  secrets: [{ name: 'TOKEN', value: 'secret' }],
});

export const newUpload = (name: string) => ({
  experiment_name: name,
  dataset_name: name,
  experiment_start_time: '2026-01-01T00:00:00Z',
  experiment_end_time: '2026-01-01T00:01:00Z',
  experiment_metadata: { model: 'm' },
  summary_experiment_scores: [{ key: 'overall', score: 0.5, comment: 'fair', extra: { a: 1 } }],
  results: [
    {
      row_id: crypto.randomUUID(),
      inputs: { question: name },
      expected_outputs: { answer: name },
      actual_outputs: { answer: name },
      run_metadata: { model: 'm', thread_id: 'a-thread' },
      run_name: name,
      error: 'broken',
      start_time: '2026-01-01T00:00:01Z',
      end_time: '2026-01-01T00:00:02Z',
      evaluation_scores: [
        { key: 'correct', score: 1, value: { a: 1 }, comment: 'good', correction: { b: 2 }, created_at: '2026-01-01' },
      ],
    },
  ],
});

export const newWebhook = { url: 'https://hooks.example/in', event_types: ['deployment.deleted', 'dataset.*'] };

const container = {
  name: 'sidecar',
  image: 'registry.example/b:2',
  command: ['run'],
  env: [{ name: 'C', valueFrom: { secretKeyRef: { name: 'd' } } }],
  envFrom: [{ configMapRef: { name: 'e' } }],
  resources: { limits: { cpu: '1' }, requests: { memory: '1Gi' } },
  volumeMounts: [{ name: 'v', mountPath: '/v', readOnly: true }],
  securityContext: { runAsUser: 1 },
};
const spec = {
  cpu: 1.25,
  memory_mb: 512,
  labels: { a: 'b' },
  annotations: { c: 'd' },
  volumes: [{ name: 'v', emptyDir: {}, csi: { driver: 'x' } }],
  init_containers: [container],
  image_pull_secrets: [{ name: 'p' }],
  db_storage_gi: 10,
};

/** Bodies that a route takes, a new one each time; where names must not be taken, `name` is one that is not. */
const GOOD: Readonly<Record<string, (name: string, ids: Ids) => Json>> = {
  'POST /v2/deployments': (name) => ({
    ...newDeployment(name),
    source_config: { resource_spec: spec, deployment_type: 'dev', custom_url: 'https://a.example' },
    secret_references: [{ name: 'R', secret_name: 's', secret_key: 'k' }],
  }),
  'PATCH /v2/deployments/:deployment_id': (name) => ({
    source_config: { resource_spec: spec },
    source_revision_config: { image_uri: `registry.example/${name}:1` },
    secrets: [{ name: 'TOKEN', value: name }],
    secret_references: [{ name: 'R', secret_name: 's', secret_key: 'k' }],
  }),
  'PUT /v2/deployments/:deployment_id/tags': () => ({ tag_value_ids: [crypto.randomUUID(), crypto.randomUUID()] }),
  'POST /v1/webhooks': (description) => ({ ...newWebhook, description, enabled: false }),
  'PATCH /v1/webhooks/:webhook_id': (description) => ({ ...newWebhook, description, enabled: false }),
  'POST /api/v1/datasets/upload-experiment': (name) => newUpload(name),
  'POST /api/v1/feedback': (name, { run_id = name }) => ({
    run_id,
    key: 'k',
    score: 0.5,
    value: { a: 1 },
    comment: name,
    correction: { b: 2 },
    extra: { c: 3 },
    created_at: '2026-01-01T00:00:00Z',
    feedback_source: { type: 'api', metadata: { d: 4 } },
    feedback_config: { type: 'categorical', min: 0, categories: [{ value: 1, label: 'good' }] },
  }),
  'POST /api/v1/sessions': (name, { dataset_id = name }) => ({
    id: crypto.randomUUID(),
    name,
    description: name,
    extra: { metadata: { a: 1 } },
    start_time: '2026-01-01T00:00:00Z',
    end_time: '2026-01-01T00:00:00Z',
    reference_dataset_id: dataset_id,
  }),
  'PATCH /api/v1/sessions/:session_id': (name) => ({
    name,
    description: name,
    extra: { metadata: { a: 1 } },
    end_time: '2026-01-01T00:00:00Z',
    trace_tier: 'longlived',
  }),
  'POST /api/v1/runs/query': (_, { session_id = '' }) => ({
    session: [session_id],
    filter: 'and(eq(name,"a"),has(metadata,"{\\"a\\":1}"),gt(latency,"1s"),eq(feedback_key,"k"))',
    trace_filter: 'search("a")',
    start_time: '2026-01-01T00:00:00Z',
    cursor: Buffer.from('n2026-01-01T00:00:00.000000+00:00 019a0000-0000-7000-8000-000000000000').toString('base64url'),
    select: ['inputs', 'feedback_stats'],
    limit: 10,
  }),
  'POST /api/v1/api-key': (name) => ({ description: name, scopes: ['read'], expires_at: '2030-01-01T00:00:00Z' }),
  'POST /api/v1/workspaces': (name) => ({ display_name: name, tenant_handle: name, id: crypto.randomUUID() }),
};

/** Bodies of a route that are good but for one or two values in them; undefined when no good one is known. */
export function nearlyGood(route: string, ids: Ids, hostile: boolean): fc.Arbitrary<string> | undefined {
  const make = GOOD[route];
  if (!make) return undefined;
  const count = placesIn(make('', ids)).length;
  const swaps = fc.array(fc.tuple(fc.nat(count - 1), hostileJson), { minLength: 1, maxLength: 2 });
  return fc.tuple(fc.uuid(), hostile ? swaps : fc.constant([])).map(([id, chosen]) => {
    const body = make(`fuzz-${id}`, ids);
    const places = placesIn(body);
    const texts = new Map(chosen.map(([place, text]) => [places[place]?.join('/') ?? '', text]));
    return write(body, '', texts);
  });
}

type Place = readonly (string | number)[];

function placesIn(value: Json, at: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([name, inner]) => placesIn(inner, [...at, name]))];
}

function write(value: Json, at: string, texts: ReadonlyMap<string, string>): string {
  const swapped = at === '' ? undefined : texts.get(at);
  if (swapped !== undefined) return swapped;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const under = (name: string) => (at === '' ? name : `${at}/${name}`);
  const parts = Object.entries(value).map(([name, inner]) => [name, write(inner, under(name), texts)] as const);
  if (Array.isArray(value)) return `[${parts.map(([, text]) => text).join(',')}]`;
  return `{${parts.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}
