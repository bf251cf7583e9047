import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as http from '@fairlead/http';
import type { Route } from '@fairlead/http';
import { testDatabase } from '@fairlead/postgres/testing';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { readSettings, type Standalone, startStandalone } from '.';

jest.mock('@fairlead/http', () => {
  const actual = jest.requireActual<typeof http>('@fairlead/http');
  return { ...actual, createServer: jest.fn(actual.createServer) };
});

const ADMIN = 'routes-spec-operator-key';
/** Stands in every text of tenant A, so that no answer to tenant B may hold it. */
const MARK = 'belongs-to-tenant-a';
const UUIDS = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const MISSING = '019a0000-0000-7000-8000-000000000000';

/** Routes about the caller itself, or that make something new for it: they answer, but tell nothing of tenant A. */
const OWN = new Set([
  'GET /api/v1/api-key',
  'POST /api/v1/api-key',
  'GET /api/v1/api-key/current',
  'GET /api/v1/workspaces',
  'POST /api/v1/workspaces',
  'GET /api/v1/tenants',
  'POST /v2/deployments',
  'POST /api/v1/datasets/upload-experiment',
  'POST /api/v1/sessions',
  'POST /api/v1/runs',
  'POST /api/v1/runs/batch',
  'POST /api/v1/runs/multipart',
  'POST /v2/auth/providers',
  'POST /v2/listeners',
  'POST /v1/integrations',
  'POST /v2/auth/providers/mcp-discover',
]);

/** Routes that answer 200 for what is not there: another tenant's things must be answered the same. */
const ALIKE = new Set(['GET /v2/auth/wait/:auth_id']);

/** Ids of tenant A's things by the path parameter that takes them. */
type Ids = Readonly<Record<string, string>>;

let directory: string;
let database: Awaited<ReturnType<typeof testDatabase>>;
let standalone: Standalone;
let table: Route[];
let keyA: string;
let keyB: string;
let ids: Ids;
/** Gives a token to whoever asks. */
let tokenServer: Server;
/** The state of a sign-in of tenant A that is still to be finished. */
let pendingState: string;

interface Answer {
  readonly status: number;
  readonly text: string;
}

type Headers = Readonly<Record<string, string>>;

async function send(method: string, path: string, key: string, body?: object, headers: Headers = {}): Promise<Answer> {
  const response = await fetch(standalone.url + path, {
    method,
    headers: {
      'x-api-key': key,
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

async function ask<T>(method: string, path: string, key: string, body?: object, headers?: Headers): Promise<T> {
  const { status, text } = await send(method, path, key, body, headers);
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text}`);
  return JSON.parse(text) as T;
}

/** Asks until the answer holds what is wanted: read models follow uploads within seconds. */
async function askUntil<T>(found: () => Promise<T | undefined>): Promise<T> {
  for (const deadline = Date.now() + 15_000; ;) {
    const value = await found();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error('It did not appear.');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function createTenantAdmin(name: string): Promise<string> {
  const { id } = await ask<{ id: string }>('POST', '/api/v1/workspaces', ADMIN, { display_name: name });
  const scopes = ['admin', 'secrets:read'];
  const body = { scopes, description: name };
  return (await ask<{ key: string }>('POST', '/api/v1/api-key', ADMIN, body, { 'x-tenant-id': id })).key;
}

const newDeployment = (name: string) => ({
  name,
  source: 'external_container',
  source_config: { resource_spec: { cpu: 1 } },
  source_revision_config: { image_uri: `registry.example/${name}:1` },
  secrets: [{ name: 'TOKEN', value: `${name}-secret` }],
});

const upload = (name: string) => ({
  experiment_name: name,
  dataset_name: name,
  experiment_start_time: '2026-01-01T00:00:00Z',
  experiment_end_time: '2026-01-01T00:01:00Z',
  summary_experiment_scores: [{ key: 'overall', score: 1, comment: name }],
  results: [
    {
      row_id: crypto.randomUUID(),
      inputs: { question: name },
      expected_outputs: { answer: name },
      actual_outputs: { answer: name },
      start_time: '2026-01-01T00:00:01Z',
      end_time: '2026-01-01T00:00:02Z',
      run_name: name,
      evaluation_scores: [{ key: 'correct', score: 1, comment: name }],
    },
  ],
});

const provider = (provider_id: string) => ({
  provider_id,
  name: provider_id,
  client_id: provider_id,
  client_secret: `${provider_id}-secret`,
  auth_url: 'https://login.example/authorize',
  token_url: `http://127.0.0.1:${(tokenServer.address() as AddressInfo).port}/token`,
});

/** A provider of tenant A with a token that an agent uses, and a sign-in that nobody has finished. */
async function fillAuthProviders(): Promise<Ids> {
  type Begun = { url: string; auth_id: string };
  const { id } = await ask<{ id: string }>('POST', '/v2/auth/providers', keyA, provider(MARK));
  const begin = (user_id: string) =>
    ask<Begun>('POST', '/v2/auth/authenticate', keyA, { provider: id, scopes: [], user_id, agent_id: MARK });
  const stateOf = ({ url }: Begun) => new URL(url).searchParams.get('state')!;
  const first = await begin(MARK);
  await ask('GET', `/v2/auth/callback/${id}?code=code&state=${stateOf(first)}`, 'nobody');
  const pending = await begin(`${MARK} later`);
  pendingState = stateOf(pending);
  type Connections = { data: { id: string; oauth_token_id: string }[] };
  const { data } = await ask<Connections>('GET', `/v2/auth/agents/${MARK}/connections`, keyA);
  const [connection] = data;
  return {
    ...{ provider_id: id, auth_id: pending.auth_id, agent_id: MARK },
    ...{ token_id: connection!.oauth_token_id, connection_id: connection!.id },
  };
}

/** One of everything, made by tenant A; the names are those of path parameters. */
async function fillTenantA(): Promise<Ids> {
  type Uploaded = { dataset: { id: string }; experiment: { id: string } };
  const deployment = await ask<{ id: string; latest_revision_id: string }>(
    'POST',
    '/v2/deployments',
    keyA,
    newDeployment(MARK),
  );
  const { dataset, experiment } = await ask<Uploaded>(
    'POST',
    '/api/v1/datasets/upload-experiment',
    keyA,
    upload(`${MARK} upload`),
  );
  const query = { session: [experiment.id], select: ['id', 'reference_example_id'] };
  const run = await askUntil(async () => {
    type Runs = { runs: { id: string }[] };
    return (await ask<Runs>('POST', '/api/v1/runs/query', keyA, query)).runs[0];
  });
  const [example] = await ask<{ id: string }[]>('GET', `/api/v1/examples?dataset=${dataset.id}`, keyA);
  const [feedback] = await ask<{ id: string }[]>('GET', `/api/v1/feedback?run=${run.id}`, keyA);
  const comparative = await ask<{ id: string }>('POST', '/api/v1/datasets/comparative', keyA, {
    name: MARK,
    experiment_ids: [experiment.id],
  });
  const [apiKey] = await ask<{ id: string }[]>('GET', '/api/v1/api-key', keyA);
  return {
    deployment_id: deployment.id,
    revision_id: deployment.latest_revision_id,
    other_id: deployment.latest_revision_id,
    dataset_id: dataset.id,
    session_id: experiment.id,
    run_id: run.id,
    example_id: example!.id,
    feedback_id: feedback!.id,
    comparative_experiment_id: comparative.id,
    id: apiKey!.id,
    ...(await fillAuthProviders()),
    integration_id: (await ask<{ id: string }>('POST', '/v1/integrations', keyA, newIntegration(MARK))).id,
    listener_id: (await ask<{ id: string }>('POST', '/v2/listeners', keyA, newListener(MARK))).id,
  };
}

const newIntegration = (name: string) => ({ name, provider: 'gitlab', credentials: { token: 'a-token' } });
const newListener = (compute_id: string) => ({ compute_type: 'k8s', compute_id, compute_config: {} });

/** Query strings and bodies that point at tenant A's things, for routes that need more than their path. */
function details({
  deployment_id,
  dataset_id,
  session_id,
  run_id,
  provider_id,
  token_id,
}: Ids): Record<string, { search?: string; body?: object }> {
  return {
    'DELETE /v2/deployments': { search: `?deployment_ids=${deployment_id}` },
    'GET /v2/deployments': { search: `?deployment_ids=${deployment_id}` },
    'PATCH /v2/deployments/:deployment_id': { body: { source_revision_config: { image_uri: 'registry.example/b:1' } } },
    'PUT /v2/deployments/:deployment_id/tags': { body: { tag_value_ids: [MISSING] } },
    'POST /v2/deployments': { body: newDeployment('tenant-b') },
    'GET /api/v1/examples': { search: `?dataset=${dataset_id}` },
    'GET /api/v1/examples/count': { search: `?dataset=${dataset_id}` },
    'GET /api/v1/feedback': { search: `?run=${run_id}&session=${session_id}` },
    'POST /api/v1/feedback': { body: { run_id, key: 'correct', score: 0 } },
    'GET /api/v1/sessions': { search: `?reference_dataset=${dataset_id}` },
    'POST /api/v1/sessions': { body: { name: 'tenant-b' } },
    'PATCH /api/v1/sessions/:session_id': { body: { name: 'taken over' } },
    'GET /api/v1/datasets': { search: `?id=${dataset_id}` },
    'GET /api/v1/datasets/:dataset_id/version': { search: '?tag=latest' },
    'POST /api/v1/datasets/upload-experiment': { body: upload('tenant-b') },
    'POST /api/v1/runs/query': { body: { session: [session_id] } },
    'PATCH /api/v1/runs/:run_id': { body: { error: 'taken over' } },
    'POST /api/v1/runs': { body: { id: MISSING, name: 'tenant-b' } },
    'GET /api/v1/datasets/:dataset_id/compare': { search: `?experiments=${session_id},${MISSING}` },
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
    'POST /api/v1/workspaces': { body: { display_name: 'tenant-b' } },
    'POST /v1/integrations': { body: newIntegration('tenant-b') },
    'PATCH /v1/integrations/:integration_id': { body: { name: 'taken over' } },
    'POST /v2/listeners': { body: newListener('tenant-b') },
    'PATCH /v2/listeners/:listener_id': { body: { version: 'taken over' } },
    'POST /v2/auth/providers': { body: provider('tenant-b') },
    'PATCH /v2/auth/providers/:provider_id': { body: { name: 'taken over' } },
    'POST /v2/auth/authenticate': { body: { provider: provider_id, scopes: [], token_id } },
    'POST /v2/auth/callback/:provider_id': { body: { code: 'code', state: pendingState } },
    'GET /v2/auth/wait/:auth_id': { search: '?timeout=0' },
    'GET /v2/auth/tokens/exists': { search: `?provider_id=${provider_id}` },
    'DELETE /v2/auth/tokens': { search: `?provider_id=${provider_id}` },
    'PATCH /v2/auth/tokens/:token_id/metadata': { body: { provider_account_label: 'taken over' } },
    'POST /v2/auth/agents/:agent_id/connections': { body: { oauth_token_id: token_id } },
  };
}

/** What tenant A sees of its things. */
async function seenByTenantA(): Promise<Answer[]> {
  const { deployment_id, dataset_id, session_id, run_id, example_id, feedback_id, provider_id, auth_id } = ids;
  const paths = [
    `/v2/deployments/${deployment_id}`,
    `/v1/integrations/${ids.integration_id}`,
    `/v2/deployments/${deployment_id}/revisions`,
    `/api/v1/datasets/${dataset_id}`,
    `/api/v1/sessions/${session_id}`,
    `/api/v1/runs/${run_id}`,
    `/api/v1/examples/${example_id}`,
    `/api/v1/feedback/${feedback_id}`,
    `/api/v1/datasets/${dataset_id}/comparative`,
    '/api/v1/api-key',
    `/v2/auth/providers/${provider_id}`,
    `/v2/auth/agents/${MARK}/connections`,
    '/v2/auth/tokens',
    `/v2/auth/wait/${auth_id}?timeout=0`,
  ];
  return Promise.all(paths.map((path) => send('GET', path, keyA)));
}

/** An answer without the ids that it repeats. */
function blank(text: string): string {
  return text.replaceAll(UUIDS, 'ID');
}

/** True for [], 0, and for objects that hold nothing but empty values, such as a page without resources. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isEmpty);
  return value === null || value === 0 || value === false;
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'fairlead-routes-'));
  database = await testDatabase([]);
  tokenServer = createServer((_, response) => {
    response.setHeader('content-type', 'application/json').end(`{"access_token":"${MARK}"}`);
  });
  await new Promise<void>((resolve) => tokenServer.listen(0, '127.0.0.1', resolve));
  standalone = await startStandalone(
    readSettings({
      PORT: '0',
      DATABASE_URL: database.url,
      FAIRLEAD_DATA_DIR: directory,
      FAIRLEAD_API_KEY: ADMIN,
      LOG_LEVEL: 'silent',
      OUTBOUND_ALLOW: '127.0.0.1',
    }),
  );
  const app = (await jest.mocked(http.createServer).mock.results[0]!.value) as NestFastifyApplication;
  table = http.routes(app);
  keyA = await createTenantAdmin(`${MARK} workspace`);
  keyB = await createTenantAdmin('tenant-b');
  ids = await fillTenantA();
}, 60_000);

afterAll(async () => {
  await standalone?.stop();
  tokenServer?.closeAllConnections();
  tokenServer?.close();
  await database?.drop();
  rmSync(directory, { recursive: true, force: true });
});

it('declares a scope on every route', () => {
  expect(table.length).toBeGreaterThan(20);
  const scopes = ['read', 'write', 'admin', 'secrets:read', 'public'];
  expect(table.filter(({ scope }) => !scopes.includes(scope))).toEqual([]);
  expect(
    table
      .filter(({ scope }) => scope === 'public')
      .map(({ path }) => path)
      .sort(),
  ).toEqual([
    '/api/v1/info',
    '/api/v1/info/health',
    '/health/live',
    '/health/ready',
    '/v1/integrations/:integration_id/webhook',
    '/v2/auth/callback/:provider_id',
    '/v2/deployments/:deployment_id/uploads/:upload_id',
  ]);
});

it('asks for a key on every route that is not public', async () => {
  for (const { method, path, scope } of table) {
    if (scope === 'public') continue;
    const { status, text } = await send(method, path.replaceAll(/:\w+/g, MISSING), 'no key of ours');
    const { detail } = JSON.parse(text) as { detail: string };
    expect({ method, path, status, detail }).toEqual({ method, path, status: 401, detail: 'Invalid token' });
  }
});

it("shows another tenant none of a tenant's things, and lets it change none", async () => {
  const before = await seenByTenantA();
  expect(before.map(({ status }) => status)).toEqual(before.map(() => 200));
  const more = details(ids);
  const own = (route: Route) => Number(OWN.has(`${route.method} ${route.path}`));
  for (const route of [...table].sort((a, b) => own(a) - own(b))) {
    if (route.scope === 'public') continue;
    const name = `${route.method} ${route.path}`;
    const path = route.path.replaceAll(/:(\w+)/g, (_, parameter: string) => {
      if (!ids[parameter]) throw new Error(`${name}: say which id of tenant A stands for ${parameter}.`);
      return ids[parameter];
    });
    const { search = '', body = ['GET', 'DELETE'].includes(route.method) ? undefined : {} } = more[name] ?? {};
    const { status, text } = await send(route.method, path + search, keyB, body);
    expect({ name, leaks: text.includes(MARK) }).toEqual({ name, leaks: false });
    if (own(route)) expect({ name, answered: status < 500 }).toEqual({ name, answered: true });
    else if (status !== 404 && !ALIKE.has(name))
      expect({ name, status, empty: isEmpty(JSON.parse(text)) }).toEqual({ name, status: 200, empty: true });
    else {
      const other = await send(route.method, (path + search).replaceAll(UUIDS, MISSING), keyB, body);
      expect({ name, status, text: blank(text) }).toEqual({ name, status: other.status, text: blank(other.text) });
    }
  }
  expect(await seenByTenantA()).toEqual(before);
});

it('answers a repeated command only to the tenant that sent it', async () => {
  const deployment = `/v2/deployments/${ids.deployment_id}`;
  const commands = [
    { method: 'PATCH', path: deployment, body: { source_config: { resource_spec: { cpu: 2 } } } },
    { method: 'PUT', path: `${deployment}/tags`, body: { tag_value_ids: [MISSING] } },
    { method: 'POST', path: `${deployment}/revisions/${ids.revision_id}/redeploy`, body: {} },
  ];
  for (const [index, { method, path, body }] of commands.entries()) {
    const headers = { 'idempotency-key': `command-${index}` };
    expect(await send(method, path, keyA, body, headers)).toMatchObject({ status: 200 });
    expect(await send(method, path, keyB, body, headers)).toEqual({
      status: 404,
      text: JSON.stringify({ detail: `Deployment ID ${ids.deployment_id} not found.` }),
    });
  }
});
