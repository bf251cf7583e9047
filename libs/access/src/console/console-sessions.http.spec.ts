import { randomBytes } from 'node:crypto';
import { Controller, Get, Module, Post, Req } from '@nestjs/common';
import {
  Consistency,
  EventingModule,
  eventingMigrations,
  parseMasterKeys,
  PostgresEventStore,
  Vault,
} from '@fairlead/eventing';
import { Scope } from '@fairlead/api';
import { createServer, type EdgeSettings } from '@fairlead/edge';
import { testDatabase, until } from '@fairlead/postgres/testing';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { pino } from 'pino';
import {
  accessEntities,
  AccessModule,
  accessMigrations,
  AccessOptions,
  AdminKey,
  Authenticator,
  DEFAULT_TENANT,
} from '..';

/** Stands for any other part of the service. */
@Controller('/v1/probe')
class Probe {
  @Get()
  @Scope('read')
  read(@Req() { actor }: FastifyRequest) {
    return { ...actor, scopes: [...actor.scopes].sort() };
  }

  @Post()
  @Scope('write')
  write() {
    return {};
  }

  @Post('values')
  @Scope('secrets:read')
  readAll() {
    return {};
  }

  @Post('values/one')
  @Scope('secrets:read', { single: true })
  readOne() {
    return {};
  }

  @Post('program')
  @Scope('invoke')
  invoke() {
    return {};
  }

  @Post('program/link')
  @Scope('invoke', { console: true })
  link() {
    return {};
  }
}

const ADMIN = 'operator-key-0123456789';
const HOST = 'console.example:4600';
const SAME = { 'sec-fetch-site': 'same-origin' };
const masterKeys = parseMasterKeys(randomBytes(32).toString('hex'), 'test');

let database: Awaited<ReturnType<typeof testDatabase>>;
let process1: Awaited<ReturnType<typeof startProcess>>;
const stops: (() => Promise<unknown>)[] = [];
/** Refused requests of which the server told, for the audit log. */
const told: string[] = [];

async function startProcess(edge: Partial<EdgeSettings> = {}) {
  const store = new PostgresEventStore(database.pool);
  const vault = new Vault(database.pool, masterKeys);
  const access = AccessModule.register(new AccessOptions(undefined, edge.https));
  @Module({
    imports: [EventingModule.forRoot({ store, vault, db: database.db, pool: database.pool }), access],
    controllers: [Probe],
  })
  class TestModule {}
  const app: NestFastifyApplication = await createServer(TestModule, {
    logger: pino({ level: 'silent' }),
    authenticate: (request) => app.get(Authenticator).authenticate(request),
    edge,
    refused: ({ request, status }) => void told.push(`${status} ${request}`),
  });
  await app.getHttpAdapter().getInstance().ready();
  // As each process of the service does at its start: it knows the key from then on.
  await app.get(AdminKey).register(ADMIN);
  stops.push(() => Promise.all([app.close(), store.close()]));
  return { app };
}

beforeAll(async () => {
  database = await testDatabase([...eventingMigrations, ...accessMigrations], accessEntities);
  process1 = await startProcess();
});
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
  await database.drop();
});

interface Sent {
  readonly headers?: Record<string, string>;
  readonly body?: object;
  readonly app?: NestFastifyApplication;
}

async function send(method: 'GET' | 'POST' | 'DELETE', url: string, { headers, body, app = process1.app }: Sent = {}) {
  const answer = await app.inject({ method, url, headers: { host: HOST, ...headers }, ...(body && { payload: body }) });
  const json = answer.payload === '' ? undefined : JSON.parse(answer.payload);
  return { status: answer.statusCode, json, cookie: answer.headers['set-cookie'] as string | undefined };
}

const realNow = Date.now.bind(Date);
/** Lets the clock of this process be so many milliseconds ahead. */
function advance(ms: number): void {
  jest.spyOn(Date, 'now').mockImplementation(() => realNow() + ms);
}

const SESSION = '/v1/console/session';
const byKey = (key = ADMIN) => ({ 'x-api-key': key });

/** Signs in and answers the headers that a page of the console sends. */
async function signIn(body: object = { api_key: ADMIN }, app = process1.app): Promise<Record<string, string>> {
  const signedIn = () => send('POST', SESSION, { headers: SAME, body, app });
  // Many at a time take longer on a slow machine than one waits for what it has written.
  const { status, cookie } = await until(signedIn, (answer) => answer.status !== 503);
  expect(status).toBe(200);
  return { ...SAME, cookie: cookie!.split(';')[0]! };
}

async function newKey(body: object): Promise<{ id: string; key: string }> {
  const { status, json } = await send('POST', '/api/v1/api-key', { headers: byKey(), body });
  expect(status).toBe(200);
  return json;
}

describe('Signing in to the console', () => {
  it('takes a key and gives a cookie that no script reads and no other site sends', async () => {
    const { status, json, cookie } = await send('POST', SESSION, { headers: SAME, body: { api_key: ADMIN } });
    expect({ status, json }).toMatchObject({
      status: 200,
      json: {
        workspace_id: DEFAULT_TENANT.id,
        workspaces: [{ id: DEFAULT_TENANT.id, display_name: 'Default' }],
        key: { short_key: 'ope...', description: 'FAIRLEAD_API_KEY' },
      },
    });
    expect(cookie).toMatch(/^fairlead-4600=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/);
    expect(JSON.stringify(json)).not.toContain(ADMIN);
    const headers = { ...SAME, cookie: cookie!.split(';')[0]! };
    expect(await send('GET', SESSION, { headers })).toMatchObject({ status: 200, json });
  });

  it('answers once the workspaces that it lists can be read, also one that was made a moment ago', async () => {
    const holding = await database.pool.connect();
    await holding.query(`begin; select from checkpoints where name = 'tenants' for update`);
    const waits = jest.spyOn(process1.app.get(Consistency), 'upToDate');
    const body = { display_name: 'made a moment ago' };
    let answer: ReturnType<typeof send>;
    try {
      expect((await send('POST', '/api/v1/workspaces', { headers: byKey(), body })).status).toBe(200);
      waits.mockClear();
      answer = send('POST', SESSION, { headers: SAME, body: { api_key: ADMIN } });
      await until(() => waits.mock.calls.length > 0, undefined, 20_000);
    } finally {
      waits.mockRestore();
      await holding.query('rollback');
      holding.release();
    }
    expect((await answer).json.workspaces).toContainEqual(expect.objectContaining(body));
  });

  it('uses a cookie of this host alone over https', async () => {
    const app = (await startProcess({ https: true })).app;
    const { cookie } = await send('POST', SESSION, { headers: SAME, body: { api_key: ADMIN }, app });
    expect(cookie).toMatch(/^__Host-fairlead=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/);
    const headers = { ...SAME, cookie: cookie!.split(';')[0]! };
    expect((await send('GET', '/v1/probe', { headers, app })).status).toBe(200);
    // Over http anybody on the way could have planted it.
    expect((await send('GET', '/v1/probe', { headers })).status).toBe(401);
  });

  it('refuses a wrong key, and both or neither of key and code', async () => {
    const ask = (body: object) => send('POST', SESSION, { headers: SAME, body });
    expect(await ask({ api_key: 'operator-key-9876543210' })).toMatchObject({
      status: 401,
      json: { detail: 'Invalid token' },
    });
    expect((await ask({ code: 'x'.repeat(32) })).json.detail).toContain('used already');
    expect((await ask({})).status).toBe(422);
    expect((await ask({ api_key: ADMIN, code: 'x' })).status).toBe(422);
    expect(JSON.stringify(await ask({ api_key: [ADMIN] }))).not.toContain(ADMIN);
  });

  it('is no refused attempt while a page only asks whether anybody is signed in', async () => {
    const { cookie } = await signIn();
    const { cookie: ended } = await signIn();
    await send('DELETE', SESSION, { headers: { ...SAME, cookie: ended! } });
    const toldOf = async (url: string, headers: Record<string, string>, status = 401) => {
      told.length = 0;
      expect((await send('GET', url, { headers })).status).toBe(status);
      return [...told];
    };
    expect(await toldOf(SESSION, SAME)).toEqual([]);
    expect(await toldOf(SESSION, { ...SAME, cookie: 'of=another-application' })).toEqual([]);
    const refused = `401 GET ${SESSION}`;
    expect(await toldOf(SESSION, { ...SAME, cookie: ended! })).toEqual([refused]);
    expect(await toldOf(SESSION, { ...SAME, ...byKey('wrong') })).toEqual([refused]);
    expect(await toldOf(SESSION, { ...SAME, authorization: 'Basic of-something-else' })).toEqual([refused]);
    expect(await toldOf(SESSION, { cookie: cookie! }, 403)).toEqual([`403 GET ${SESSION}`]);
    expect(await toldOf('/v1/probe', SAME)).toEqual(['401 GET /v1/probe']);
  });

  it('counts wrong keys and codes as guesses of their address', async () => {
    const { app } = await startProcess({ rates: { wrongKeys: { requests: 2, seconds: 3600 } } });
    const ask = async (body: object) => (await send('POST', SESSION, { headers: SAME, body, app })).status;
    const guesses = [{ api_key: 'one' }, { api_key: 'one' }, { code: 'two' }, { api_key: 'three' }, { code: 'four' }];
    const answers: number[] = [];
    for (const guess of guesses) answers.push(await ask(guess));
    expect(answers).toEqual([401, 401, 401, 429, 429]);
    expect(await ask({ api_key: ADMIN })).toBe(200);
  });

  it('takes a code once, in the name of the key that made it', async () => {
    const { key } = await newKey({ scopes: ['read'], description: 'reader' });
    const { json } = await send('POST', '/v1/console/codes', { headers: byKey(key) });
    expect(json.path).toBe(`/login#code=${json.code}`);
    const asked = { headers: SAME, body: { code: json.code } };
    const answers = await Promise.all([send('POST', SESSION, asked), send('POST', SESSION, asked)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    const { cookie } = answers.find(({ status }) => status === 200)!;
    const headers = { ...SAME, cookie: cookie!.split(';')[0]! };
    expect((await send('GET', SESSION, { headers })).json).toMatchObject({
      key: { description: 'reader' },
      scopes: ['read'],
    });
    expect((await send('POST', '/v1/probe', { headers })).status).toBe(403);
  });

  it('takes no code after ten minutes, nor one of a key that was revoked', async () => {
    const { id, key } = await newKey({ description: 'doomed' });
    const code = async () => (await send('POST', '/v1/console/codes', { headers: byKey(key) })).json.code as string;
    const [late, orphan] = [await code(), await code()];
    advance(10 * 60_000 + 1);
    expect((await send('POST', SESSION, { headers: SAME, body: { code: late } })).status).toBe(401);
    jest.restoreAllMocks();
    await send('DELETE', `/api/v1/api-key/${id}`, { headers: byKey() });
    expect((await send('POST', SESSION, { headers: SAME, body: { code: orphan } })).status).toBe(401);
  });
});

describe('A session of the console', () => {
  it('may do what its key may, but for reading secrets and tokens', async () => {
    const headers = await signIn();
    expect((await send('GET', '/v1/probe', { headers })).json).toMatchObject({
      tenantId: DEFAULT_TENANT.id,
      scopes: ['admin', 'invoke', 'read', 'write'],
      operator: true,
    });
    expect((await send('POST', '/v1/probe', { headers })).status).toBe(201);
  });

  it('may read one value that is asked for by itself, when its key may', async () => {
    const headers = await signIn();
    const { key } = await newKey({ scopes: ['admin'] });
    const without = await signIn({ api_key: key });
    const statuses = async (path: string) =>
      Promise.all([headers, without].map(async (of) => (await send('POST', path, { headers: of })).status));
    expect(await statuses('/v1/probe/values')).toEqual([403, 403]);
    expect(await statuses('/v1/probe/values/one')).toEqual([201, 403]);
    const reveals = async (of: typeof headers) => (await send('GET', SESSION, { headers: of })).json.reveals_secrets;
    expect([await reveals(headers), await reveals(without)]).toEqual([true, false]);
  });

  it('gives way to a key in a header', async () => {
    const { key } = await newKey({ scopes: ['read'] });
    const headers = { ...(await signIn()), ...byKey(key) };
    expect((await send('GET', '/v1/probe', { headers })).json.scopes).toEqual(['read']);
    expect((await send('GET', '/v1/probe', { headers: { ...headers, ...byKey('wrong') } })).status).toBe(401);
  });

  it('does not reach the programs of deployments, but what the console itself does with them', async () => {
    const headers = await signIn();
    expect((await send('POST', '/v1/probe/program', { headers })).status).toBe(401);
    expect((await send('POST', '/v1/probe/program', { headers: byKey() })).status).toBe(201);
    expect((await send('POST', '/v1/probe/program/link', { headers })).status).toBe(201);
    const { key } = await newKey({ scopes: ['read'] });
    const reader = await signIn({ api_key: key });
    expect((await send('POST', '/v1/probe/program/link', { headers: reader })).status).toBe(403);
  });

  it('lets no other site act: the request must come from its own pages', async () => {
    const { cookie } = await signIn();
    const status = async (method: 'GET' | 'POST', headers: Record<string, string>) =>
      (await send(method, '/v1/probe', { headers: { cookie: cookie!, ...headers } })).status;
    for (const site of ['cross-site', 'same-site', '']) {
      expect([site, await status('POST', { 'sec-fetch-site': site })]).toEqual([site, 403]);
      expect([site, await status('GET', { 'sec-fetch-site': site })]).toEqual([site, 403]);
    }
    expect(await status('POST', {})).toBe(403);
    expect(await status('POST', { 'sec-fetch-site': 'none' })).toBe(403);
    expect(await status('GET', { 'sec-fetch-site': 'none' })).toBe(200);
    expect(await status('POST', { origin: `http://${HOST}` })).toBe(201);
    expect(await status('POST', { origin: 'http://console.example:4601' })).toBe(403);
    expect(await status('POST', { origin: 'null' })).toBe(403);
    const foreign = { headers: { 'sec-fetch-site': 'cross-site' }, body: { api_key: ADMIN } };
    expect((await send('POST', SESSION, foreign)).status).toBe(403);
  });

  it('ends when one signs out, here and in other processes', async () => {
    const process2 = await startProcess();
    const headers = await signIn();
    expect((await send('GET', '/v1/probe', { headers, app: process2.app })).status).toBe(200);
    const { status, cookie } = await send('DELETE', SESSION, { headers, app: process2.app });
    expect([status, cookie]).toEqual([204, 'fairlead-4600=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict']);
    expect((await send('GET', '/v1/probe', { headers, app: process2.app })).status).toBe(401);
    for (let code = 200; code !== 401;) code = (await send('GET', '/v1/probe', { headers })).status;
    expect((await send('DELETE', SESSION, { headers: byKey() })).status).toBe(400);
  });

  it('ends with its key', async () => {
    const { id, key } = await newKey({ description: 'short-lived' });
    const headers = await signIn({ api_key: key });
    expect((await send('GET', '/v1/probe', { headers })).status).toBe(200);
    await send('DELETE', `/api/v1/api-key/${id}`, { headers: byKey() });
    expect((await send('GET', '/v1/probe', { headers })).status).toBe(401);
  });

  it('ends after 12 hours without use, and after 7 days however much it is used', async () => {
    const headers = await signIn();
    const idle = await signIn();
    const uses = async (hours: number) => {
      advance(hours * 3_600_000);
      return (await send('GET', '/v1/probe', { headers })).status;
    };
    // The database's clock dates the uses, so only what is computed from them here goes by the other clock.
    expect(await uses(11)).toBe(200);
    expect(await uses(7 * 24 + 1)).toBe(401);
    advance(12.1 * 3_600_000);
    expect((await send('GET', '/v1/probe', { headers: idle })).status).toBe(401);
    jest.restoreAllMocks();
  });

  it('is not used by what a page sends by itself', async () => {
    const [left, used] = [await signIn(), await signIn()];
    const usedAt = async (headers: Record<string, string>) => {
      const { json } = await send('GET', '/v1/console/sessions', { headers: { ...headers, 'x-unattended': 'true' } });
      return (json as { current: boolean; used_at: string }[]).find(({ current }) => current)!.used_at;
    };
    const [leftBefore, usedBefore] = [await usedAt(left), await usedAt(used)];
    advance(3_600_000);
    expect((await send('GET', '/v1/probe', { headers: { ...left, 'x-unattended': 'true' } })).status).toBe(200);
    expect((await send('GET', '/v1/probe', { headers: used })).status).toBe(200);
    // Uses are recorded in their order.
    while ((await usedAt(used)) === usedBefore);
    expect(await usedAt(left)).toBe(leftBefore);
    jest.restoreAllMocks();
  });

  it('is listed and can be ended by who manages its key, and by nobody else', async () => {
    const { key } = await newKey({ scopes: ['admin'], description: 'lister' });
    const { json: tenant } = await send('POST', '/api/v1/workspaces', {
      headers: byKey(),
      body: { display_name: 'Other' },
    });
    const other = { headers: { ...byKey(), 'x-tenant-id': tenant.id }, body: { scopes: ['admin'] } };
    const { json: stranger } = await send('POST', '/api/v1/api-key', other);
    const headers = await signIn({ api_key: key });
    const list = async (by: Record<string, string>) =>
      (await send('GET', '/v1/console/sessions', { headers: by })).json;
    const [mine] = (await list(headers)).filter(({ current }: { current: boolean }) => current);
    expect(mine).toMatchObject({
      key: { description: 'lister' },
      workspace_id: DEFAULT_TENANT.id,
      address: '127.0.0.1',
    });
    expect(await list(byKey(stranger.key))).toEqual([]);
    const path = `/v1/console/sessions/${mine.id}`;
    expect(await send('DELETE', path, { headers: byKey(stranger.key) })).toMatchObject({
      status: 404,
      json: { detail: `Console session ID ${mine.id} not found.` },
    });
    expect((await send('DELETE', path, { headers: byKey() })).status).toBe(204);
    expect((await send('GET', SESSION, { headers })).status).toBe(401);
    expect((await send('DELETE', path, { headers: byKey() })).status).toBe(404);
  });

  it('is not missing from the list where its key is not shown yet', async () => {
    const writes = await database.pool.connect();
    try {
      await writes.query('begin');
      await writes.query('lock table api_keys in share mode');
      const { key } = await newKey({ scopes: ['admin'] });
      const headers = await signIn({ api_key: key });
      const list = () => send('GET', '/v1/console/sessions', { headers });
      expect((await list()).status).toBe(503);
      await writes.query('commit');
      const current = expect.arrayContaining([expect.objectContaining({ current: true })]);
      expect(await list()).toMatchObject({ status: 200, json: current });
    } finally {
      await writes.query('rollback');
      writes.release();
    }
  });

  it('is one of fifty of its key at most: the oldest ends', async () => {
    const { key } = await newKey({ scopes: ['read'] });
    const first = await signIn({ api_key: key });
    for (let n = 0; n < 49; n++) await signIn({ api_key: key });
    expect((await send('GET', '/v1/probe', { headers: first })).status).toBe(200);
    await signIn({ api_key: key });
    expect((await send('GET', '/v1/probe', { headers: first })).status).toBe(401);
  });

  it('makes no link that would open another one', async () => {
    const { status, json } = await send('POST', '/v1/console/codes', { headers: await signIn() });
    expect({ status, json }).toMatchObject({ status: 403, json: { detail: expect.stringContaining('with a key') } });
  });

  it('is one of fifty also when many are opened at the same time', async () => {
    const { key } = await newKey({ scopes: ['read'] });
    const all = await Promise.all(Array.from({ length: 70 }, () => signIn({ api_key: key })));
    const statuses = await Promise.all(
      all.map(async (headers) => (await send('GET', '/v1/probe', { headers })).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(50);
  });

  it('keeps neither its token nor a code where it is stored', async () => {
    const headers = await signIn();
    const { code } = (await send('POST', '/v1/console/codes', { headers: byKey() })).json;
    const { rows } = await database.pool.query<{ text: string }>(
      `select data::text as text from events union all select row_to_json(s)::text from console_sessions s`,
    );
    const kept = rows.map(({ text }) => text).join();
    expect(kept).not.toContain(headers.cookie!.split('=')[1]!);
    expect(kept).not.toContain(code);
  });
});
