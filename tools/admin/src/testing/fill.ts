import { randomUUID } from 'node:crypto';

/** Sends a request and answers the JSON of its success. */
export type Send = (method: string, path: string, body?: object) => Promise<{ id: string } & Record<string, unknown>>;

const times = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-01-01T00:00:02Z' };

/** Ids of what was made, by the tables that show it. */
export type Filled = Readonly<Record<string, string>>;

/** Makes something of everything that is recorded. Nothing may be called alike in one workspace. */
export async function fill(send: Send, called = ''): Promise<Filled> {
  const deployment = await send('POST', '/v2/deployments', {
    name: `agent-${randomUUID()}`,
    source: 'external_container',
    source_config: {},
    source_revision_config: { image_uri: 'registry.example.com/agent:1' },
    secrets: [{ name: 'TOKEN', value: 'sealed' }],
  });
  await send('PATCH', `/v2/deployments/${deployment.id}`, {
    source_revision_config: { image_uri: 'registry.example.com/agent:2' },
  });
  const hook = { url: 'https://hooks.example/in', event_types: ['*'], enabled: false };
  const webhook = await send('POST', '/v1/webhooks', hook);
  await send('PATCH', `/v1/webhooks/${webhook.id}`, { enabled: true });
  const listener = await send('POST', '/v2/listeners', {
    compute_type: 'k8s',
    compute_id: `c${called}`,
    compute_config: { k8s_namespaces: ['a'] },
  });
  const { experiment, dataset } = await send('POST', '/api/v1/datasets/upload-experiment', {
    experiment_name: `uploaded${called}`,
    dataset_name: `uploaded${called}`,
    experiment_start_time: times.start_time,
    experiment_end_time: times.end_time,
    experiment_metadata: { of: 'the upload' },
    results: [{ row_id: randomUUID(), inputs: {}, ...times, evaluation_scores: [{ key: 'correct', score: 1 }] }],
  });
  const { id: uploaded } = experiment as { id: string };
  const comparison = await send('POST', '/api/v1/datasets/comparative', {
    name: `both${called}`,
    experiment_ids: [uploaded],
  });
  const provider = await send('POST', '/v2/auth/providers', {
    provider_id: `login${called}`,
    name: 'Login',
    client_id: 'fairlead',
    client_secret: 'sealed',
    auth_url: 'https://login.example/authorize',
    token_url: 'https://login.example/token',
  });
  await send('PATCH', `/v2/auth/providers/${provider.id}`, { name: 'Sign in' });
  const integration = await send('POST', '/v1/integrations', {
    name: `code${called}`,
    provider: 'gitlab',
    base_url: 'https://code.example',
    credentials: { token: 'sealed' },
  });
  await send('PATCH', `/v1/integrations/${integration.id}`, { name: `more code${called}` });
  while ((await send('GET', `/api/v1/sessions/${uploaded}?include_stats=true`)).run_count !== 1);
  const feedback = await send('POST', '/api/v1/feedback', { session_id: uploaded, key: 'overall', score: 1 });
  const name = `live${called}`;
  const session = await send('POST', '/api/v1/sessions', { name, extra: { metadata: { of: 'it' } } });
  await send('PATCH', `/api/v1/sessions/${session.id}`, { description: 'changed', extra: { metadata: { of: 'me' } } });
  const run = randomUUID();
  await send('POST', '/api/v1/runs', { id: run, name: 'r', run_type: 'chain', inputs: {}, session_name: name });
  return {
    deployments: deployment.id,
    deployment_documents: deployment.id,
    webhooks: webhook.id,
    listeners: listener.id,
    datasets: (dataset as { id: string }).id,
    sessions: session.id,
    comparative_experiments: comparison.id,
    oauth_providers: provider.id,
    integrations: integration.id,
    feedback: feedback.id,
    runs: run,
  };
}
