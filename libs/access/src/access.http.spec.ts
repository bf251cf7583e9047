import { randomBytes, randomUUID } from 'node:crypto';
import { Controller, Get, Module, Post, Req } from '@nestjs/common';
import {
  EventingModule,
  eventingMigrations,
  ParkedSubjects,
  parseMasterKeys,
  PostgresEventStore,
  Vault,
} from '@fairlead/eventing';
import { CommandContext, Context, Scope } from '@fairlead/api';
import { createServer, type EdgeSettings } from '@fairlead/edge';
import { injected } from '@fairlead/edge/testing';
import { testDatabase } from '@fairlead/postgres/testing';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { pino } from 'pino';
import {
  accessEntities,
  AccessModule,
  accessMigrations,
  AdminKey,
  AdminKeyProblem,
  Authenticator,
  DEFAULT_TENANT,
} from '.';
import { OPERATOR_KEY_ID } from './keys/api-key';
import { KEY_RANDOM_BYTES, keyText } from './keys/key-text';

/** Stands for any other part of the service. */
@Controller('/v1/probe')
class Probe {
  @Get()
  @Scope('read')
  read(@Context() { actor }: CommandContext) {
    return { ...actor, scopes: [...actor.scopes].sort() };
  }

  @Post()
  @Scope('write')
  write() {
    return {};
  }

  @Get('program')
  @Scope('invoke')
  program(@Req() { headers }: FastifyRequest) {
    return { authorization: headers.authorization ?? null };
  }

  @Get('secrets')
  @Scope('secrets:read')
  secrets() {
    return {};
  }
}

const ADMIN = 'operator-key-0123456789';
const masterKeys = parseMasterKeys(randomBytes(32).toString('hex'), 'test');
const INVALID = { status: 401, body: { detail: 'Invalid token' } };
const FORBIDDEN = { status: 403, body: { detail: 'Forbidden' } };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let database: Awaited<ReturnType<typeof testDatabase>>;
let process1: Awaited<ReturnType<typeof startProcess>>;

async function startProcess(edge: Partial<EdgeSettings> = {}) {
  const store = new PostgresEventStore(database.pool);
  const vault = new Vault(database.pool, masterKeys);

  @Module({
    imports: [EventingModule.forRoot({ store, vault, db: database.db, pool: database.pool }), AccessModule.register()],
    controllers: [Probe],
  })
  class TestModule {}

  const app: NestFastifyApplication = await createServer(TestModule, {
    logger: pino({ level: 'silent' }),
    authenticate: (request) => app.get(Authenticator).authenticate(request),
    edge,
  });
  await app.getHttpAdapter().getInstance().ready();
  return { app, store, stop: () => Promise.all([app.close(), store.close()]) };
}

beforeAll(async () => {
  database = await testDatabase([...eventingMigrations, ...accessMigrations], accessEntities);
  process1 = await startProcess();
  await process1.app.get(AdminKey).register(ADMIN);
});
afterAll(async () => {
  await process1.stop();
  await database.drop();
});

interface Sent {
  readonly key?: string;
  readonly tenant?: string;
  readonly headers?: Record<string, string>;
  readonly body?: object;
  readonly app?: NestFastifyApplication;
}

type Method = 'GET' | 'POST' | 'DELETE';

async function send(method: Method, url: string, { key, tenant, headers, body, app = process1.app }: Sent = {}) {
  const { statusCode, payload } = await injected(app, {
    method,
    url,
    headers: { ...(key !== undefined && { 'x-api-key': key }), ...(tenant && { 'x-tenant-id': tenant }), ...headers },
    ...(body && { payload: body }),
  });
  return { status: statusCode, body: JSON.parse(payload) };
}

async function createKey(body: object, by: Sent = { key: ADMIN }): Promise<{ id: string; key: string }> {
  const answer = await send('POST', '/api/v1/api-key', { ...by, body });
  expect(answer.status).toBe(200);
  return answer.body;
}

async function createTenant(display_name = 'Acme'): Promise<string> {
  const answer = await send('POST', '/api/v1/workspaces', { key: ADMIN, body: { display_name } });
  expect(answer.status).toBe(200);
  return answer.body.id;
}

/** A tenant of an organisation that is not the default one. */
async function createForeignTenant(): Promise<string> {
  const data = { ...DEFAULT_TENANT, id: randomUUID(), organization_id: randomUUID() };
  await process1.store.append(`tenant-${data.id}`, 0, [{ type: 'TenantCreated', data }], {});
  await eventually(async () => {
    expect(await send('GET', '/v1/probe', { key: ADMIN, tenant: data.id })).toMatchObject({ status: 200 });
  });
  return data.id;
}

async function eventually(check: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + 120_000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

describe('a quota of keys', () => {
  it('holds exactly when many are made at once, and a revoked key gives its place back', async () => {
    const workspace = await createTenant();
    const { limit } = (await send('GET', '/api/v1/workspaces/current/usage', { key: ADMIN, tenant: workspace })).body
      .api_keys;
    const fill = `insert into quota_places (kind, id, tenant_id, sure)
      select 'api_keys', gen_random_uuid()::text, $1, true from generate_series(1, $2::int)`;
    await database.pool.query(fill, [workspace, limit - 5]);
    const by = { key: ADMIN, tenant: workspace, body: {} };
    const answers = await Promise.all(Array.from({ length: 30 }, () => send('POST', '/api/v1/api-key', by)));
    const made = answers.filter(({ status }) => status === 200);
    expect(made).toHaveLength(5);
    expect(answers.find(({ status }) => status !== 200)).toEqual({
      status: 409,
      body: { detail: `This workspace has ${limit} api keys, as many as it may have (setting QUOTA_API_KEYS).` },
    });
    await send('DELETE', `/api/v1/api-key/${made[0]!.body.id}`, { key: ADMIN, tenant: workspace });
    expect((await send('POST', '/api/v1/api-key', by)).status).toBe(200);
    expect((await send('POST', '/api/v1/api-key', by)).status).toBe(409);
    const usage = await send('GET', '/api/v1/workspaces/current/usage', { key: made[1]!.body.key });
    expect(usage).toMatchObject({
      status: 200,
      body: {
        api_keys: { used: limit, limit },
        webhooks: { used: 0 },
        stored_bytes: { used: 0, limit: 100 * 1024 ** 3 },
      },
    });
  });

  it('gives back the places of keys that ended with their maker, and of no others', async () => {
    const tenant = await createTenant();
    const used = async () =>
      (await send('GET', '/api/v1/workspaces/current/usage', { key: ADMIN, tenant })).body.api_keys.used as number;
    const maker = await createKey({ scopes: ['admin'] }, { key: ADMIN, tenant });
    await createKey({}, { key: ADMIN, tenant });
    const child = await createKey({ scopes: ['admin'] }, { key: maker.key });
    await createKey({}, { key: child.key });
    await createKey({}, { key: maker.key });
    expect(await used()).toBe(5);
    await send('DELETE', `/api/v1/api-key/${maker.id}`, { key: ADMIN, tenant });
    await eventually(async () => expect(await used()).toBe(1));
  });
});

describe('a request', () => {
  it('with a right key passes after hundreds of wrong keys of the same address', async () => {
    const right = await createKey({});
    const { app, stop } = await startProcess({ rates: { wrongKeys: { requests: 300, seconds: 3600 } } });
    // The process reads who there is at its start.
    for (const key of [right.key, ADMIN]) {
      await eventually(async () => expect(await send('GET', '/v1/probe', { app, key })).toMatchObject({ status: 200 }));
    }
    const statuses = new Map<number, number>();
    for (let n = 0; n < 320; n++) {
      const { status } = await send('GET', '/v1/probe', {
        app,
        key: keyText(randomUUID(), randomBytes(KEY_RANDOM_BYTES)),
      });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect([...statuses.keys()].sort()).toEqual([401, 429]);
    expect(await send('GET', '/v1/probe', { app, key: right.key })).toMatchObject({ status: 200 });
    expect(await send('GET', '/v1/probe', { app, key: ADMIN })).toMatchObject({ status: 200 });
    await stop();
  });

  it('with a text that is no key, or one with a typing error, costs no query for it', async () => {
    const query = jest.spyOn(database.pool, 'query');
    for (let n = 0; n < 50; n++) {
      const wrong = `${keyText(randomUUID(), randomBytes(KEY_RANDOM_BYTES)).slice(0, -1)}!`;
      expect(await send('GET', '/v1/probe', { key: wrong })).toEqual(INVALID);
    }
    const asked = query.mock.calls.filter(
      ([text, values]) => String(text).includes('api_keys') && String(values) !== OPERATOR_KEY_ID,
    );
    query.mockRestore();
    expect(asked).toEqual([]);
  });

  it('needs a key that is known', async () => {
    const unknown = keyText(randomUUID(), randomBytes(KEY_RANDOM_BYTES));
    for (const key of ['', 'nonsense', `${ADMIN}x`, unknown, `${unknown}x`, 'x'.repeat(5000)]) {
      expect(await send('GET', '/v1/probe', { key })).toEqual(INVALID);
      expect(await send('GET', '/v1/probe', { headers: { authorization: `Bearer ${key}` } })).toEqual(INVALID);
    }
    expect(await send('GET', '/v1/probe')).toEqual(INVALID);
    expect(await send('GET', '/v1/probe', { headers: { authorization: ADMIN } })).toEqual(INVALID);
  });

  it('needs the whole key, not only its id', async () => {
    const { id, key } = await createKey({});
    const forged = keyText(id, randomBytes(KEY_RANDOM_BYTES));
    expect(await send('GET', '/v1/probe', { key })).toMatchObject({ status: 200 });
    expect(await send('GET', '/v1/probe', { key: forged })).toEqual(INVALID);
  });

  it('takes the key from either header', async () => {
    const { key } = await createKey({});
    expect(await send('GET', '/v1/probe', { key })).toMatchObject({ status: 200 });
    expect(await send('GET', '/v1/probe', { headers: { authorization: `Bearer ${key}` } })).toMatchObject({
      status: 200,
    });
    expect(
      await send('GET', '/v1/probe', { headers: { authorization: `bearer ${key}`, 'x-api-key': '' } }),
    ).toMatchObject({
      status: 200,
    });
  });

  it('keeps a key in the other header from programs, the key of the operator too', async () => {
    const { key } = await createKey({ scopes: ['invoke'] });
    const told = async (authorization: string) =>
      (await send('GET', '/v1/probe/program', { key, headers: { authorization } })).body.authorization;
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    for (const hidden of [`Bearer ${ADMIN}`, `token ${ADMIN}`, basic(`me:${ADMIN}`), `Bearer ${key}`]) {
      expect(await told(hidden)).toBeNull();
    }
    for (const shown of ['Bearer of-the-program-itself', basic('me:password')]) expect(await told(shown)).toBe(shown);
  });

  it('acts as its key says', async () => {
    const { id, key } = await createKey({ scopes: ['write'] });
    expect((await send('GET', '/v1/probe', { key })).body).toEqual({
      keyId: id,
      tenantId: DEFAULT_TENANT.id,
      organizationId: DEFAULT_TENANT.organization_id,
      scopes: ['invoke', 'read', 'write'],
    });
  });

  it('needs the scope of its route', async () => {
    const read = await createKey({ scopes: ['read'] });
    expect(await send('POST', '/v1/probe', { key: read.key })).toEqual(FORBIDDEN);
    expect(await send('GET', '/api/v1/api-key', { key: read.key })).toEqual(FORBIDDEN);
    const write = await createKey({ scopes: ['write'] });
    expect(await send('POST', '/v1/probe', { key: write.key })).toMatchObject({ status: 201 });
    expect(await send('POST', '/api/v1/api-key', { key: write.key, body: {} })).toEqual(FORBIDDEN);
    const admin = await createKey({ scopes: ['admin'] });
    expect(await send('POST', '/v1/probe', { key: admin.key })).toMatchObject({ status: 201 });
    expect(await send('GET', '/v1/probe/secrets', { key: admin.key })).toEqual(FORBIDDEN);
    const secrets = await createKey({ scopes: ['read', 'secrets:read'] });
    expect(await send('GET', '/v1/probe/secrets', { key: secrets.key })).toMatchObject({ status: 200 });
    expect(await send('GET', '/v1/probe/secrets', { key: ADMIN })).toMatchObject({ status: 200 });
  });

  it('stops working when its key expires', async () => {
    const { key } = await createKey({ expires_at: new Date(Date.now() + 5000).toISOString() });
    await eventually(async () => expect(await send('GET', '/v1/probe', { key })).toEqual(INVALID));
  });

  it('asks the database about its key at most once a second', async () => {
    const { key } = await createKey({});
    const queries = jest.spyOn(database.pool, 'query');
    const start = performance.now();
    try {
      for (let n = 0; n < 50; n++) expect(await send('GET', '/v1/probe', { key })).toMatchObject({ status: 200 });
      const about = queries.mock.calls.filter(([text]) => String(text).includes('api_keys where'));
      expect(about.length).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - start) / 1000));
    } finally {
      queries.mockRestore();
    }
  });
});

describe('a key of one tenant', () => {
  it('acts in its tenant only, named or not', async () => {
    const tenant = await createTenant();
    const { key } = await createKey({}, { key: ADMIN, tenant });
    for (const named of [undefined, tenant, tenant.toUpperCase()]) {
      expect((await send('GET', '/v1/probe', { key, tenant: named })).body).toMatchObject({ tenantId: tenant });
    }
    for (const other of [DEFAULT_TENANT.id, randomUUID(), 'nonsense']) {
      expect(await send('GET', '/v1/probe', { key, tenant: other })).toEqual(FORBIDDEN);
    }
  });
});

describe('an organisation key', () => {
  it('acts in every tenant of its organisation and must name one', async () => {
    const { id, key } = await createKey({ organization: true });
    const tenant = await createTenant();
    const needed = {
      status: 403,
      body: {
        error: 'org_scoped_key_requires_workspace',
        detail: 'This API key is org-scoped and requires workspace specification. Set X-Tenant-Id.',
      },
    };
    expect(await send('GET', '/v1/probe', { key })).toEqual(needed);
    const headers = { accept: 'application/problem+json' };
    expect(await send('GET', '/v1/probe', { key, headers })).toMatchObject({ status: 403, body: needed.body });
    for (const named of [tenant, DEFAULT_TENANT.id]) {
      expect((await send('GET', '/v1/probe', { key, tenant: named })).body).toEqual({
        keyId: id,
        tenantId: named,
        organizationId: DEFAULT_TENANT.organization_id,
        scopes: ['invoke', 'read', 'write'],
      });
    }
    const others = [await createForeignTenant(), randomUUID(), '00000000-0000-0000-0000-000000000000', 'nonsense'];
    for (const other of others) expect(await send('GET', '/v1/probe', { key, tenant: other })).toEqual(FORBIDDEN);
  });

  it('finds the workspaces it may name', async () => {
    const { key } = await createKey({ organization: true });
    const tenant = await createTenant();
    const foreign = await createForeignTenant();
    const { status, body } = await send('GET', '/api/v1/workspaces', { key });
    const ids = (body as { id: string }[]).map(({ id }) => id);
    expect(status).toBe(200);
    expect(ids).toEqual(expect.arrayContaining([DEFAULT_TENANT.id, tenant]));
    expect(ids).not.toContain(foreign);
    expect((await send('GET', '/api/v1/api-key/current', { key })).body).toMatchObject({ tenant_id: null });
  });

  it('is made, seen and revoked only by keys that reach as far', async () => {
    const admin = await createKey({ scopes: ['admin'] });
    expect(await send('POST', '/api/v1/api-key', { key: admin.key, body: { organization: true } })).toEqual(FORBIDDEN);
    const wide = await createKey({ scopes: ['admin'], organization: true });
    const seen = (await send('GET', '/api/v1/api-key', { key: admin.key })).body as { id: string }[];
    expect(seen.map(({ id }) => id)).not.toContain(wide.id);
    const missing = { status: 404, body: { detail: `API key ID ${wide.id} not found.` } };
    expect(await send('DELETE', `/api/v1/api-key/${wide.id}`, { key: admin.key })).toEqual(missing);
    const revoked = await send('DELETE', `/api/v1/api-key/${wide.id}`, { key: wide.key, tenant: DEFAULT_TENANT.id });
    expect(revoked).toMatchObject({ status: 200, body: { id: wide.id, organization: true, tenant_id: null } });
  });
});

describe('keys', () => {
  it('are shown once, then listed without the secret', async () => {
    const expires_at = '2031-02-03T04:05:06+00:00';
    const { status, body } = await send('POST', '/api/v1/api-key', {
      key: ADMIN,
      body: { description: 'CI', scopes: ['read', 'write'], expires_at },
    });
    const { key, ...record } = body;
    expect(status).toBe(200);
    expect(key).toMatch(/^fl_[0-9A-Za-z]{22}_[0-9A-Za-z]{27}_[0-9A-Za-z]{6}$/);
    expect(record).toEqual({
      id: expect.stringMatching(UUID),
      short_key: `${key.slice(0, 9)}...`,
      description: 'CI',
      scopes: ['read', 'write'],
      read_only: false,
      organization: false,
      tenant_id: DEFAULT_TENANT.id,
      organization_id: DEFAULT_TENANT.organization_id,
      created_at: expect.stringMatching(TIME),
      expires_at: '2031-02-03T04:05:06.000Z',
      made_by: OPERATOR_KEY_ID,
    });
    const listed = await send('GET', '/api/v1/api-key', { key: ADMIN });
    expect(listed.body[0]).toEqual(record);
    const current = await send('GET', '/api/v1/api-key/current', { key });
    expect(current).toEqual({ status: 200, body: listed.body[0] });
  });

  it('read and write when nothing else is asked for', async () => {
    const { body } = await send('POST', '/api/v1/api-key', { key: ADMIN, body: {} });
    expect(body).toMatchObject({ scopes: ['read', 'write'], description: 'API key', expires_at: null });
    const readOnly = await send('POST', '/api/v1/api-key', { key: ADMIN, body: { read_only: true } });
    expect(readOnly.body).toMatchObject({ scopes: ['read'], read_only: true });
  });

  it.each([
    [{ read_only: true, scopes: ['admin'] }, 422],
    [{ scopes: [] }, 422],
    [{ scopes: ['everything'] }, 422],
    [{ expires_at: 'tomorrow' }, 422],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 400],
    [{ scopes: ['secrets:read'] }, 400],
  ])('are not made from %j', async (body, status) => {
    expect(await send('POST', '/api/v1/api-key', { key: ADMIN, body })).toMatchObject({ status });
  });

  it('grant nothing their creator lacks', async () => {
    const admin = await createKey({ scopes: ['admin'] });
    const asked = { scopes: ['read', 'secrets:read'] };
    expect(await send('POST', '/api/v1/api-key', { key: admin.key, body: asked })).toEqual(FORBIDDEN);
    expect(await createKey({ scopes: ['admin'] }, { key: admin.key })).toMatchObject({ scopes: ['admin'] });
  });

  it('are refused from the moment they are revoked', async () => {
    const { key, ...record } = await createKey({});
    expect(await send('GET', '/v1/probe', { key })).toMatchObject({ status: 200 });
    expect(await send('DELETE', `/api/v1/api-key/${record.id}`, { key: ADMIN })).toEqual({ status: 200, body: record });
    expect(await send('GET', '/v1/probe', { key })).toEqual(INVALID);
    const again = await send('DELETE', `/api/v1/api-key/${record.id}`, { key: ADMIN });
    expect(again).toEqual({ status: 404, body: { detail: `API key ID ${record.id} not found.` } });
    const listed = (await send('GET', '/api/v1/api-key', { key: ADMIN })).body as { id: string }[];
    expect(listed.map(({ id }) => id)).not.toContain(record.id);
  });

  it('end when the key that made them ends, and no later', async () => {
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const maker = await createKey({ scopes: ['admin'], expires_at });
    const later = { expires_at: new Date(Date.now() + 120_000).toISOString() };
    expect(await send('POST', '/api/v1/api-key', { key: maker.key, body: later })).toEqual({
      status: 400,
      body: { detail: 'A key ends with the key that makes it: expires_at must not be later than its own.' },
    });
    const child = await createKey({ scopes: ['admin'] }, { key: maker.key });
    const grandchild = await createKey({}, { key: child.key });
    expect(child).toMatchObject({ expires_at, made_by: maker.id });
    expect(grandchild).toMatchObject({ expires_at, made_by: child.id });
    for (const { key } of [child, grandchild]) {
      expect(await send('GET', '/v1/probe', { key })).toMatchObject({ status: 200 });
    }
    expect(await send('DELETE', `/api/v1/api-key/${maker.id}`, { key: ADMIN })).toMatchObject({ status: 200 });
    for (const { id, key } of [child, grandchild]) {
      await eventually(async () => expect(await send('GET', '/v1/probe', { key })).toEqual(INVALID));
      const gone = { status: 404, body: { detail: `API key ID ${id} not found.` } };
      expect(await send('DELETE', `/api/v1/api-key/${id}`, { key: ADMIN })).toEqual(gone);
    }
    const listed = (await send('GET', '/api/v1/api-key', { key: ADMIN })).body as { id: string }[];
    expect(listed.map(({ id }) => id)).not.toContain(grandchild.id);
  });

  it('of another tenant are answered like missing ones', async () => {
    const tenant = await createTenant();
    const { id } = await createKey({}, { key: ADMIN, tenant });
    const { key } = await createKey({ scopes: ['admin'] });
    const missing = { status: 404, body: { detail: `API key ID ${id} not found.` } };
    expect(await send('DELETE', `/api/v1/api-key/${id}`, { key })).toEqual(missing);
    const listed = (await send('GET', '/api/v1/api-key', { key })).body as { id: string }[];
    expect(listed.map((each) => each.id)).not.toContain(id);
  });

  it('leave the last admin key', async () => {
    const { body } = await send('GET', '/api/v1/api-key/current', { key: ADMIN });
    expect(await send('DELETE', `/api/v1/api-key/${body.id}`, { key: ADMIN })).toEqual({
      status: 409,
      body: {
        detail:
          'This is the key of the setting FAIRLEAD_API_KEY, the last admin key: change the setting to replace it.',
      },
    });
  });

  it('are known in every process soon after they are made, and unknown soon after they are revoked', async () => {
    const other = await startProcess();
    try {
      const { id, key } = await createKey({});
      const seen = () => send('GET', '/v1/probe', { key, app: other.app });
      await eventually(async () => expect(await seen()).toMatchObject({ status: 200 }));
      await send('DELETE', `/api/v1/api-key/${id}`, { key: ADMIN });
      await eventually(async () => expect(await seen()).toEqual(INVALID));
    } finally {
      await other.stop();
    }
  });

  it('stand nowhere in the database', async () => {
    const secrets = [ADMIN, (await createKey({})).key, (await createKey({ organization: true })).key];
    const { rows: tables } = await database.pool.query<{ name: string }>(
      `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['api_keys', 'events']));
    for (const { name } of tables) {
      const { rows } = await database.pool.query<{ row: string }>(`select t::text as row from ${name} t`);
      const dump = rows.map(({ row }) => row).join('\n');
      for (const secret of secrets) {
        expect(dump).not.toContain(secret);
        expect(dump).not.toContain(secret.split('_')[2] ?? secret.slice(3));
      }
    }
  });
});

describe("the operator's key", () => {
  it('is registered once', async () => {
    await process1.app.get(AdminKey).register(ADMIN);
    expect(await process1.store.read('apiKey-00000000-0000-4000-8000-000000000002')).toHaveLength(1);
    expect(await process1.store.read(`tenant-${DEFAULT_TENANT.id}`)).toHaveLength(1);
  });

  it('acts in the default tenant, and in every other that is named', async () => {
    const foreign = await createForeignTenant();
    expect((await send('GET', '/v1/probe', { key: ADMIN })).body).toMatchObject({
      tenantId: DEFAULT_TENANT.id,
      scopes: ['admin', 'invoke', 'read', 'secrets:read', 'tokens:read', 'write'],
    });
    expect((await send('GET', '/v1/probe', { key: ADMIN, tenant: foreign })).body).toMatchObject({ tenantId: foreign });
    expect(await send('GET', '/v1/probe', { key: ADMIN, tenant: randomUUID() })).toEqual(FORBIDDEN);
  });

  it('is replaced by another text, in every process, and may come back', async () => {
    const text = keyText(randomUUID(), randomBytes(KEY_RANDOM_BYTES));
    const other = await startProcess();
    try {
      await other.app.get(AdminKey).register(text);
      expect(await send('GET', '/v1/probe', { key: ADMIN, app: other.app })).toEqual(INVALID);
      expect(await send('GET', '/v1/probe', { key: text, app: other.app })).toMatchObject({ status: 200 });
      await eventually(async () => expect(await send('GET', '/v1/probe', { key: ADMIN })).toEqual(INVALID));
    } finally {
      await other.stop();
    }
    await process1.app.get(AdminKey).register(ADMIN);
    expect(await send('GET', '/v1/probe', { key: ADMIN })).toMatchObject({ status: 200 });
    expect(await send('GET', '/v1/probe', { key: text })).toEqual(INVALID);
  });

  it.each(['short', 'x'.repeat(257), 'with blanks in the middle', `umlaut ${'ä'.repeat(20)}`])(
    'is not %p',
    async (text) => {
      await expect(process1.app.get(AdminKey).register(text)).rejects.toThrow(AdminKeyProblem);
    },
  );
});

describe('workspaces', () => {
  it('are created and listed under both names', async () => {
    const handle = `acme-${randomBytes(4).toString('hex')}`;
    const created = await send('POST', '/api/v1/workspaces', {
      key: ADMIN,
      body: { display_name: 'Acme', tenant_handle: handle },
    });
    expect(created).toEqual({
      status: 200,
      body: {
        id: expect.stringMatching(UUID),
        organization_id: DEFAULT_TENANT.organization_id,
        created_at: expect.stringMatching(TIME),
        display_name: 'Acme',
        is_personal: false,
        is_deleted: false,
        tenant_handle: handle,
        data_plane_url: null,
        read_only: false,
        role_id: null,
        role_name: null,
        permissions: ['admin', 'invoke', 'read', 'secrets:read', 'tokens:read', 'write'],
      },
    });
    for (const url of ['/api/v1/workspaces', '/api/v1/tenants?skip_create=true']) {
      const { body } = await send('GET', url, { key: ADMIN });
      expect(body).toContainEqual(created.body);
      expect(body[0]).toMatchObject({ id: DEFAULT_TENANT.id, display_name: 'Default' });
    }
  });

  it('show a key of one tenant only that tenant', async () => {
    const tenant = await createTenant('Only mine');
    const { key } = await createKey({ read_only: true }, { key: ADMIN, tenant });
    const { body } = await send('GET', '/api/v1/workspaces', { key });
    expect(body).toHaveLength(1);
    expect(body[0]).toMatchObject({ id: tenant, display_name: 'Only mine', read_only: true, permissions: ['read'] });
  });

  it('have an id and a handle of their own', async () => {
    const id = randomUUID();
    const tenant_handle = `mine-${randomBytes(4).toString('hex')}`;
    const create = (body: object) =>
      send('POST', '/api/v1/workspaces', { key: ADMIN, body: { display_name: 'X', ...body } });
    expect(await create({ id, tenant_handle })).toMatchObject({ status: 200, body: { id, tenant_handle } });
    expect(await create({ id })).toEqual({
      status: 409,
      body: { detail: `A workspace with the id ${id} already exists.` },
    });
    expect(await create({ tenant_handle })).toEqual({
      status: 409,
      body: { detail: `A workspace with the handle ${tenant_handle} already exists.` },
    });
    expect(await create({ id: '00000000-0000-0000-0000-000000000000' })).toMatchObject({ status: 422 });
    expect(await create({ tenant_handle: 'Not A Handle' })).toMatchObject({ status: 422 });
  });

  it('leave their handle to others when they are gone, also when their removal was cut off before it gave it back', async () => {
    const tenant_handle = `gone-${randomBytes(4).toString('hex')}`;
    const body = { display_name: 'X', tenant_handle };
    const { body: first } = await send('POST', '/api/v1/workspaces', { key: ADMIN, body });
    const cutOff = [
      { type: 'TenantRemovalRequested', data: {} },
      { type: 'TenantRemoved', data: {} },
    ];
    await process1.store.append(`tenant-${first.id}`, 1, cutOff.slice(0, 1), { tenant: first.id });
    expect(await send('POST', '/api/v1/workspaces', { key: ADMIN, body })).toMatchObject({ status: 409 });
    await process1.store.append(`tenant-${first.id}`, 2, cutOff.slice(1), { tenant: first.id });
    expect(await send('POST', '/api/v1/workspaces', { key: ADMIN, body })).toMatchObject({
      status: 200,
      body: { tenant_handle },
    });
  });

  it('are made by admins of the organisation, not of a tenant', async () => {
    const body = { display_name: 'X' };
    const admin = await createKey({ scopes: ['admin'] });
    expect(await send('POST', '/api/v1/workspaces', { key: admin.key, body })).toEqual(FORBIDDEN);
    const wide = await createKey({ scopes: ['admin'], organization: true });
    expect(await send('POST', '/api/v1/workspaces', { key: wide.key, body })).toMatchObject({ status: 200 });
    const reader = await createKey({ scopes: ['read'], organization: true });
    expect(await send('POST', '/api/v1/workspaces', { key: reader.key, body })).toEqual(FORBIDDEN);
  });
});

describe('what consumers gave up on', () => {
  const parked = () => send('GET', '/v1/parked-subjects', { key: ADMIN });

  beforeAll(async () => {
    const { store, app } = process1;
    for (const n of [1, 2, 3]) {
      await store.append(`parcel-${n}`, 0, [{ type: 'Sent', data: {} }], { tenant: DEFAULT_TENANT.id });
      const [event] = await store.read(`parcel-${n}`);
      await app.get(ParkedSubjects).park('courier', event!, `no such street ${n}`, 3_600_000);
    }
    await database.pool.query(`update parked_subjects set retry_at = null`);
  });
  afterAll(() => database.pool.query('truncate parked_subjects'));

  it('is listed and shown to the operator, page by page', async () => {
    const { status, body } = await parked();
    expect(status).toBe(200);
    expect(body.resources).toHaveLength(3);
    expect(body.resources[0]).toEqual({
      id: expect.stringMatching(UUID),
      consumer: 'courier',
      subject: expect.stringMatching(/^parcel-/),
      tenant_id: DEFAULT_TENANT.id,
      status: 'parked',
      event_type: 'Sent',
      version: 1,
      last_version: 1,
      attempts: 1,
      reason: expect.stringMatching(/^no such street/),
      created_at: expect.stringMatching(TIME),
      failed_at: expect.stringMatching(TIME),
      retry_at: null,
    });
    const first = await send('GET', '/v1/parked-subjects?limit=2', { key: ADMIN });
    const rest = await send('GET', `/v1/parked-subjects?limit=2&after=${first.body.after}`, { key: ADMIN });
    expect([...first.body.resources, ...rest.body.resources]).toEqual(body.resources);
    expect(rest.body.after).toBeNull();
    const [one] = body.resources;
    expect(await send('GET', `/v1/parked-subjects/${one.id}`, { key: ADMIN })).toEqual({ status: 200, body: one });
  });

  it('is tried again when the operator says so', async () => {
    const [{ id }] = (await parked()).body.resources;
    const { status, body } = await send('POST', `/v1/parked-subjects/${id}/retry`, { key: ADMIN });
    expect({ status, body }).toMatchObject({ status: 202, body: { id, status: 'retrying', attempts: 0 } });
    expect(body.retry_at).toMatch(TIME);
  });

  it('is nothing for the keys of tenants', async () => {
    const { key } = await createKey({ scopes: ['admin'] });
    const [{ id }] = (await parked()).body.resources;
    expect(await send('GET', '/v1/parked-subjects', { key })).toEqual(FORBIDDEN);
    expect(await send('GET', `/v1/parked-subjects/${id}`, { key })).toEqual(FORBIDDEN);
    expect(await send('POST', `/v1/parked-subjects/${id}/retry`, { key })).toEqual(FORBIDDEN);
  });

  it('is not found under an id that it does not have', async () => {
    const id = randomUUID();
    const missing = { status: 404, body: { detail: `Parked subject ${id} not found.` } };
    expect(await send('GET', `/v1/parked-subjects/${id}`, { key: ADMIN })).toEqual(missing);
    expect(await send('POST', `/v1/parked-subjects/${id}/retry`, { key: ADMIN })).toEqual(missing);
    expect(await send('GET', '/v1/parked-subjects/none', { key: ADMIN })).toMatchObject({ status: 422 });
    expect(await send('GET', '/v1/parked-subjects?limit=0', { key: ADMIN })).toMatchObject({ status: 422 });
  });
});
