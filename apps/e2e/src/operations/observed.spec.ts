import { Collector } from '@fairlead/edge/testing';
import { until } from '@fairlead/postgres/testing';
import { Home, type Service } from '../testing/home';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const TOKEN = 'token-of-prometheus';
const CANARY = /canary-\w+/;

const collector = new Collector();
let home: Home;
let service: Service;

beforeAll(async () => {
  home = new Home();
  const env = { LOG_LEVEL: 'trace', METRICS_TOKEN: TOKEN, OTEL_EXPORTER_OTLP_ENDPOINT: await collector.start() };
  service = await home.start(env);
});
afterAll(async () => {
  await home?.end();
  await collector.stop();
});

async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(service.url + path, {
    method,
    headers: { 'x-api-key': home.key(), 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

const deployment = (name: string, secret: string) => ({
  name,
  source: 'external_container',
  source_config: {},
  source_revision_config: { image_uri: 'registry.example/agent:1' },
  secrets: [{ name: 'TOKEN', value: secret }],
});

it('is traced from a request through its append into the consumers that react to it', async () => {
  const traceparent = `00-${TRACE}-b7ad6b7169203331-01`;
  const created = await send('POST', '/v2/deployments', deployment('traced', 'secret'), { traceparent });
  expect(created.status).toBe(201);
  const inTrace = (name: string) => collector.span((span) => span.traceId === TRACE && span.name === name);
  const request = await inTrace('POST /v2/deployments');
  expect(request.parentSpanId).toBe('b7ad6b7169203331');
  const append = await collector.span((span) => span.name === 'append' && span.parentSpanId === request.spanId);
  expect(append.traceId).toBe(TRACE);
  const consumer = await inTrace('process DeploymentCreated');
  expect(consumer.parentSpanId).toBe(request.spanId);
  // The tracing project that the consumer makes is part of the same story.
  await collector.span((span) => span.name === 'append' && span.parentSpanId === consumer.spanId);
  expect((await inTrace('follow deployments.view')).parentSpanId).toBe(request.spanId);
  expect(collector.services).toEqual(new Set(['fairlead-standalone']));
});

it('tells its metrics to whoever has the token', async () => {
  expect((await fetch(`${service.url}/metrics`)).status).toBe(401);
  const read = async () => {
    const answer = await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    return answer.text();
  };
  await until(async () => /^fairlead_follower_lag_events\{follower="deployments\.view"\} 0$/m.test(await read()));
  const text = await read();
  for (const line of [
    /^fairlead_appends_total\{outcome="appended"\} [1-9]/m,
    /^fairlead_appended_events_total [1-9]/m,
    /^fairlead_append_commit_duration_seconds_count [1-9]/m,
    /^fairlead_follower_failing\{follower="deployments\.view"\} 0$/m,
    /^fairlead_follower_position\{follower="deployments\.view"\} [1-9]/m,
    /^fairlead_follower_events_total\{follower="deployments\.view"\} [1-9]/m,
    /^fairlead_follower_batch_duration_seconds_count\{follower="deployments\.view"\} [1-9]/m,
    /^fairlead_database_connections\{state="(?:idle|busy)"\} [1-9]/m,
    /^fairlead_database_connections_most \d+$/m,
    /^fairlead_database_waiting \d+$/m,
    /^fairlead_http_request_duration_seconds_count\{method="POST",route="\/v2\/deployments",status="2xx"\} 1$/m,
  ]) {
    expect(text).toMatch(line);
  }
});

it('never writes a secret into its log', async () => {
  const canary = (place: string) => `canary-${place}`;
  const upload = {
    experiment_name: canary('experiment'),
    results: [{ inputs: { a: canary('inputs') }, evaluation_scores: [{ key: canary('score'), score: 'x' }] }],
  };
  const provider = {
    provider_id: 'a',
    name: 'a',
    client_id: 'a',
    client_secret: canary('client'),
    auth_url: 'https://127.0.0.1/authorize',
    token_url: 'https://127.0.0.1/token',
  };
  const integration = { provider: 'gitea', base_url: 'https://10.0.0.1', credentials: { token: canary('token') } };
  const headers = { cookie: canary('cookie'), 'x-reason': canary('reason') };
  await send('POST', '/v2/deployments', deployment('discreet', canary('secret')), headers);
  await send(
    'POST',
    '/v2/deployments',
    { ...deployment('discreet', canary('again')), secrets: canary('shape') },
    headers,
  );
  await send('POST', '/v2/deployments', `{"secrets": "${canary('broken')}`, headers);
  await send('POST', '/api/v1/datasets/upload-experiment', upload, headers);
  await send('POST', '/api/v1/datasets/upload-experiment', `{"results": ["${canary('cut')}`, headers);
  await send('POST', '/v2/auth/providers', provider, headers);
  await send('POST', '/v1/integrations', integration, headers);
  await send('GET', `/v2/auth/callback/a?code=${canary('code')}&state=${canary('state')}`);
  await send('PUT', `/v2/deployments/a/uploads/b?expires=1&signature=${canary('signature')}`, canary('archive'));
  await send('GET', `/v2/deployments?name_contains=${canary('name')}`, undefined, { 'x-api-key': canary('key') });
  await send('GET', '/v2/deployments', undefined, { 'x-api-key': '', authorization: `Bearer ${canary('bearer')}` });
  await send('GET', '/nowhere', undefined, { 'x-request-id': 'the-last-one' });
  await until(() => service.output().includes('"the-last-one"'));
  expect(service.output()).toMatch(/"method":"POST".*"route":"\/v2\/deployments"/);
  expect(service.output() + service.errors()).not.toMatch(CANARY);
  // The key is told once, at the first start, and not by the log.
  expect(
    service
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .join(),
  ).not.toContain(home.key());
});
