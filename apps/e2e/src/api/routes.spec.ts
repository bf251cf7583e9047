import * as edge from '@fairlead/edge';
import type { Route } from '@fairlead/api';
import { canonicalUrl, leftOut } from '@fairlead/edge';
import { pythonWithSdk } from '../testing/langsmith-python';
import { javascriptRequests, pythonRequests, type SdkRequest } from '../testing/sdk-requests';
import { type Answer, askUntil, RouteService } from '../testing/route-service';
import { details, fillTenant, newDeployment, type Things } from '../testing/tenant-things';

jest.mock('@fairlead/edge', () => {
  const actual = jest.requireActual<typeof edge>('@fairlead/edge');
  return { ...actual, createServer: jest.fn(actual.createServer) };
});

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
  'GET /api/v1/workspaces/current/usage',
  'GET /api/v1/tenants',
  'POST /v2/deployments',
  'POST /api/v1/datasets/upload-experiment',
  'POST /api/v1/feedback-configs',
  'POST /api/v1/datasets',
  'POST /api/v1/datasets/upload',
  'POST /api/v1/sessions',
  'POST /api/v1/runs',
  'POST /api/v1/runs/batch',
  'POST /api/v1/runs/multipart',
  'POST /v2/auth/providers',
  'POST /v2/listeners',
  'POST /v1/integrations',
  'POST /v1/views',
  'POST /v1/webhooks',
  'POST /v2/auth/providers/mcp-discover',
  'GET /api/v1/audit-logs',
  'GET /v1/audit/choices',
  'GET /v1/audit/export',
  'GET /v1/changes',
  'GET /v1/console/session',
  'DELETE /v1/console/session',
  'GET /v1/console/sessions',
  'POST /v1/console/codes',
]);

/** Routes that answer 200 for what is not there: another tenant's things must be answered the same. */
const ALIKE = new Set([
  'GET /v1/monitors',
  'GET /v1/projects',
  'GET /api/v1/revisions/scores',
  'GET /v2/auth/wait/:auth_id',
]);

/** Routes of the operator, which refuse every tenant's key. */
const OPERATORS = new Set([
  'GET /v1/parked-subjects',
  'GET /v1/parked-subjects/:parked_subject_id',
  'POST /v1/parked-subjects/:parked_subject_id/retry',
  'POST /api/v1/workspaces/:workspace_id/suspend',
  'POST /api/v1/workspaces/:workspace_id/resume',
  'DELETE /api/v1/workspaces/:workspace_id',
]);

/** Reads that need no view: they fold streams, ask other routes, or a table that requests write themselves. */
const FROM_STREAMS = [
  '/api/v1/api-key/current',
  '/api/v1/datasets/:dataset_id/score-directions',
  '/api/v1/workspaces/current/usage',
  '/v1/audit/export',
  '/v1/changes',
  '/v1/integrations/:integration_id',
  '/v1/integrations/:integration_id/deliveries',
  '/v1/integrations/:integration_id/deliveries/:delivery_id',
  '/v1/integrations/:integration_id/reports',
  '/v1/integrations/codehost/:integration_id/repos',
  '/v1/integrations/managed/codehost/:integration_id/repos',
  '/v1/monitors/:monitor_id',
  '/v1/parked-subjects',
  '/v1/parked-subjects/:parked_subject_id',
  '/v1/search',
  '/v1/views/:view_id',
  '/v2/auth/providers/:provider_id',
  '/v2/auth/wait/:auth_id',
  '/v2/deployments/:deployment_id/app_logs',
  '/v2/deployments/:deployment_id/gates',
  '/v2/deployments/:deployment_id/health',
  '/v2/deployments/:deployment_id/history',
  '/v2/deployments/:deployment_id/history/export',
  '/v2/deployments/:deployment_id/log_counts',
  '/v2/deployments/:deployment_id/metrics',
  '/v2/deployments/:deployment_id/revisions/:revision_id/diff/:other_id/commits',
  '/v2/deployments/:deployment_id/revisions/:revision_id/diff/:other_id/files',
  '/v2/deployments/:deployment_id/revisions/:revision_id/diff/:other_id/files/content',
  '/v2/deployments/:deployment_id/revisions/:revision_id/verdict',
  '/v2/deployments/:deployment_id/revisions/:revision_id/verdict/repeat',
  '/v2/listeners/:listener_id',
];

/** Texts in the sources of the SDKs that are no requests to this service. */
const NO_REQUESTS: Readonly<Record<string, string>> = {
  '/api': 'the beginning of addresses',
  '/api/v1': 'the beginning of addresses',
  '/v1': 'the beginning of addresses',
  '/platform/:': 'the beginning of addresses',
  '/v1/platform/:': 'the beginning of addresses',
  '/public/:/d': 'the page of a shared dataset',
  '/public/:/runs': 'the SDK for JavaScript forgets the question mark before the query',
};

let service: RouteService;
let keyA: string;
let keyB: string;
let things: Things;

/** State of tenant A's things, as it sees them. */
async function seenByTenantA(): Promise<Answer[]> {
  const { ids } = things;
  const { deployment_id, dataset_id, session_id, run_id, example_id, feedback_id, provider_id, auth_id } = ids;
  const paths = [
    `/v2/deployments/${deployment_id}`,
    `/v1/integrations/${ids.integration_id}`,
    `/v1/webhooks/${ids.webhook_id}`,
    `/v1/webhooks/${ids.webhook_id}/deliveries`,
    `/v2/deployments/${deployment_id}/revisions`,
    `/api/v1/datasets/${dataset_id}`,
    `/api/v1/sessions/${session_id}`,
    `/api/v1/runs/${run_id}`,
    `/api/v1/examples/${example_id}`,
    `/api/v1/datasets/${ids.own_dataset_id}`,
    `/api/v1/examples/${ids.own_example_id}`,
    `/api/v1/feedback/${feedback_id}`,
    `/api/v1/datasets/${dataset_id}/comparative`,
    `/api/v1/runs/${run_id}/share`,
    `/api/v1/datasets/${dataset_id}/share`,
    `/api/v1/public/${ids.run_token}/run`,
    `/api/v1/public/${ids.dataset_token}/examples`,
    `/api/v1/public/${ids.link_token}/link/comparison`,
    '/v1/shares',
    `/v1/monitors/${ids.monitor_id}`,
    `/v1/views/${ids.view_id}`,
    '/v1/refused',
    '/api/v1/api-key',
    `/v2/auth/providers/${provider_id}`,
    `/v2/auth/agents/${MARK}/connections`,
    '/v2/auth/tokens',
    `/v2/auth/wait/${auth_id}?timeout=0`,
  ];
  return Promise.all(paths.map((path) => service.send('GET', path, keyA)));
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
  service = await RouteService.start(jest.mocked(edge.createServer), MARK);
  keyA = await service.newTenant(`${MARK} workspace`);
  keyB = await service.newTenant('tenant-b');
  things = await fillTenant(service, keyA, MARK);
});

afterAll(() => service?.stop());

it('declares a scope on every route', () => {
  expect(service.table.length).toBeGreaterThan(20);
  const scopes = ['read', 'write', 'admin', 'invoke', 'secrets:read', 'tokens:read', 'public'];
  expect(service.table.filter(({ scope }) => !scopes.includes(scope))).toEqual([]);
  expect(
    service.table
      .filter(({ scope }) => scope === 'public')
      .map(({ path }) => path)
      .sort(),
  ).toEqual([
    '/api/v1/examples/:example_id/attachment',
    '/api/v1/info',
    '/api/v1/info/health',
    '/api/v1/public/:dataset_token/datasets',
    '/api/v1/public/:dataset_token/datasets/compare',
    '/api/v1/public/:dataset_token/datasets/sessions',
    '/api/v1/public/:dataset_token/examples',
    '/api/v1/public/:link_token/link',
    '/api/v1/public/:link_token/link/comparison',
    '/api/v1/public/:link_token/link/comparison/rows/:example_id',
    '/api/v1/public/:link_token/link/runs/:run_id',
    '/api/v1/public/:run_token/run',
    '/api/v1/public/:run_token/run/:run_id',
    '/api/v1/public/:run_token/runs/query',
    '/api/v1/runs/:run_id/attachment',
    '/docs',
    '/docs/:file',
    '/health/live',
    '/health/ready',
    '/metrics',
    '/openapi.json',
    '/v1/audit/keys',
    '/v1/console/session',
    '/v1/integrations/:integration_id/webhook',
    '/v2/auth/callback/:provider_id',
    '/v2/auth/start',
    '/v2/deployments/:deployment_id/uploads/:upload_id',
    '/v2/public/:run_token/run/:run_id',
    '/v2/public/:run_token/runs/query',
  ]);
});

it('refuses unknown query parameters on every route below /v1 that neither LangSmith nor a code host defines', () => {
  const lenient = service.table.filter(({ path, strict }) => path.startsWith('/v1/') && !strict);
  expect(lenient.map(({ path }) => path).sort()).toEqual([
    '/v1/integrations/:integration_id/webhook',
    '/v1/integrations/codehost/:integration_id/repos',
    '/v1/integrations/codehost/install',
    '/v1/integrations/managed/codehost/:integration_id/repos',
    '/v1/integrations/managed/codehost/install',
    '/v1/projects/:deployment_id/deploy_logs',
    '/v1/projects/:deployment_id/revisions/:revision_id/build_logs',
    '/v1/projects/:deployment_id/revisions/:revision_id/deploy_logs',
  ]);
});

it('names the views that reads wait for, but for what is read from streams or belongs to no workspace', () => {
  const reading = service.table.filter(({ method, scope }) => method === 'GET' && scope !== 'public');
  const unnamed = reading.filter(({ views }) => views === undefined).map(({ path }) => path);
  expect(unnamed.sort()).toEqual([...FROM_STREAMS].sort());
});

const python = pythonWithSdk();
describe.each([
  ['JavaScript', javascriptRequests],
  ['Python', python === undefined ? undefined : () => pythonRequests(python)],
] as const)('What the SDK for %s can send', (_, requests) => {
  const served = ({ method, path }: SdkRequest) => {
    const parts = path.split('/');
    return service.table.some((route) => {
      const own = route.path.split('/');
      const same = own.length === parts.length && own.every((part, n) => part.startsWith(':') || part === parts[n]);
      return same && (method === undefined || method === route.method);
    });
  };

  (requests ? it : it.skip)('is served, or answered 501 with the family that it belongs to', async () => {
    const all = requests!();
    expect(all.length).toBeGreaterThan(80);
    const families = new Set<string>();
    for (const { method, path } of all) {
      if (path in NO_REQUESTS) continue;
      const { url } = canonicalUrl(path.replaceAll(':', MISSING));
      if (leftOut(url) === undefined) {
        expect({ method, path, served: served({ method, path: url }) }).toEqual({ method, path, served: true });
        continue;
      }
      const answer = await service.request(method ?? 'GET', path.replaceAll(':', MISSING), keyA);
      const { detail } = (await answer.json()) as { detail: unknown };
      expect({ method, path, status: answer.status, detail }).toEqual({
        ...{ method, path, status: 501 },
        detail: expect.stringMatching(/^Fairlead does not offer [\w -]+\.$/),
      });
      expect(answer.headers.get('x-should-retry')).toBe('false');
      families.add(String(detail));
    }
    expect(families.size).toBeGreaterThan(5);
  });
});

it('answers 404, and not 501, where no SDK sends anything', async () => {
  for (const path of ['/nowhere', '/api/v1/nowhere', '/v2/threadsafe', '/api/v1/annotation-queue']) {
    expect({ path, status: (await service.send('GET', path, keyA)).status }).toEqual({ path, status: 404 });
  }
});

it('answers 503 to who has written what a stuck view does not show, and to nobody else', async () => {
  const list = (key: string) => service.request('GET', '/v2/deployments?limit=1', key);
  expect([(await list(keyA)).status, (await list(keyB)).status]).toEqual([200, 200]);
  // Nothing in the background writes for tenant A meanwhile.
  await service.rest();
  const release = await service.holdCheckpoint('deployments.view');
  try {
    const made = await service.request('POST', '/v2/deployments', keyB, newDeployment(`stuck ${crypto.randomUUID()}`));
    expect(made.status).toBe(201);
    const refused = await list(keyB);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toEqual({ detail: 'What was written last cannot be read yet, try again.' });
    expect((await list(keyA)).status).toBe(200);
    expect((await service.request('GET', '/v2/listeners', keyB)).status).toBe(200);
  } finally {
    await release();
  }
  await askUntil(async () => ((await list(keyB)).status === 200 ? true : undefined));
});

it('asks for a key on every route that is not public', async () => {
  for (const { method, path, scope } of service.table) {
    if (scope === 'public') continue;
    const { status, text } = await service.send(method, path.replaceAll(/:\w+/g, MISSING), 'no key of ours');
    const { detail } = JSON.parse(text) as { detail: string };
    expect({ method, path, status, detail }).toEqual({ method, path, status: 401, detail: 'Invalid token' });
  }
});

it('shows a key that reads no secrets no part of an address that is a credential', async () => {
  const [token, hidden, ofUser] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  const targets = (end: string) =>
    [`/services/T0/${end}`, `/hook?key=${end}`].map((path) => service.outside.url + path);
  const hooks: string[] = [];
  for (const [index, url] of targets(token).entries()) {
    const format = (['slack', 'standard'] as const)[index];
    const hook = { url, event_types: ['*'], description: 'credential', format };
    const { id } = await service.ask<{ id: string }>('POST', '/v1/webhooks', keyA, hook);
    await service.ask('POST', `/v1/webhooks/${id}/test`, keyA);
    await service.ask('PATCH', `/v1/webhooks/${id}`, keyA, { url: targets(hidden)[index] });
    hooks.push(id);
  }
  const withUser = `http://user:${ofUser}@${new URL(service.outside.url).host}/a/b`;
  const refused = [
    ['PATCH', `/v1/webhooks/${hooks[0]}`, { url: withUser }],
    ['PATCH', `/v1/integrations/${things.ids.integration_id}`, { base_url: withUser }],
    ['PATCH', `/v1/integrations/${things.ids.integration_id}`, { reports: [{ repo_url: withUser }] }],
    ['PATCH', `/v2/deployments/${things.ids.deployment_id}`, { source_config: { custom_url: withUser } }],
    ['PATCH', `/v2/auth/providers/${things.ids.provider_id}`, { auth_url: withUser }],
  ] as const;
  for (const [method, path, body] of refused) {
    const { status } = await service.send(method, path, keyA, body);
    expect({ path, body: Object.keys(body), refused: [400, 422].includes(status) }).toMatchObject({ refused: true });
  }
  await service.rest();
  const wanted = { scopes: ['read'], description: 'reads' };
  const { key } = await service.ask<{ key: string }>('POST', '/api/v1/api-key', keyA, wanted);
  let shown = 0;
  for (const webhook_id of hooks) {
    const ids: Readonly<Record<string, string | undefined>> = { ...things.ids, webhook_id };
    const more = details({ ...things, ids: ids as Things['ids'] }, MARK, service);
    for (const { method, path } of service.table.filter((route) => route.method === 'GET')) {
      const search = more[`${method} ${path}`]?.search ?? '';
      const { text } = await service.send(
        method,
        path.replaceAll(/:(\w+)/g, (_, id: string) => ids[id] ?? id) + search,
        key,
      );
      if (text.includes('********')) shown++;
      for (const secret of [token, hidden, ofUser]) {
        expect({ path, leaks: text.includes(secret) }).toEqual({ path, leaks: false });
      }
    }
  }
  // The list and the webhook itself.
  expect(shown).toBeGreaterThanOrEqual(4);
  for (const id of hooks) await service.send('DELETE', `/v1/webhooks/${id}`, keyA);
});

it("shows another tenant none of a tenant's things, and lets it change none", async () => {
  await service.rest();
  const before = await seenByTenantA();
  expect(before.map(({ status }) => status)).toEqual(before.map(() => 200));
  const { ids } = things;
  const more = details(things, 'tenant-b', service);
  const own = (route: Route) => Number(OWN.has(`${route.method} ${route.path}`));
  for (const route of [...service.table].sort((a, b) => own(a) - own(b))) {
    if (route.scope === 'public') continue;
    const name = `${route.method} ${route.path}`;
    if (OPERATORS.has(name)) {
      const { status } = await service.send(route.method, route.path.replaceAll(/:\w+/g, MISSING), keyB);
      expect({ name, status }).toEqual({ name, status: 403 });
      continue;
    }
    const path = route.path.replaceAll(/:(\w+)/g, (_, parameter: string) => {
      if (!ids[parameter]) throw new Error(`${name}: say which id of tenant A stands for ${parameter}.`);
      return ids[parameter];
    });
    const { search = '', body = ['GET', 'DELETE'].includes(route.method) ? undefined : {} } = more[name] ?? {};
    const { status, text } = await service.send(route.method, path + search, keyB, body);
    expect({ name, leaks: text.includes(MARK) }).toEqual({ name, leaks: false });
    if (own(route)) expect({ name, answered: status < 500 }).toEqual({ name, answered: true });
    else if (status !== 404 && !ALIKE.has(name))
      expect({ name, status, empty: isEmpty(JSON.parse(text)) }).toEqual({ name, status: 200, empty: true });
    else {
      const other = await service.send(route.method, (path + search).replaceAll(UUIDS, MISSING), keyB, body);
      expect({ name, status, text: blank(text) }).toEqual({ name, status: other.status, text: blank(other.text) });
    }
  }
  expect(await seenByTenantA()).toEqual(before);
});

it('answers a repeated command only to the tenant that sent it', async () => {
  const { ids } = things;
  const deployment = `/v2/deployments/${ids.deployment_id}`;
  const commands = [
    { method: 'PATCH', path: deployment, body: { source_config: { resource_spec: { cpu: 2 } } } },
    { method: 'PUT', path: `${deployment}/tags`, body: { tag_value_ids: [MISSING] } },
    { method: 'POST', path: `${deployment}/revisions/${ids.revision_id}/redeploy`, body: {} },
  ];
  for (const [index, { method, path, body }] of commands.entries()) {
    const headers = { 'idempotency-key': `command-${index}` };
    expect(await service.send(method, path, keyA, body, headers)).toMatchObject({ status: 200 });
    expect(await service.send(method, path, keyB, body, headers)).toEqual({
      status: 404,
      text: JSON.stringify({ detail: `Deployment ID ${ids.deployment_id} not found.` }),
    });
  }
});
