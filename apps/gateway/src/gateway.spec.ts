import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { IDENTITY_HEADER, issueIdentity, SigningKeys } from '@fairlead/edge';
import { type TestDatabase, testDatabase, until } from '@fairlead/postgres/testing';
import { readSettings, type ServiceName } from '@fairlead/service';
import { startApart, type ServiceProcess, type Whole } from '@fairlead/service/testing';
import { startGateway } from '.';

const KEY = 'gateway-spec-operator-key';

let folder: string;
let database: TestDatabase;
let whole: Whole;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-gateway-'));
  database = await testDatabase([]);
  whole = await startApart({
    PORT: '0',
    DATABASE_URL: database.url,
    FAIRLEAD_DATA_DIR: folder,
    FAIRLEAD_API_KEY: KEY,
    LOG_LEVEL: 'silent',
  });
});

afterAll(async () => {
  await whole?.stop();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

function processOf(name: ServiceName): ServiceProcess {
  return whole.processes.find((process) => process.name === name)!;
}

async function ask(method: string, path: string, body?: object, headers: Record<string, string> = {}, url = whole.url) {
  const response = await fetch(url + path, {
    method,
    headers: { 'x-api-key': KEY, 'content-type': 'application/json', ...headers },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  const json = text === '' ? undefined : JSON.parse(text);
  return { status: response.status, retryAfter: response.headers.get('retry-after'), json };
}

const deployment = (name: string) => ({
  name,
  source: 'external_container',
  source_config: {},
  source_revision_config: { image_uri: 'registry.example/agent:1' },
  secrets: [],
});

describe('The gateway', () => {
  it('must be told where every service is', async () => {
    const settings = readSettings({ DATABASE_URL: database.url, FAIRLEAD_DATA_DIR: folder, WEBHOOKS_URL: 'http://w' });
    await expect(startGateway(settings)).rejects.toThrow(
      /set DEPLOYMENTS_URL, INTEGRATIONS_URL, AUTH_PROVIDERS_URL, EXPERIMENTS_URL, ROLLOUTS_URL\./,
    );
  });

  it('serves a deployment from creation to DEPLOYED, in which three processes have a part', async () => {
    const { json } = await ask('POST', '/v2/deployments', deployment('across'));
    const path = `/v2/deployments/${json.id}/revisions/${json.latest_revision_id}/wait?timeout=60`;
    const answer = await until(
      () => ask('GET', path),
      ({ json: revision }) => /DEPLOYED|FAILED/.test(revision.status),
    );
    expect(answer).toMatchObject({ status: 200, json: { status: 'DEPLOYED' } });
    for (let sessions: unknown[] = []; sessions.length === 0;) {
      ({ json: sessions } = await ask('GET', '/api/v1/sessions?name=across'));
    }
  });

  it('passes a large compressed upload on', async () => {
    const times = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-01-01T00:00:02Z' };
    const results = Array.from({ length: 100 }, () => {
      const noise = randomBytes(200_000).toString('base64');
      return { row_id: crypto.randomUUID(), inputs: { noise }, actual_outputs: {}, ...times };
    });
    const head = { experiment_name: 'large', dataset_name: 'large', experiment_end_time: times.end_time };
    const body = gzipSync(JSON.stringify({ ...head, experiment_start_time: times.start_time, results }));
    expect(body.length).toBeGreaterThan(20_000_000);
    const uploaded = await fetch(`${whole.url}/api/v1/datasets/upload-experiment`, {
      method: 'POST',
      headers: { 'x-api-key': KEY, 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body,
    });
    const { experiment } = (await uploaded.json()) as { experiment: { id: string } };
    expect(uploaded.status).toBe(200);
    for (let count: number | null = null; count === null;) {
      ({ run_count: count } = (await ask('GET', `/api/v1/sessions/${experiment.id}`)).json);
      expect([null, 100]).toContain(count);
    }
  });
});

describe('A service behind the gateway', () => {
  const ROUTES: Readonly<Record<ServiceName, readonly [method: string, path: string]>> = {
    deployments: ['GET', '/v2/deployments'],
    integrations: ['GET', '/v1/integrations'],
    'auth-providers': ['GET', '/v2/auth/providers'],
    experiments: ['GET', '/api/v1/sessions'],
    rollouts: ['POST', `/v1/projects/${crypto.randomUUID()}/deploy_logs`],
    webhooks: ['GET', '/v1/webhooks'],
  };

  it('answers the gateway alone, but for its health and its metrics', async () => {
    const forger = new SigningKeys(database.pool);
    const actor = { keyId: 'k', tenantId: 't', organizationId: 'o', scopes: new Set(['admin'] as const) };
    const [method, originalUrl] = ROUTES.deployments;
    const token = await issueIdentity(forger, 'deployments', { id: 'one', method, originalUrl, headers: {}, actor });
    await database.pool.query('delete from identity_keys where id = $1', [(await forger.current()).id]);
    for (const { name, url } of whole.processes) {
      const own = (headers = {}) => ask(...ROUTES[name], undefined, headers, url);
      expect({ name, ...(await own()) }).toMatchObject({ name, status: 401 });
      expect(await own({ [IDENTITY_HEADER]: 'e30.e30.e30' })).toMatchObject({ status: 401 });
      expect(await own({ [IDENTITY_HEADER]: token, 'x-request-id': 'one' })).toMatchObject({ status: 401 });
      expect((await fetch(`${url}/health/live`)).status).toBe(200);
      expect((await fetch(`${url}/metrics`)).status).toBe(200);
    }
  });

  it('knows the keys of a gateway that starts later', async () => {
    const urls = Object.fromEntries(
      whole.processes.map(({ name, url }) => [`${name.toUpperCase().replace('-', '_')}_URL`, url]),
    );
    const own = { PORT: '0', DATABASE_URL: database.url, FAIRLEAD_DATA_DIR: folder, FAIRLEAD_API_KEY: KEY };
    const second = await startGateway(readSettings({ ...own, LOG_LEVEL: 'silent', ...urls }));
    expect((await ask('GET', '/v2/deployments', undefined, { connection: 'close' }, second.url)).status).toBe(200);
    await second.stop();
  });

  it('is 503 with Retry-After while it is gone, alone, and is there again by itself', async () => {
    const integrations = processOf('integrations');
    await integrations.stop('SIGKILL');
    expect(await ask('GET', '/v1/integrations')).toMatchObject({
      status: 503,
      retryAfter: expect.stringMatching(/^\d+$/),
      json: { detail: expect.any(String) },
    });
    expect((await ask('GET', '/v2/deployments')).status).toBe(200);
    await integrations.start();
    expect((await ask('GET', '/v1/integrations')).status).toBe(200);
  });

  it('finishes what is under way when it is told to stop', async () => {
    const deployments = processOf('deployments');
    // The gateway reads a small body to its end before it sends the request on.
    const large = { resource_spec: { annotations: { note: 'x'.repeat(200_000) } } };
    const body = JSON.stringify({ ...deployment('late'), source_config: large });
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const answer = fetch(`${whole.url}/v2/deployments`, {
      method: 'POST',
      headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
      body: readable,
      duplex: 'half',
    });
    await writer.write(Buffer.from(body.slice(0, 150_000)));
    const isArriving = async () => /http_bodies_arriving 1/.test(await metricsOf(deployments));
    while (!(await isArriving()));
    const stopped = deployments.stop();
    while (await isListening(deployments));
    await writer.write(Buffer.from(body.slice(150_000)));
    await writer.close();
    expect((await answer).status).toBe(201);
    await stopped;
    await deployments.start();
    expect((await ask('GET', '/v2/deployments?name_contains=late')).json.resources).toHaveLength(1);
  });
});

async function metricsOf({ url }: ServiceProcess): Promise<string> {
  return (await fetch(`${url}/metrics`)).text();
}

function isListening({ url }: ServiceProcess): Promise<boolean> {
  return fetch(`${url}/health/live`, { headers: { connection: 'close' } }).then(
    () => true,
    () => false,
  );
}
