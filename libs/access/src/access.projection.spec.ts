import { randomUUID } from 'node:crypto';
import { type DomainEvent, type Projection } from '@fairlead/eventing';
import { recorded } from '@fairlead/eventing/testing';
import { transaction } from '@fairlead/postgres';
import { testDatabase } from '@fairlead/postgres/testing';
import type { ApiKeyEvent, KeyFacts, Manager } from './keys/api-key';
import { apiKeysProjection } from './keys/api-key.projection';
import { ApiKeyQueries } from './keys/api-key.queries';
import { accessEntities, accessMigrations } from './domain';
import { tenantsProjection } from './tenants/tenant.projection';
import { TenantQueries } from './tenants/tenant.queries';

let database: Awaited<ReturnType<typeof testDatabase>>;
beforeAll(async () => {
  database = await testDatabase(accessMigrations, accessEntities);
});
afterAll(() => database.drop());

async function project(projection: Projection, stream: string, ...events: DomainEvent[]) {
  await transaction(database.pool, (tx) => projection.handle(recorded(events, stream), tx));
}

const organization_id = randomUUID();
const tenant_id = randomUUID();
const facts: KeyFacts = {
  id: randomUUID(),
  kind: 'tenant',
  tenant_id,
  organization_id,
  description: 'CI',
  scopes: ['read', 'secrets:read'],
  short_key: 'fl_abc...',
  hash: 'hash',
  expires_at: '2030-01-01T00:00:00+00:00',
  made_by: null,
};
const created = (data: KeyFacts): ApiKeyEvent => ({ type: 'ApiKeyCreated', data });
const manager: Manager = {
  kind: 'tenant',
  expires_at: null,
  tenantId: tenant_id,
  organizationId: organization_id,
  scopes: new Set(),
};

describe('the table of keys', () => {
  let view: ApiKeyQueries;
  beforeEach(() => (view = new ApiKeyQueries(database.db)));
  afterEach(() => database.pool.query('delete from api_keys'));

  it('holds a created key', async () => {
    await project(apiKeysProjection, `apiKey-${facts.id}`, created(facts));
    expect(await view.byIds([facts.id, randomUUID()])).toEqual([
      {
        ...facts,
        expires_at: '2030-01-01T00:00:00.000Z',
        created_at: '2026-01-01T00:00:00.000Z',
        revoked_at: null,
        version: 1,
      },
    ]);
  });

  it('knows when a key was revoked, and lists it no longer', async () => {
    await project(apiKeysProjection, `apiKey-${facts.id}`, created(facts), { type: 'ApiKeyRevoked', data: {} });
    expect(await view.byIds([facts.id])).toMatchObject([{ revoked_at: '2026-01-01T00:00:01.000Z', version: 2 }]);
    expect(await view.list(manager)).toEqual([]);
  });

  it('ends keys with the one that made them, one that was made meanwhile too', async () => {
    const [maker, child, grandchild, late] = [1, 2, 3, 4].map(() => randomUUID()) as [string, string, string, string];
    const make = (id: string, made_by: string | null) =>
      project(apiKeysProjection, `apiKey-${id}`, created({ ...facts, id, made_by }));
    await make(maker, null);
    await make(child, maker);
    await make(grandchild, child);
    await make(facts.id, null);
    await project(apiKeysProjection, `apiKey-${maker}`, created({ ...facts, id: maker }), {
      type: 'ApiKeyRevoked',
      data: {},
    });
    await make(late, child);
    const ended = (await view.byIds([maker, child, grandchild, late])).map(({ revoked_at }) => revoked_at);
    expect(ended).toEqual(ended.map(() => expect.any(String)));
    expect((await view.list(manager)).map(({ id }) => id)).toEqual([facts.id]);
  });

  it("leaves what the operator's key made when that is given another text", async () => {
    const operator: KeyFacts = { ...facts, id: randomUUID(), kind: 'operator' };
    await project(apiKeysProjection, `apiKey-${operator.id}`, created(operator));
    await project(apiKeysProjection, `apiKey-${facts.id}`, created({ ...facts, made_by: operator.id }));
    const revoked = { type: 'ApiKeyRevoked', data: {} };
    await project(apiKeysProjection, `apiKey-${operator.id}`, created(operator), revoked, created(operator));
    expect(await view.byIds([facts.id])).toMatchObject([{ revoked_at: null, made_by: operator.id }]);
  });

  it('holds the newest text of a key that was replaced', async () => {
    const replaced = { ...facts, hash: 'other hash' };
    const events = [created(facts), { type: 'ApiKeyRevoked', data: {} }, created(replaced)];
    await project(apiKeysProjection, `apiKey-${facts.id}`, ...events);
    expect(await view.byIds([facts.id])).toMatchObject([{ hash: 'other hash', revoked_at: null, version: 3 }]);
  });

  it('keeps a key as it is when another history creates one of its id', async () => {
    await project(apiKeysProjection, `apiKey-${facts.id}`, created(facts));
    const stranger = project(apiKeysProjection, `apiKey-${randomUUID()}`, created({ ...facts, hash: 'other hash' }));
    await expect(stranger).rejects.toThrow('is about another id.');
    expect(await view.byIds([facts.id])).toMatchObject([{ hash: 'hash' }]);
  });

  it('lists what a manager may see', async () => {
    const organizationKey: KeyFacts = { ...facts, id: randomUUID(), kind: 'organization', tenant_id: null };
    const others = [
      { ...facts, id: randomUUID(), tenant_id: randomUUID() },
      { ...organizationKey, id: randomUUID(), organization_id: randomUUID() },
    ];
    for (const each of [facts, organizationKey, ...others]) {
      await project(apiKeysProjection, `apiKey-${each.id}`, created(each));
    }
    const ids = async (by: Manager) => (await view.list(by)).map(({ id }) => id).sort();
    expect(await ids(manager)).toEqual([facts.id]);
    expect(await ids({ ...manager, kind: 'organization' })).toEqual([facts.id, organizationKey.id].sort());
  });
});

describe('the table of tenants', () => {
  it('lists the tenants of an organisation, or all', async () => {
    const view = new TenantQueries(database.db);
    const tenant = { id: tenant_id, organization_id, display_name: 'Acme', tenant_handle: 'acme' };
    const other = { ...tenant, id: randomUUID(), organization_id: randomUUID(), tenant_handle: null };
    for (const data of [tenant, other]) {
      await project(tenantsProjection, `tenant-${data.id}`, { type: 'TenantCreated', data });
    }
    const time = '2026-01-01T00:00:00.000Z';
    const row = { ...tenant, created_at: time, status: 'active', status_since: time, version: 1 };
    expect(await view.list(organization_id, false)).toEqual([row]);
    expect(await view.byIds([tenant_id])).toEqual([row]);
    expect(await view.list(undefined, false)).toHaveLength(2);
  });
});
