import * as edge from '@fairlead/edge';
import type { Route } from '@fairlead/api';
import { askUntil, type Headers, RouteService } from '../testing/route-service';
import { type Detail, details, fillTenant, type Ids, type Things } from '../testing/tenant-things';

/** This file tests the promises of the contract about every route alike. */

jest.mock('@fairlead/edge', () => {
  const actual = jest.requireActual<typeof edge>('@fairlead/edge');
  return { ...actual, createServer: jest.fn(actual.createServer) };
});

const MISSING = '019a0000-0000-7000-8000-000000000000';
const UUIDS = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const PROBLEM = 'application/problem+json';
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/;
const OFFSET = /(Z|[+-]\d\d:\d\d)$/;

let service: RouteService;
let key: string;
let reader: string;
let things: Things;

const nameOf = ({ method, path }: Route) => `${method} ${path}`;
const guarded = () => service.table.filter(({ scope }) => scope !== 'public');
const isRead = ({ method, scope }: Route) => method === 'GET' && scope === 'read';

function pathTo(path: string, ids: Ids = {}): string {
  return path.replaceAll(/:(\w+)/g, (_, parameter: string) => ids[parameter] ?? MISSING);
}

interface Answered {
  readonly status: number;
  readonly type: string | null;
  readonly headers: globalThis.Headers;
  readonly text: string;
}

async function ask(route: Route, as: string, detail: Detail, path: string, headers: Headers = {}): Promise<Answered> {
  const { search = '', body = ['GET', 'DELETE'].includes(route.method) ? undefined : {} } = detail;
  const response = await service.request(route.method, path + search, as, body, headers);
  const type = response.headers.get('content-type');
  return { status: response.status, type, headers: response.headers, text: await response.text() };
}

beforeAll(async () => {
  service = await RouteService.start(jest.mocked(edge.createServer), 'contract');
  key = await service.newTenant('contract');
  things = await fillTenant(service, key, 'contract');
  ({ key: reader } = await service.ask<{ key: string }>('POST', '/api/v1/api-key', key, { scopes: ['read'] }));
});
afterAll(() => service?.stop());

describe('Every route', () => {
  it('refuses in the shape of RFC 9457 when that is asked for, and says in which request', async () => {
    const needsMore = guarded().filter(({ scope }) => scope !== 'read');
    for (const [as, status, title, routes] of [
      ['no key of ours', 401, 'Unauthorized', guarded()],
      [reader, 403, 'Forbidden', needsMore],
    ] as const) {
      for (const route of routes) {
        const answer = await ask(route, as, {}, pathTo(route.path), { accept: PROBLEM });
        const name = nameOf(route);
        expect({ name, ...answer }).toMatchObject({ name, status, type: PROBLEM });
        const request_id = answer.headers.get('x-request-id');
        expect({ name, ...JSON.parse(answer.text) }).toMatchObject({ name, status, title, request_id });
      }
    }
  });

  it('says "not found" of what is not there, in both shapes', async () => {
    const more = details(things, 'contract', service);
    let found = 0;
    for (const route of guarded().filter(({ path }) => path.includes(':'))) {
      const detail = JSON.parse(JSON.stringify(more[nameOf(route)] ?? {}).replaceAll(UUIDS, MISSING)) as Detail;
      const plain = await ask(route, key, detail, pathTo(route.path));
      if (plain.status !== 404) continue;
      found++;
      expect(JSON.parse(plain.text)).toMatchObject({ detail: expect.stringMatching(/not found/i) });
      const problem = await ask(route, key, detail, pathTo(route.path), { accept: PROBLEM });
      expect({ name: nameOf(route), ...problem }).toMatchObject({ status: 404, type: PROBLEM });
    }
    expect(found).toBeGreaterThan(30);
  });

  it('names an offset in every time that it answers', async () => {
    const more = details(things, 'contract', service);
    let times = 0;
    for (const route of service.table.filter(isRead)) {
      const { status, type, text } = await ask(route, key, more[nameOf(route)] ?? {}, pathTo(route.path, things.ids));
      if (status !== 200 || !type?.startsWith('application/json')) continue;
      for (const json of type.startsWith('application/jsonl') ? text.trimEnd().split('\n') : [text]) {
        JSON.parse(json, (member, value: unknown) => {
          if (typeof value !== 'string' || !TIME.test(value)) return value;
          times++;
          const name = `${nameOf(route)}: ${member}`;
          expect({ name, value }).toEqual({ name, value: expect.stringMatching(OFFSET) });
          return value;
        });
      }
    }
    expect(times).toBeGreaterThan(30);
  });

  it('is served at every base path that clients use', async () => {
    const aliases = ({ path }: Route): string[] => {
      if (path.startsWith('/api/v1/')) {
        const rest = path.slice('/api/v1'.length);
        return [`/api${rest}`, rest];
      }
      if (/^\/v2\/(runs|datasets)\//.test(path)) return [`/api${path}`, `/api-host${path}`];
      return path.startsWith('/v1/') || path.startsWith('/v2/') ? [`/api-host${path}`] : [];
    };
    let tried = 0;
    for (const route of service.table) {
      for (const alias of aliases(route)) {
        tried++;
        const options = await service.request('OPTIONS', pathTo(alias), 'nobody');
        const allowed = options.headers.get('allow')?.split(', ') ?? [];
        expect({ alias, status: options.status, allowed }).toEqual({
          alias,
          status: 204,
          allowed: expect.arrayContaining([route.method]),
        });
      }
    }
    expect(tried).toBeGreaterThan(100);
  });
});

it('A deployment has a tracing project of its name, which goes with it when that is asked for', async () => {
  const sessions = (name: string) => service.ask<object[]>('GET', `/api/v1/sessions?name=${name}`, key);
  const made = async (name: string) => {
    const wanted = { name, source: 'internal_source', source_config: {}, source_revision_config: {}, secrets: [] };
    const { id } = await service.ask<{ id: string }>('POST', '/v2/deployments', key, wanted);
    await askUntil(async () => (await sessions(name))[0]);
    return id;
  };
  const [left, taken] = [await made('traces-stay'), await made('traces-go')];
  expect(await service.send('DELETE', `/v2/deployments/${left}`, key)).toMatchObject({ status: 204 });
  const all = `/v2/deployments/${taken}?delete_tracing_project=true`;
  expect(await service.send('DELETE', all, key)).toMatchObject({ status: 204 });
  await askUntil(async () => ((await sessions('traces-go')).length === 0 ? true : undefined));
  expect(await sessions('traces-stay')).toHaveLength(1);
});

describe('Settings reach the services:', () => {
  const settings = {
    WIRE_DIALECT: 'langsmith',
    HOSTING: 'self_hosted',
    PUBLIC_URL: 'https://fairlead.example',
    BODY_MAX_BYTES: '2048',
    UPLOAD_MAX_BYTES: '4096',
    UPLOAD_MAX_ROW_BYTES: '1024',
    MAX_DEPTH: '20',
    UNUSED_AFTER: '1',
  };
  let other: RouteService;
  let as: string;
  const container = (name: string) => ({
    name,
    source: 'external_container',
    source_config: { resource_spec: { cache_cpu: 1 }, listener_config: { cluster_namespace: 'agents' } },
    source_revision_config: { image_uri: 'registry.example/agent:1' },
    secrets: [],
  });
  beforeAll(async () => {
    jest.mocked(edge.createServer).mockClear();
    other = await RouteService.start(jest.mocked(edge.createServer), 'settings', settings);
    as = await other.newTenant('settings');
  });
  afterAll(() => other?.stop());

  it('WIRE_DIALECT answers in the second spelling everywhere, and both are still taken', async () => {
    const spelled = {
      source: 'external_docker',
      source_config: { resource_spec: { redis_cpu: 1 }, listener_config: { k8s_namespace: 'agents' } },
    };
    const made = await other.ask<{ id: string }>('POST', '/v2/deployments', as, container('wire'));
    expect(made).toMatchObject(spelled);
    expect(await other.ask('GET', `/v2/deployments/${made.id}`, as)).toMatchObject(spelled);
    expect(await other.ask('GET', '/v2/deployments', as)).toMatchObject({ resources: [spelled] });
    const { resources } = await other.ask<{ resources: object[] }>('GET', `/v2/deployments/${made.id}/revisions`, as);
    expect(resources).toMatchObject([{ source: 'external_docker' }]);
    const wire = { ...container('wire too'), ...spelled };
    const typed = { ...wire, source_config: { ...spelled.source_config, deployment_type: 'serverless' } };
    expect(await other.ask('POST', '/v2/deployments', as, typed)).toMatchObject({
      source: 'external_docker',
      source_config: { ...spelled.source_config, deployment_type: 'serverless' },
    });
  });

  it('HOSTING refuses the sources that such an installation does not offer', async () => {
    const wanted = { ...container('cloud'), source: 'internal_source', source_config: {}, source_revision_config: {} };
    expect(await other.send('POST', '/v2/deployments', as, wanted)).toEqual({
      status: 400,
      text: `{"detail":"source 'internal_source' is available only for cloud-hosted deployments."}`,
    });
  });

  it('PUBLIC_URL stands in upload URLs', async () => {
    const { id } = await other.ask<{ id: string }>('POST', '/v2/deployments', as, container('public'));
    const { upload_url } = await other.ask<{ upload_url: string }>('POST', `/v2/deployments/${id}/upload-url`, as);
    expect(upload_url).toMatch(/^https:\/\/fairlead\.example\/v2\/deployments\//);
  });

  it('limits hold and are published', async () => {
    const info = await other.ask<{ instance_flags: object }>('GET', '/info', 'nobody');
    const upload_limits = { body_bytes: 4096, row_bytes: 1024, depth: 20 };
    expect(info.instance_flags).toMatchObject({ upload_limits });
    const long = { ...container('long'), secrets: [{ name: 'TOKEN', value: 'x'.repeat(2100) }] };
    expect(await other.send('POST', '/v2/deployments', as, long)).toMatchObject({ status: 413 });
    const upload = { experiment_name: 'x'.repeat(5000) };
    expect(await other.send('POST', '/datasets/upload-experiment', as, upload)).toMatchObject({ status: 413 });
    const deep = { labels: JSON.parse('['.repeat(30) + ']'.repeat(30)) as object };
    expect(await other.send('POST', '/v2/deployments', as, deep)).toMatchObject({ status: 422 });
  });

  it('UNUSED_AFTER makes a deployment UNUSED that nobody changes or uses', async () => {
    const { id } = await other.ask<{ id: string }>('POST', '/v2/deployments', as, container('idle'));
    await askUntil(async () => {
      const { status } = await other.ask<{ status: string }>('GET', `/v2/deployments/${id}`, as);
      return status === 'UNUSED' ? status : undefined;
    });
  });
});
