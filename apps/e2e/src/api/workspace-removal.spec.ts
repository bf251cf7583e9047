import * as edge from '@fairlead/edge';
import { OPERATOR } from '@fairlead/service/testing';
import { askUntil, RouteService } from '../testing/route-service';
import { fillTenant, newDeployment, type Things } from '../testing/tenant-things';

jest.mock('@fairlead/edge', () => {
  const actual = jest.requireActual<typeof edge>('@fairlead/edge');
  return { ...actual, createServer: jest.fn(actual.createServer) };
});

/**
 * Tables that keep rows about a removed workspace: that there was one, and its actors and actions. Answers for repeated
 * requests end by themselves.
 */
const KEPT = new Set([
  ...['tenants', 'stopped_workspaces', 'workspace_removals'],
  ...['audit_log', 'refused_requests', 'idempotency_keys'],
  'stored_bytes',
  'stored_run_bytes',
]);
const SUSPENDED = { detail: expect.stringContaining('suspended') };

let service: RouteService;
let keyA: string;
let keyB: string;
let a: Things;
let tenantA: string;

beforeAll(async () => {
  service = await RouteService.start(jest.mocked(edge.createServer), 'a-token');
  [keyA, keyB] = [await service.newTenant('tenant-a'), await service.newTenant('tenant-b')];
  a = await fillTenant(service, keyA, 'tenant-a');
  await fillTenant(service, keyB, 'tenant-b');
  tenantA = (await service.ask<{ tenant_id: string }>('GET', '/api/v1/api-key/current', keyA)).tenant_id;
});

afterAll(() => service?.stop());

const change = async (method: string, path = '', key = OPERATOR) => {
  const headers = { 'x-reason': 'they ask for it' };
  const answer = await service.request(method, `/api/v1/workspaces/${tenantA}${path}`, key, undefined, headers);
  const json = (await answer.json()) as { status?: string; remaining?: string[]; detail?: unknown };
  return { code: answer.status, ...json };
};

/** Number of rows of the workspace in each table. */
async function rowsOf(tenant: string): Promise<Record<string, number>> {
  const tables = await service.query<{ name: string }>(
    `select table_name as name from information_schema.columns
     where column_name = 'tenant_id' and table_schema = 'public' order by 1`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await service.query<{ n: number }>(
      `select count(*)::int as n from ${name} where tenant_id::text = $1`,
      [tenant],
    );
    if (row!.n > 0) counts[name] = row!.n;
  }
  return counts;
}

it('is for the operator of the installation, and not for the workspace of the installation’s own key', async () => {
  for (const [method, path] of [
    ['POST', '/suspend'],
    ['POST', '/resume'],
    ['DELETE', ''],
  ] as const) {
    for (const key of [keyA, keyB]) expect((await change(method, path, key)).code).toBe(403);
  }
  expect(await change('GET', '', keyA)).toMatchObject({ code: 200, status: 'active' });
  expect((await change('GET', '', keyB)).code).toBe(404);
  const own = '/api/v1/workspaces/00000000-0000-4000-8000-000000000001';
  expect((await service.send('DELETE', own, OPERATOR)).status).toBe(409);
  expect((await service.send('POST', `${own}/suspend`, OPERATOR)).status).toBe(409);
  expect((await service.send('DELETE', `/api/v1/workspaces/${crypto.randomUUID()}`, OPERATOR)).status).toBe(404);
});

it('a suspended workspace is answered 403 on every route, nothing of it goes on, and it works again when resumed', async () => {
  expect(await change('POST', '/suspend')).toMatchObject({ code: 200, status: 'suspended' });
  expect(await change('POST', '/suspend')).toMatchObject({ code: 200, status: 'suspended' });
  for (const { method, path, scope } of service.table) {
    if (scope === 'public') continue;
    const target = path.replaceAll(/:(\w+)/g, (_, name: string) => a.ids[name] ?? crypto.randomUUID());
    const answer = await service.send(method, target, keyA);
    expect({ method, path, status: answer.status }).toEqual({ method, path, status: 403 });
    if (method !== 'HEAD') expect(JSON.parse(answer.text)).toMatchObject(SUSPENDED);
  }
  const hook = await service.send('POST', `/v1/integrations/${a.ids.integration_id}/webhook`, 'nobody', {});
  expect([hook.status, JSON.parse(hook.text)]).toEqual([403, SUSPENDED]);
  const state = new URLSearchParams({ state: a.pendingState });
  expect((await service.send('GET', `/v2/auth/start?${state.toString()}`, 'nobody')).status).toBe(403);
  // The operator can look, and change nothing.
  const asOperator = (method: string, body?: object) =>
    service.request(method, '/v2/deployments', OPERATOR, body, { 'x-tenant-id': tenantA });
  expect((await asOperator('GET')).status).toBe(200);
  expect((await asOperator('POST', newDeployment('more'))).status).toBe(403);
  expect((await service.send('GET', '/v2/deployments', keyB)).status).toBe(200);
  const shared = `/api/v1/public/${a.ids.run_token}/run`;
  expect((await service.send('GET', shared, 'nobody')).status).toBe(403);

  expect(await change('POST', '/resume')).toMatchObject({ code: 200, status: 'active' });
  expect((await service.send('GET', '/v2/deployments', keyA)).status).toBe(200);
  expect((await service.send('GET', shared, 'nobody')).status).toBe(200);
  const { id } = await service.ask<{ id: string }>('POST', '/v2/deployments', keyA, newDeployment('resumed'));
  await askUntil(async () => {
    const found = await service.ask<{ status: string }>('GET', `/v2/deployments/${id}`, keyA);
    return found.status === 'READY' ? found : undefined;
  });
});

it('of a removed workspace nothing is left but what tells of it, and nothing of another one is gone', async () => {
  await service.rest();
  const before = await rowsOf(tenantA);
  expect(Object.keys(before)).toEqual(
    expect.arrayContaining([
      'api_keys',
      'deployments',
      'sessions',
      'runs',
      'payloads',
      'oauth_tokens',
      'webhooks',
      'monitors',
      'shares',
      'share_links',
    ]),
  );
  const tenantB = (await service.ask<{ tenant_id: string }>('GET', '/api/v1/api-key/current', keyB)).tenant_id;
  const others = await rowsOf(tenantB);
  const subjects = [...Object.values(a.ids), `shares-${tenantA}`];
  const sealed = () => service.query('select subject from data_keys where subject = any($1::text[])', [subjects]);
  expect(await sealed()).toHaveLength(6);

  expect(await change('DELETE')).toMatchObject({ code: 202, status: 'removing' });
  const resumed = await change('POST', '/resume');
  expect([409, 200]).toContain(resumed.code);
  expect(resumed).not.toMatchObject({ status: 'active' });
  await askUntil(async () => ((await change('GET')).status === 'removed' ? true : undefined));
  expect(await change('GET')).toMatchObject({ code: 200, status: 'removed', remaining: [] });
  expect((await service.send('GET', '/v2/deployments', keyA)).status).toBeGreaterThanOrEqual(401);
  expect((await service.send('GET', `/api/v1/public/${a.ids.run_token}/run`, 'nobody')).status).toBe(404);
  await askUntil(async () => {
    const left = Object.keys(await rowsOf(tenantA)).filter((table) => !KEPT.has(table));
    return left.length === 0 && (await sealed()).length === 0 ? true : undefined;
  });
  expect(await service.query('select from payload_chunks where payload_id not in (select id from payloads)')).toEqual(
    [],
  );
  // What the other workspace has under way goes on meanwhile.
  const still = { audit_log: 0, rollout_duties: 0, refused_requests: 0 };
  const kept = await rowsOf(tenantB);
  expect({ ...kept, ...still }).toEqual({ ...others, ...still });
  // The sums of refused requests are written some time after the requests.
  expect(kept.refused_requests ?? 0).toBeGreaterThanOrEqual(others.refused_requests ?? 0);
  const list = async (search: string) =>
    (await service.ask<{ id: string }[]>('GET', `/api/v1/workspaces${search}`, OPERATOR)).map(({ id }) => id);
  expect(await list('')).not.toContain(tenantA);
  expect(await list('?include_deleted=true')).toContain(tenantA);
});
