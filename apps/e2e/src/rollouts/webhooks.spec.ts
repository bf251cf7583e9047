import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual as same } from 'node:util';
import { until } from '@fairlead/postgres/testing';
import { Installation, OPERATOR } from '@fairlead/service/testing';
import { Webhook } from 'standardwebhooks';
import { newDeployment, newUpload } from '../testing/fuzz/good-bodies';

let installation: Installation;
let receiver: Server;
let messages: { headers: IncomingHttpHeaders; text: string }[];

beforeAll(async () => {
  installation = await Installation.start({ OUTBOUND_ALLOW: '127.0.0.1' });
  messages = [];
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      messages.push({ headers: request.headers, text: Buffer.concat(chunks).toString() });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  await installation?.stop();
  receiver?.closeAllConnections();
  receiver?.close();
});

const ask = (...request: Parameters<Installation['ask']>) => installation.ask(...request);

it('tells what happens to deployments, experiments, integrations and providers, and none of their secrets', async () => {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const { secret } = await ask('POST', '/v1/webhooks', { url, event_types: ['*'] });
  const { id: deployment_id, latest_revision_id: revision_id } = await ask('POST', '/v2/deployments', {
    ...newDeployment('agent'),
    secrets: [{ name: 'TOKEN', value: 'never-to-be-told' }],
  });
  const { dataset, experiment } = await ask('POST', '/api/v1/datasets/upload-experiment', newUpload('uploaded'));
  await ask('POST', '/api/v1/feedback', { session_id: experiment.id, key: 'good', score: 1 });
  // Feedback that comes before its run, among the parts of a request.
  const run = { id: crypto.randomUUID(), name: 'late', run_type: 'chain', inputs: {}, session_name: 'traced' };
  const form = new FormData();
  const awaited = { trace_id: run.id, key: 'awaited', score: 0.25 };
  form.append(`feedback.${crypto.randomUUID()}`, JSON.stringify(awaited));
  const sent = await fetch(`${installation.url}/api/v1/runs/multipart`, {
    method: 'POST',
    headers: { 'x-api-key': OPERATOR },
    body: form,
  });
  expect(sent.status).toBe(202);
  await ask('POST', '/api/v1/runs', run);
  const { id: integration_id } = await ask('POST', '/v1/integrations', {
    name: 'host',
    provider: 'gitlab',
    credentials: { token: 'never-to-be-told' },
  });
  await ask('PATCH', `/v1/integrations/${integration_id}`, { name: 'renamed' });
  const provider = await ask('POST', '/v2/auth/providers', {
    provider_id: 'provider',
    name: 'provider',
    client_id: 'client',
    client_secret: 'never-to-be-told',
    auth_url: 'https://login.example/authorize',
    token_url: 'https://login.example/token',
  });
  const ready: [string, object] = ['deployment.status_changed', { deployment_id, status: 'READY' }];
  const wanted: [string, object][] = [
    ['deployment.created', { deployment_id, name: 'agent', source: 'external_container' }],
    ['revision.created', { revision_id, deployment_id, source_revision_config: { image_uri: 'registry.example/a:1' } }],
    ready,
    ['deployment.deleted', { deployment_id, name: 'agent' }],
    ['session.created', { name: 'agent', deployment_id }],
    ['dataset.created', { dataset_id: dataset.id, name: 'uploaded', data_type: 'kv' }],
    ['experiment.uploaded', { session_id: experiment.id, dataset_id: dataset.id, row_count: 1, test_run_number: 1 }],
    ['experiment.runs_persisted', { session_id: experiment.id, run_count: 1, example_count: 1, error_rate: 1 }],
    ['feedback.added', { session_id: experiment.id, run_id: null, key: 'good', score: 1 }],
    ['feedback.added', { session_id: experiment.id, run_id: null, key: 'overall', score: 0.5 }],
    ['feedback.added', { session_id: experiment.id, key: 'correct', score: 1 }],
    ['feedback.added', { run_id: run.id, key: 'awaited', score: 0.25 }],
    ['integration.added', { integration_id, name: 'host', provider: 'gitlab', base_url: 'https://gitlab.com' }],
    ['integration.changed', { integration_id, changed: ['name'] }],
    ['oauth_provider.added', { id: provider.id, provider_id: 'provider', name: 'provider' }],
  ];
  const arrived = ([type, data]: [string, object]) =>
    messages.some(({ text }) => {
      const message = JSON.parse(text) as { type: string; data: Record<string, unknown> };
      return message.type === type && Object.entries(data).every(([name, value]) => same(message.data[name], value));
    });
  // One that is deleted before its first rollout is never ready.
  await until(() => arrived(ready));
  await ask('DELETE', `/v2/deployments/${deployment_id}`);
  await until(() => wanted.every(arrived));
  const told = messages.map(({ headers, text }) => new Webhook(secret).verify(text, headers as Record<string, string>));
  for (const [type, data] of wanted) {
    expect(told).toContainEqual({
      type,
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: expect.objectContaining(data),
    });
  }
  for (const { text } of messages) expect(text).not.toContain('never-to-be-told');
});
