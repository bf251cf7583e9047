import { newId } from '@fairlead/eventing';
import { askUntil, type RouteService } from './route-service';

const MISSING = '019a0000-0000-7000-8000-000000000000';

/** The service that answers the requests, and the servers outside that it calls. */
type Asked = Pick<RouteService, 'ask' | 'outside'>;

/** Ids of a tenant's things by the path parameter that takes them. */
export type Ids = Readonly<Record<string, string>>;

/** One of everything that a tenant can have. */
export interface Things {
  readonly ids: Ids;
  /** The state of a sign-in that is still to be finished. */
  readonly pendingState: string;
  /** The cookie of the browser in which that sign-in was opened. */
  readonly pendingCookie: string;
}

/** Query and body that a request needs beside its path. */
export interface Detail {
  readonly search?: string;
  readonly body?: object;
}

export const newDeployment = (name: string) => ({
  name,
  source: 'external_container',
  source_config: { resource_spec: { cpu: 1 } },
  source_revision_config: { image_uri: `registry.example/${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}:1` },
  secrets: [{ name: 'TOKEN', value: `${name}-secret` }],
});

// The id is no text of the workspace, because answers that find no such thread repeat it.
const threadOf = (upload: string) => Buffer.from(upload).toString('hex');

export const upload = (name: string) => ({
  experiment_name: name,
  dataset_name: name,
  experiment_start_time: '2026-01-01T00:00:00Z',
  experiment_end_time: '2026-01-01T00:01:00Z',
  summary_experiment_scores: [{ key: 'overall', score: 1, comment: name }],
  results: [
    {
      // In the order in which they are made, as rows are listed.
      row_id: newId(),
      inputs: { question: name },
      expected_outputs: { answer: name },
      actual_outputs: { answer: name },
      // Each upload is a thread of its own: runs of one thread that start at the same time have no order of their own.
      run_metadata: { thread_id: threadOf(name) },
      start_time: '2026-01-01T00:00:01Z',
      end_time: '2026-01-01T00:00:02Z',
      run_name: name,
      evaluation_scores: [{ key: 'correct', score: 1, comment: name }],
    },
  ],
});

/** Header that a browser adds to a request of a page of the console. */
export const CONSOLE_PAGE = { 'sec-fetch-site': 'same-origin' };

/** Signs the deliveries of the integrations here. */
export const WEBHOOK_SECRET = 'a-secret-for-webhooks';

const newIntegration = (name: string, outside: string) => ({
  name,
  provider: 'gitlab',
  base_url: outside,
  credentials: { token: 'a-token' },
  webhook_secret: WEBHOOK_SECRET,
});
const newView = (name: string) => ({ page: 'traces', name, parameters: { q: name } });
const newMonitor = (name: string, project_id: string) => ({
  ...{ name, project_id, measure: 'error_rate', alerts_when: 'above', threshold: 0.5, enabled: false },
});
const newWebhook = (description: string, outside: string) => ({
  url: `${outside}/hook`,
  event_types: ['dataset.deleted'],
  description,
});
const newListener = (compute_id: string) => ({ compute_type: 'k8s', compute_id, compute_config: {} });

export const newGate = (name: string, dataset_id: string, baseline: unknown = 'active') => ({
  ...{ name, dataset_id, baseline, keys: { correct: { max_drop: 0.05 } } },
});

const linkTo = (dataset_id: string, experiment: string) => ({
  kind: 'comparison',
  dataset_id,
  experiments: [experiment],
});

export const newProvider = (provider_id: string, outside: string) => ({
  provider_id,
  name: provider_id,
  client_id: provider_id,
  client_secret: `${provider_id}-secret`,
  auth_url: 'https://login.example/authorize',
  token_url: `${outside}/token`,
});

/** Makes one of everything; `mark` stands in every text of it. */
export async function fillTenant(service: Asked, key: string, mark: string): Promise<Things> {
  type Uploaded = { dataset: { id: string }; experiment: { id: string } };
  const ask = <T>(method: string, path: string, body?: object) => service.ask<T>(method, path, key, body);
  const deployment = await ask<{ id: string; latest_revision_id: string }>(
    'POST',
    '/v2/deployments',
    newDeployment(mark),
  );
  const { dataset, experiment } = await ask<Uploaded>(
    'POST',
    '/api/v1/datasets/upload-experiment',
    upload(`${mark} upload`),
  );
  const query = { session: [experiment.id], select: ['id', 'reference_example_id'] };
  const run = await askUntil(async () => {
    type Runs = { runs: { id: string }[] };
    return (await ask<Runs>('POST', '/api/v1/runs/query', query)).runs[0];
  });
  const [example] = await ask<{ id: string }[]>('GET', `/api/v1/examples?dataset=${dataset.id}`);
  const own = await ask<{ id: string }>('POST', '/api/v1/datasets', { name: `${mark} own`, description: mark });
  const ownExample = { dataset_id: own.id, inputs: { mark }, metadata: { mark } };
  const { id: ownExampleId } = await ask<{ id: string }>('POST', '/api/v1/examples', ownExample);
  const [feedback] = await ask<{ id: string }[]>('GET', `/api/v1/feedback?run=${run.id}`);
  const comparative = await ask<{ id: string }>('POST', '/api/v1/datasets/comparative', {
    name: mark,
    experiment_ids: [experiment.id],
  });
  type Token = { share_token: string };
  const sharedRun = await ask<Token>('PUT', `/api/v1/runs/${run.id}/share`, {});
  const sharedDataset = await ask<Token>('PUT', `/api/v1/datasets/${dataset.id}/share`, {});
  const link = await ask<{ id: string; token: string }>('POST', '/v1/shares', linkTo(dataset.id, experiment.id));
  const [apiKey] = await ask<{ id: string }[]>('GET', '/api/v1/api-key');
  const { tenant_id } = await ask<{ tenant_id: string }>('GET', '/api/v1/api-key/current');
  const { id: console_session_id } = await service.ask<{ id: string }>(
    'POST',
    '/v1/console/session',
    'nobody',
    { api_key: key },
    CONSOLE_PAGE,
  );
  const { pendingState, pendingCookie, ids } = await fillAuthProviders(service, key, mark);
  return {
    pendingState,
    pendingCookie,
    ids: {
      workspace_id: tenant_id,
      console_session_id,
      deployment_id: deployment.id,
      revision_id: deployment.latest_revision_id,
      other_id: deployment.latest_revision_id,
      secret_name: 'TOKEN',
      dataset_id: dataset.id,
      session_id: experiment.id,
      experiment_id: experiment.id,
      run_id: run.id,
      ...{ project_id: experiment.id, trace_id: run.id },
      thread_id: threadOf(`${mark} upload`),
      example_id: example!.id,
      ...{ own_dataset_id: own.id, own_example_id: ownExampleId },
      feedback_id: feedback!.id,
      ...{ run_token: sharedRun.share_token, dataset_token: sharedDataset.share_token },
      ...{ share_id: link.id, link_token: link.token },
      view_id: (await ask<{ id: string }>('POST', '/v1/views', newView(mark))).id,
      monitor_id: (await ask<{ id: string }>('POST', '/v1/monitors', newMonitor(mark, experiment.id))).id,
      comparative_experiment_id: comparative.id,
      id: apiKey!.id,
      ...ids,
      integration_id: (await ask<{ id: string }>('POST', '/v1/integrations', newIntegration(mark, service.outside.url)))
        .id,
      listener_id: (await ask<{ id: string }>('POST', '/v2/listeners', newListener(mark))).id,
      ...(await fillWebhooks(service, key, mark)),
    },
  };
}

/** A webhook, and a delivery that has arrived. */
async function fillWebhooks(service: Asked, key: string, mark: string): Promise<Ids> {
  type Delivery = { id: string; status: string };
  const body = newWebhook(mark, service.outside.url);
  const { id } = await service.ask<{ id: string }>('POST', '/v1/webhooks', key, body);
  const sent = await service.ask<Delivery>('POST', `/v1/webhooks/${id}/test`, key);
  await askUntil(async () => {
    const { status } = await service.ask<Delivery>('GET', `/v1/webhooks/${id}/deliveries/${sent.id}`, key);
    return status === 'delivered' ? status : undefined;
  });
  return { webhook_id: id, delivery_id: sent.id };
}

/** A provider with a token that an agent uses, and a sign-in that nobody has finished. */
async function fillAuthProviders(service: Asked, key: string, mark: string): Promise<Things> {
  type Begun = { url: string; auth_id: string };
  const { id } = await service.ask<{ id: string }>(
    'POST',
    '/v2/auth/providers',
    key,
    newProvider(mark, service.outside.url),
  );
  const begin = (user_id: string) =>
    service.ask<Begun>('POST', '/v2/auth/authenticate', key, { provider: id, scopes: [], user_id, agent_id: mark });
  const stateOf = ({ url }: Begun) => new URL(url).searchParams.get('state')!;
  const first = await begin(mark);
  const cookieOf = async ({ url }: Begun) =>
    (await fetch(url, { redirect: 'manual' })).headers.get('set-cookie')!.split(';')[0]!;
  const callback = `/v2/auth/callback/${id}?code=code&state=${stateOf(first)}`;
  await service.ask('GET', callback, 'nobody', undefined, { cookie: await cookieOf(first) });
  const pending = await begin(`${mark} later`);
  type Connections = { data: { id: string; oauth_token_id: string }[] };
  const { data } = await service.ask<Connections>('GET', `/v2/auth/agents/${mark}/connections`, key);
  const [connection] = data;
  return {
    pendingState: stateOf(pending),
    pendingCookie: await cookieOf(pending),
    ids: {
      ...{ provider_id: id, auth_id: pending.auth_id, agent_id: mark },
      ...{ token_id: connection!.oauth_token_id, connection_id: connection!.id },
    },
  };
}

/**
 * Query strings and bodies that point at things, by `METHOD path` of the routes that need more than their path; `name`
 * stands in what they make.
 */
export function details(
  { ids, pendingState }: Things,
  name: string,
  { outside }: Pick<Asked, 'outside'>,
): Record<string, Detail> {
  const { deployment_id, dataset_id, session_id, run_id, provider_id, token_id } = ids;
  const { own_dataset_id, own_example_id } = ids;
  const list = { key: 'list', operation: 'array_add', values: ['taken over'] };
  return {
    'POST /api/v1/datasets': { body: { name: `${name} dataset` } },
    'PATCH /api/v1/datasets/:dataset_id': { body: { description: 'taken over' } },
    'POST /api/v1/datasets/:dataset_id/copy': { body: { name: `${name} copy` } },
    'PUT /api/v1/datasets/:dataset_id/baseline': { body: { experiment_id: session_id } },
    'PUT /api/v1/datasets/:dataset_id/tags': { body: { tag: 'taken-over', as_of: 'latest' } },
    'PUT /api/v1/datasets/:dataset_id/splits': { body: { split_name: 'taken over', examples: [own_example_id] } },
    'GET /api/v1/datasets/:dataset_id/versions/diff': { search: '?from_version=latest&to_version=latest' },
    'PATCH /api/v1/platform/datasets/:dataset_id/examples/metadata': {
      body: { example_ids: [own_example_id], operations: [list] },
    },
    'POST /api/v1/examples': { body: { dataset_id: own_dataset_id, inputs: { made: name } } },
    'POST /api/v1/examples/bulk': { body: [{ dataset_id: own_dataset_id, inputs: { made: name } }] },
    'PATCH /api/v1/examples/:example_id': { body: { inputs: { taken: 'over' } } },
    'PATCH /api/v1/examples/bulk': { body: [{ id: own_example_id, inputs: { taken: 'over all' } }] },
    'POST /api/v1/platform/datasets/examples/delete': { body: { example_ids: [own_example_id] } },
    'DELETE /api/v1/examples': { search: `?example_ids=${own_example_id}` },
    'DELETE /v2/deployments': { search: `?deployment_ids=${deployment_id}` },
    'GET /v2/deployments': { search: `?deployment_ids=${deployment_id}` },
    'PATCH /v2/deployments/:deployment_id': { body: { source_revision_config: { image_uri: 'registry.example/b:1' } } },
    'GET /v2/deployments/:deployment_id/revisions/:revision_id/diff/:other_id/files/content': {
      search: '?path=agent.py',
    },
    'PUT /v2/deployments/:deployment_id/gates': { body: { gates: [newGate(name, dataset_id!)] } },
    'PUT /v2/deployments/:deployment_id/tags': { body: { tag_value_ids: [MISSING] } },
    'POST /v2/deployments': { body: newDeployment(name) },
    'POST /v2/deployments/:deployment_id/commands': { body: { command: ['true'] } },
    'POST /v2/deployments/:deployment_id/secrets/:secret_name/reveal': { body: { reason: `${name} asks` } },
    'GET /api/v1/examples': { search: `?dataset=${dataset_id}` },
    'GET /api/v1/examples/count': { search: `?dataset=${dataset_id}` },
    'GET /api/v1/feedback': { search: `?run=${run_id}&session=${session_id}` },
    'POST /api/v1/feedback': { body: { run_id, key: 'correct', score: 0 } },
    'PATCH /api/v1/feedback/:feedback_id': { body: { comment: 'taken over' } },
    'POST /api/v1/feedback-configs': { body: { feedback_key: 'configured', feedback_config: { type: 'continuous' } } },
    'PATCH /api/v1/feedback-configs': { body: { feedback_key: 'configured', is_lower_score_better: true } },
    'DELETE /api/v1/feedback-configs': { search: '?feedback_key=configured' },
    'POST /v1/shares': { body: linkTo(dataset_id!, session_id!) },
    'POST /v2/runs/:run_id/share': { body: { session_id, trace_id: run_id } },
    'DELETE /v2/runs/:run_id/share': { body: { session_id } },
    'GET /v2/runs/:run_id/url': { search: `?project_id=${session_id}&trace_id=${run_id}` },
    'GET /api/v1/sessions': { search: `?reference_dataset=${dataset_id}` },
    'POST /api/v1/sessions': { body: { name } },
    'PATCH /api/v1/sessions/:session_id': { body: { name: 'taken over' } },
    'GET /api/v1/datasets': { search: `?id=${dataset_id}` },
    'GET /v1/search': { search: '?q=belongs-to-tenant-a' },
    'GET /api/v1/datasets/:dataset_id/version': { search: '?tag=latest' },
    'POST /api/v1/datasets/upload-experiment': { body: upload(name) },
    'POST /api/v1/runs/query': { body: { session: [session_id] } },
    'POST /api/v1/runs/stats': { body: { session: [session_id] } },
    'PATCH /api/v1/runs/:run_id': { body: { error: 'taken over' } },
    'POST /api/v1/runs': { body: { id: MISSING, name } },
    'GET /api/v1/datasets/:dataset_id/compare': { search: `?experiments=${session_id},${MISSING}` },
    'GET /api/v1/public/:dataset_token/datasets/compare': { search: `?experiments=${session_id}` },
    'GET /api/v1/datasets/:dataset_id/compare/distributions': {
      search: `?experiments=${session_id},${MISSING}&key=correct`,
    },
    'GET /api/v1/datasets/:dataset_id/compare/rows/:example_id': { search: `?experiments=${session_id},${MISSING}` },
    'GET /api/v1/datasets/:dataset_id/compare/report': { search: `?experiments=${session_id},${MISSING}` },
    'GET /api/v1/datasets/:dataset_id/compare/slices': { search: `?experiments=${session_id},${MISSING}` },
    'GET /api/v1/datasets/:dataset_id/trend': { search: '?key=correct' },
    'GET /api/v1/revisions/scores': { search: `?revision_ids=${MISSING}` },
    'GET /api/v1/revisions/trend': { search: `?revision_ids=${MISSING}&dataset_id=${dataset_id}&key=correct` },
    'GET /api/v1/datasets/:dataset_id/compare/export': { search: `?experiments=${session_id},${MISSING}` },
    'POST /api/v1/datasets/:dataset_id/compare/gate': { body: { baseline: session_id, experiments: [MISSING] } },
    'POST /api/v1/datasets/:dataset_id/runs': { body: { session_ids: [session_id] } },
    'POST /api/v1/datasets/:dataset_id/runs/delta': {
      body: { baseline_session_id: session_id, comparison_session_ids: [MISSING], feedback_key: 'correct' },
    },
    'POST /api/v1/datasets/comparative': { body: { experiment_ids: [session_id] } },
    'POST /v2/runs/query': { body: { project_ids: [session_id] } },
    'GET /v2/runs/:run_id': { search: `?project_id=${session_id}` },
    'POST /v2/datasets/:dataset_id/experiment-runs': { body: { experiment_ids: [session_id] } },
    'POST /api/v1/workspaces': { body: { display_name: name } },
    'POST /v1/integrations': { body: newIntegration(name, outside.url) },
    'PATCH /v1/integrations/:integration_id': { body: { name: 'taken over' } },
    'GET /v1/monitors': { search: `?project_id=${session_id}` },
    'POST /v1/monitors': { body: newMonitor(name, session_id!) },
    'PATCH /v1/monitors/:monitor_id': { body: { name: 'taken over' } },
    'POST /v1/views': { body: newView(name) },
    'PATCH /v1/views/:view_id': { body: { name: 'taken over' } },
    'POST /v1/webhooks': { body: newWebhook(name, outside.url) },
    'PATCH /v1/webhooks/:webhook_id': { body: { description: 'taken over' } },
    'POST /v2/listeners': { body: newListener(name) },
    'PATCH /v2/listeners/:listener_id': { body: { version: 'taken over' } },
    'POST /v2/auth/providers': { body: newProvider(name, outside.url) },
    'PATCH /v2/auth/providers/:provider_id': { body: { name: 'taken over' } },
    'POST /v2/auth/authenticate': { body: { provider: provider_id, scopes: [], token_id } },
    'POST /v2/auth/callback/:provider_id': { body: { code: 'code', state: pendingState } },
    'GET /v2/deployments/:deployment_id/revisions/:revision_id/wait': { search: '?timeout=0' },
    'GET /v2/auth/wait/:auth_id': { search: '?timeout=0' },
    'GET /v2/auth/tokens/exists': { search: `?provider_id=${provider_id}` },
    'DELETE /v2/auth/tokens': { search: `?provider_id=${provider_id}` },
    'PATCH /v2/auth/tokens/:token_id/metadata': { body: { provider_account_label: 'taken over' } },
    'POST /v2/auth/agents/:agent_id/connections': { body: { oauth_token_id: token_id } },
  };
}
