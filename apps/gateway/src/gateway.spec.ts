import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestDatabase, testDatabase } from '@fairlead/postgres/testing';
import {
  type Edge,
  readSettings,
  type Running,
  type ServiceName,
  services,
  startAlone,
  urlVariable,
} from '@fairlead/service';
import { startStandalone, type Standalone } from '@fairlead/standalone';
import { startGateway } from '.';

const KEY = 'gateway-spec-operator-key';
const NAMES = Object.keys(services) as ServiceName[];

let folder: string;
let databases: TestDatabase[];
let running: Running[];
let gateway: Edge;
let standalone: Standalone;
let urls: Record<string, string>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-gateway-'));
  databases = [await testDatabase([]), await testDatabase([])];
  const env = (n: number) => ({
    PORT: '0',
    DATABASE_URL: databases[n]!.url,
    FAIRLEAD_DATA_DIR: folder,
    FAIRLEAD_API_KEY: KEY,
    LOG_LEVEL: 'silent',
  });
  running = [];
  urls = {};
  for (const name of NAMES) {
    const service = await startAlone(name, readSettings(env(0)));
    running.push(service);
    urls[urlVariable(name)] = service.url;
  }
  gateway = await startGateway(readSettings({ ...env(0), ...urls }));
  standalone = await startStandalone(readSettings(env(1)));
}, 120_000);

afterAll(async () => {
  await gateway?.stop();
  await standalone?.stop();
  await Promise.all(running.map((service) => service.stop()));
  for (const database of databases) await database.drop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly json: ReturnType<typeof JSON.parse>;
}

async function send(url: string, method: string, path: string, body?: unknown, headers = {}): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: { 'x-api-key': KEY, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const json = /json/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : text;
  return { status: response.status, headers: Object.fromEntries(response.headers), json };
}

const VARYING = new Set(['date', 'x-request-id', 'etag', 'content-length', 'ratelimit', 'keep-alive', 'connection']);

/** An answer with ids, times and what a request is called blanked out. */
function blank({ status, headers, json }: Answer) {
  const text = JSON.stringify(json)
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)/g, '<time>')
    .replaceAll(/fl_\w+/g, '<key>');
  const told = Object.entries(headers).filter(([name]) => !VARYING.has(name));
  return { status, headers: Object.fromEntries(told), text };
}

const deployment = (name: string) => ({
  name,
  source: 'codehost',
  source_config: { repo_url: 'https://github.com/example/agent' },
  source_revision_config: { repo_ref: 'main' },
  secrets: [],
});
async function deployed(url: string, name: string): Promise<void> {
  const { json } = await send(url, 'POST', '/v2/deployments', deployment(name));
  const path = `/v2/deployments/${json.id}/revisions/${json.latest_revision_id}/wait?timeout=20`;
  expect((await send(url, 'GET', path)).json).toMatchObject({ status: 'DEPLOYED' });
}
const times = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-01-01T00:00:02Z' };
const experiment = (name: string) => ({
  experiment_name: name,
  dataset_name: name,
  experiment_start_time: times.start_time,
  experiment_end_time: times.end_time,
  results: [{ row_id: '00000000-0000-4000-8000-000000000001', inputs: { n: 1 }, ...times }],
});

/** Requests to every service, good and bad; the same to both. */
const REQUESTS: [method: string, path: string, body?: unknown, headers?: Record<string, string>][] = [
  ['POST', '/v2/deployments', deployment('alike')],
  ['POST', '/v2/deployments', { name: 1 }],
  ['POST', '/v2/deployments', '{'],
  ['GET', '/v2/deployments?name_contains=alike'],
  ['GET', '/api-host/v2/deployments?name_contains=alike'],
  ['GET', '/v2/deployments/00000000-0000-4000-8000-000000000009'],
  ['GET', '/v2/deployments/none', undefined, { accept: 'application/problem+json' }],
  ['PUT', '/v2/deployments'],
  ['GET', '/v2/nothing'],
  ['POST', '/v2/listeners', { compute_type: 'k8s', compute_id: 'c', compute_config: { k8s_namespaces: ['a'] } }],
  ['GET', '/v1/integrations'],
  ['POST', '/v1/integrations', { provider: 'github' }],
  ['GET', '/v2/auth/providers'],
  ['POST', '/v2/auth/providers', { provider_id: 'x' }],
  ['POST', '/api/v1/datasets/upload-experiment', experiment('alike')],
  ['POST', '/datasets/upload-experiment', { experiment_name: 'bad' }],
  ['GET', '/sessions?name=alike'],
  ['GET', '/info'],
  ['GET', '/v1/webhooks'],
  ['POST', '/v1/projects/00000000-0000-4000-8000-000000000009/deploy_logs', { limit: 1 }],
  ['GET', '/api/v1/workspaces'],
  ['GET', '/api/v1/api-key'],
  ['GET', '/v2/deployments', undefined, { 'x-api-key': 'wrong' }],
];

describe('the gateway', () => {
  // What a rollout changes meanwhile would tell them apart.
  beforeAll(async () => {
    for (const { url } of [gateway, standalone]) await deployed(url, 'alike');
  });

  // Not the parameters themselves: for a row with fewer of them than the function takes, jest would wait for a callback.
  it.each(REQUESTS)('answers %s %s like one process with all services', async (...request) => {
    const [method, path, body, headers] = request;
    const apart = await send(gateway.url, method, path, body, headers);
    const together = await send(standalone.url, method, path, body, headers);
    expect(blank(apart)).toEqual(blank(together));
    expect(apart.status).toBeLessThan(500);
  });

  it('serves the same description of the API', async () => {
    const [apart, together] = [gateway, standalone].map(({ url }) => send(url, 'GET', '/openapi.json'));
    expect((await apart!).json).toEqual((await together!).json);
  });

  it('serves a deployment from creation to DEPLOYED across the processes', async () => {
    await deployed(gateway.url, 'across');
  }, 30_000);
});

describe('a service behind the gateway', () => {
  it.each(NAMES)('%s answers nobody but the gateway', async (name) => {
    const url = urls[urlVariable(name)]!;
    for (const path of [
      '/v2/deployments',
      '/v1/integrations',
      '/v2/auth/providers',
      '/api/v1/sessions',
      '/v1/webhooks',
    ]) {
      expect([401, 404]).toContain((await send(url, 'GET', path)).status);
    }
    const forged = { 'x-fairlead-identity': 'e30.e30.e30', authorization: 'Bearer e30.e30.e30' };
    expect([401, 404]).toContain((await send(url, 'GET', '/v2/deployments', undefined, forged)).status);
    expect((await send(url, 'GET', '/health/live')).status).toBe(200);
  });
});

it('says 503 for a service that is gone, and goes on with the others', async () => {
  const index = NAMES.indexOf('integrations');
  await running[index]!.stop();
  running.splice(index, 1);
  const gone = await send(gateway.url, 'GET', '/v1/integrations');
  expect(gone).toMatchObject({ status: 503, json: { detail: expect.any(String) } });
  expect(gone.headers['retry-after']).toBeDefined();
  expect((await send(gateway.url, 'GET', '/v2/deployments')).status).toBe(200);
}, 30_000);
