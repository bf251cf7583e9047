import {
  EventingModule,
  eventingMigrations,
  follow,
  Followers,
  LogSeals,
  parseMasterKeys,
  PostgresEventStore,
  streamName,
  Vault,
} from '@fairlead/eventing';
import { type Actor, CommandContext, Context, Scope } from '@fairlead/api';
import { createServer } from '@fairlead/edge';
import { Unauthorized } from '@fairlead/schema';
import { testDatabase, type TestDatabase } from '@fairlead/postgres/testing';
import { Controller, Module, Param, Post } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import fc from 'fast-check';
import { pino } from 'pino';
import { AuditModule, auditMigrations, RejectedRequestsStore } from '.';
import { auditView } from './audit.projection';

type RecordOf<T> = T extends fc.Arbitrary<infer Value> ? Value : never;

const TENANT = '00000000-0000-4000-8000-00000000000a';
const OTHER = '00000000-0000-4000-8000-00000000000b';
const actor = (keyId: string, tenantId: string, scope: Scope, operator?: true): Actor => ({
  keyId,
  tenantId,
  organizationId: tenantId,
  scopes: new Set([scope]),
  operator,
});
const KEYS: Readonly<Record<string, Actor>> = {
  admin: actor('00000000-0000-4000-8000-000000000001', TENANT, 'admin'),
  reader: actor('00000000-0000-4000-8000-000000000002', TENANT, 'read'),
  stranger: actor('00000000-0000-4000-8000-000000000003', OTHER, 'admin'),
  operator: actor('00000000-0000-4000-8000-000000000004', TENANT, 'admin', true),
};

let database: TestDatabase;
let store: PostgresEventStore;
let app: NestFastifyApplication;

/** Stands for any part of the service that writes events. */
@Controller('/v2/things/:id')
class Things {
  @Post(':type')
  @Scope('write')
  async happen(@Context() { metadata }: CommandContext, @Param() { id, type }: { id: string; type: string }) {
    const events = [
      { type, data: {} },
      { type: 'ThingCounted', data: {} },
    ];
    await store.append(streamName('thing', id), 'any', events, metadata);
    return {};
  }
}

beforeAll(async () => {
  database = await testDatabase([...eventingMigrations, ...auditMigrations]);
  const { db, pool } = database;
  store = new PostgresEventStore(pool);
  const vault = new Vault(pool, parseMasterKeys('11'.repeat(32), 'the test'));
  @Module({
    imports: [EventingModule.forRoot({ store, db, pool, vault }), AuditModule.register()],
    controllers: [Things],
  })
  class TestModule {}
  app = await createServer(TestModule, {
    logger: pino({ level: 'silent' }),
    authenticate: async (request) => {
      const known = KEYS[String(request.headers['x-api-key'])];
      if (!known) throw new Unauthorized();
      return known;
    },
    refused: (request) => app.get(RejectedRequestsStore).add(request),
  });
  await app.getHttpAdapter().getInstance().ready();
});
afterAll(async () => {
  await app.close();
  await store.close();
  await database.drop();
});
/** The current minute since 1970: requests of one kind within it are counted in one row. */
const minute = () => Math.floor(Date.now() / 60_000);

beforeEach(async () => {
  await app.get(RejectedRequestsStore).flush();
  await database.pool.query('truncate audit_log, refused_requests');
});

interface Item {
  time: number;
  status: string;
  count: number;
  api: { operation: string };
  http_request: { http_method: string; url: { path: string }; uid: string };
  http_response: { code: number | null };
  actor: { user: { credential_uid: string | null } };
  src_endpoint: { ip: string };
  resources: { uid: string; type: string }[];
  unmapped: { original_audit_log: { enrichments: { reason: string | null } } };
}

async function send(method: 'GET' | 'POST', url: string, as = 'admin', headers: Record<string, string> = {}) {
  const answer = await app.inject({ method, url, headers: { 'x-api-key': as, ...headers } });
  return { status: answer.statusCode, json: JSON.parse(answer.payload), headers: answer.headers };
}

async function logs(search = '', as = 'admin'): Promise<{ items: Item[]; cursor: string | null }> {
  expect(await app.get(Followers).passed(await store.head(), ['audit.log'], 60_000)).toBe(true);
  await app.get(RejectedRequestsStore).flush();
  const { status, json } = await send('GET', `/api/v1/audit-logs${search}`, as);
  expect({ status, json: status === 200 ? undefined : json }).toEqual({ status: 200, json: undefined });
  return json;
}

describe('GET /audit-logs', () => {
  it('tells who did what to which thing, in which request, from where and why, once per event', async () => {
    const { headers } = await send('POST', '/v2/things/t1/ThingCreated?token=secret', 'admin', {
      'x-reason': 'needed',
    });
    const { items, cursor } = await logs();
    expect(cursor).toBeNull();
    expect(items.map(({ api }) => api.operation).sort()).toEqual(['create_thing', 'thing_counted']);
    expect(items.find(({ api }) => api.operation === 'create_thing')).toMatchObject({
      class_uid: 6003,
      type_uid: 600301,
      status: 'Success',
      api: { operation: 'create_thing' },
      http_request: { uid: headers['x-request-id'], http_method: 'POST', url: { path: '/v2/things/t1/ThingCreated' } },
      actor: { user: { credential_uid: KEYS.admin!.keyId } },
      src_endpoint: { ip: '127.0.0.1' },
      resources: [{ uid: 't1', type: 'thing' }],
      unmapped: { original_audit_log: { operation_succeeded: true, enrichments: { reason: 'needed' } } },
    });
    expect(JSON.stringify(items)).not.toContain('secret');
  });

  it('names the key that did it', async () => {
    const named = { type: 'ApiKeyCreated', data: { description: 'release pipeline' } };
    await store.append(streamName('apiKey', KEYS.operator!.keyId), 'any', [named], {});
    await send('POST', '/v2/things/t1/ThingCreated', 'operator');
    const { items } = await logs('?operations=create_thing');
    expect(items).toMatchObject([
      { actor: { user: { name: 'release pipeline', credential_uid: KEYS.operator!.keyId } } },
    ]);
  });

  it('shows every change although their requests bear the same ids', async () => {
    const same = {
      'x-request-id': 'r-1',
      'idempotency-key': 'k-1',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    };
    await send('POST', '/v2/things/t1/ThingCreated', 'admin', same);
    await send('POST', '/v2/things/t1/ThingChanged', 'admin', same);
    await send('POST', '/v2/things/t1/ThingChanged', 'operator', same);
    const { items } = await logs('?request_id=r-1&operations=create_thing,update_thing');
    expect(items.map(({ api, actor }) => [api.operation, actor.user.credential_uid]).sort()).toEqual([
      ['create_thing', KEYS.admin!.keyId],
      ['update_thing', KEYS.admin!.keyId],
      ['update_thing', KEYS.operator!.keyId],
    ]);
  });

  it('has every event of the log exactly once, whatever clients put into their requests', async () => {
    const few = (...values: string[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
    const given = fc.record({
      id: fc.constantFrom('a', 'b', 'b-c'),
      category: fc.constantFrom('thing', 'other'),
      types: fc.array(fc.constantFrom('ThingCreated', 'ThingChanged', 'constructor'), { minLength: 1, maxLength: 4 }),
      requestId: few('r', 'r:1'),
      causationId: few('k', 'k2'),
      traceparent: few('00-1', '00-2'),
      reason: few('same', ''),
      address: few('192.0.2.1'),
      tenant: fc.constantFrom(TENANT, OTHER),
    });
    const append = async ({ id, category, types, ...metadata }: RecordOf<typeof given>) => {
      const events = types.map((type) => ({ type, data: {} }));
      await store.append(streamName(category, id), 'any', events, { ...metadata, actor: KEYS.admin!.keyId });
    };
    await fc.assert(
      fc.asyncProperty(fc.array(given, { minLength: 2, maxLength: 20 }), async (requests) => {
        await database.pool.query('truncate audit_log');
        const before = await store.head();
        for (const request of requests) await append(request);
        expect(await app.get(Followers).passed(await store.head(), ['audit.log'], 60_000)).toBe(true);
        const { rows: events } = await database.pool.query<{ id: string }>(
          'select id from events where "position" > $1 order by id',
          [String(before)],
        );
        const { rows } = await database.pool.query<{ id: string }>('select id from audit_log order by id');
        expect(rows).toEqual(events);
      }),
      { numRuns: 10 },
    );
  });

  it('shows what was hidden before its rows were told apart by event', async () => {
    const [tables, byEvent] = auditMigrations;
    const earlier = await testDatabase([...eventingMigrations, tables!]);
    try {
      const log = new PostgresEventStore(earlier.pool);
      const metadata = { tenant: TENANT, actor: KEYS.admin!.keyId, requestId: 'r-1' };
      for (const type of ['ThingCreated', 'ThingChanged']) {
        await log.append('thing-1', 'any', [{ type, data: {} }], metadata);
      }
      // What the former version had kept of the two.
      const [first] = await log.read('thing-1');
      const kept = async () =>
        (await earlier.pool.query('select operation from audit_log order by operation')).rows as object[];
      await earlier.pool.query(
        `insert into audit_log (id, tenant_id, "time", operation, actor, resource, resource_id, request_id)
         values ($1, $2, now(), 'create_thing', 'a', 'thing', '1', 'r-1')`,
        [first!.id, TENANT],
      );
      await earlier.pool.query(`insert into checkpoints (name, "position") values ('audit.log', $1)`, [
        String(await log.head()),
      ]);
      const runner = earlier.db.createQueryRunner();
      await new byEvent!().up(runner);
      await runner.release();
      const following = new AbortController();
      const passed = (position: bigint) => void (position >= 2n && following.abort());
      await follow('audit.log', log, earlier.pool, following.signal, auditView.handle, { passed });
      expect(await kept()).toEqual([{ operation: 'create_thing' }, { operation: 'update_thing' }]);
      await log.close();
    } finally {
      await earlier.drop();
    }
  });

  it('tells refused attempts, counted', async () => {
    const first = minute();
    for (let n = 0; n < 3; n++) expect((await send('POST', '/v2/things/t1/ThingCreated', 'reader')).status).toBe(403);
    const { items } = await logs();
    expect(items.length).toBeLessThanOrEqual(minute() - first + 1);
    expect(items.reduce((sum, { count }) => sum + count, 0)).toBe(3);
    for (const item of items)
      expect(item).toMatchObject({
        status: 'Failure',
        api: { operation: 'refused_request' },
        http_request: { http_method: 'POST', url: { path: '/v2/things/:id/:type' } },
        http_response: { code: 403 },
        actor: { user: { credential_uid: KEYS.reader!.keyId } },
        resources: [],
      });
  });

  it('sums a flood without a key into a row for each minute', async () => {
    const first = minute();
    for (let n = 0; n < 300; n++) await send('GET', `/api/v1/audit-logs?n=${n}`, `wrong-${n % 20}`);
    await app.get(RejectedRequestsStore).flush();
    for (let n = 0; n < 20; n++) await send('POST', `/v2/things/t${n}/ThingCreated`, 'nobody');
    await app.get(RejectedRequestsStore).flush();
    const { rows } = await database.pool.query(
      'select count(*)::int as rows, sum(count)::int as rejected from refused_requests',
    );
    expect(rows[0].rejected).toBe(320);
    expect(rows[0].rows).toBeLessThanOrEqual(minute() - first + 1);
  });

  it('tells attempts without a key to the operator only', async () => {
    expect((await send('GET', '/api/v1/audit-logs', 'nobody')).status).toBe(401);
    expect((await logs()).items).toEqual([]);
    const { items } = await logs('', 'operator');
    expect(items).toMatchObject([{ http_response: { code: 401 }, actor: { user: { credential_uid: null } } }]);
  });

  it('is empty for another tenant, which cannot ask for this one either', async () => {
    await send('POST', '/v2/things/t1/ThingCreated');
    expect((await logs('', 'stranger')).items).toEqual([]);
    expect((await send('GET', `/api/v1/audit-logs?workspace_id=${TENANT}`, 'stranger')).status).toBe(403);
    expect((await send('GET', '/api/v1/audit-logs', 'reader')).status).toBe(403);
  });

  it('pages through everything without missing or repeating, refused attempts in between', async () => {
    const first = minute();
    for (let n = 0; n < 7; n++) {
      await send('POST', `/v2/things/t${n}/ThingCreated`);
      await send('POST', `/v2/things/t${n}/ThingCreated`, 'reader');
      await app.get(RejectedRequestsStore).flush();
    }
    const most = 14 + minute() - first + 1;
    const times: number[] = [];
    let cursor: string | null = '';
    for (let pages = 0; cursor !== null && pages < 20; pages++) {
      const page: Awaited<ReturnType<typeof logs>> = await logs(`?limit=4${cursor && `&cursor=${cursor}`}`);
      expect(page.items.length).toBeLessThanOrEqual(4);
      times.push(...page.items.map(({ time }) => time));
      cursor = page.cursor;
    }
    // The refused ones are alike, and so one entry for each minute.
    expect(times.length).toBeGreaterThanOrEqual(15);
    expect(times.length).toBeLessThanOrEqual(most);
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });

  it('is filtered by operation, actor, thing, request, outcome and time', async () => {
    const { headers } = await send('POST', '/v2/things/t1/ThingCreated');
    await send('POST', '/v2/things/t2/ThingRemoved', 'operator');
    await send('POST', '/v2/things/t3/ThingRemoved', 'reader');
    const operations = async (search: string) => (await logs(search)).items.map(({ api }) => api.operation);
    const created = ['create_thing', 'thing_counted'];
    const removed = ['delete_thing', 'thing_counted'];
    expect(await operations('?operations=delete_thing&operations=other')).toEqual(['delete_thing']);
    expect((await operations(`?actor=${KEYS.operator!.keyId}`)).sort()).toEqual(removed);
    expect((await operations('?resource_id=t1')).sort()).toEqual(created);
    expect((await operations(`?request_id=${String(headers['x-request-id'])}`)).sort()).toEqual(created);
    expect(await operations('?outcome=refused')).toEqual(['refused_request']);
    expect((await operations('?outcome=success')).sort()).toEqual([...created, ...removed].sort());
    expect(await operations('?end_time=2020-01-01T00:00:00Z')).toEqual([]);
    expect(await operations('?start_time=2020-01-01T00:00:00Z')).toHaveLength(5);
  });

  it.each(['limit=0', 'limit=101', 'start_time=yesterday', 'actor=me', 'outcome=maybe'])(
    'refuses %s',
    async (search) => {
      expect((await send('GET', `/api/v1/audit-logs?${search}`)).status).toBe(422);
    },
  );

  it('refuses a cursor of somebody else’s making', async () => {
    expect((await send('GET', '/api/v1/audit-logs?cursor=nonsense')).status).toBe(400);
  });
});

it('publishes the keys that the log is sealed with', async () => {
  await send('POST', '/v2/things/t1/ThingCreated');
  expect(await app.get(Followers).passed(await store.head(), ['log.seals'], 60_000)).toBe(true);
  const seal = await app.get(LogSeals).sealNow();
  const { json } = await send('GET', '/v1/audit/keys', 'nobody');
  expect(json.keys).toEqual([expect.objectContaining({ kid: seal!.key_id, kty: 'OKP', crv: 'Ed25519' })]);
  expect(JSON.stringify(json)).not.toContain('"d"');
});

describe('GET /v1/audit/export', () => {
  const exported = (as: string) => app.inject({ method: 'GET', url: '/v1/audit/export', headers: { 'x-api-key': as } });

  it('has the events of the workspace alone, for its admins', async () => {
    await send('POST', '/v2/things/t1/ThingCreated');
    await send('POST', '/v2/things/t2/ThingRemoved', 'stranger');
    const [own, others] = [await exported('admin'), await exported('stranger')];
    expect(own.headers['content-disposition']).toBe(`attachment; filename="workspace-${TENANT}.jsonl"`);
    const lines = (text: string) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
    for (const [{ payload }, tenant, other] of [
      [own, TENANT, OTHER],
      [others, OTHER, TENANT],
    ] as const) {
      const all = lines(payload);
      const events = all.filter(({ stream }) => stream !== undefined);
      expect(all[0]).toMatchObject({ workspace: tenant, position: String(await store.head()) });
      expect(all.at(-1).head).toMatchObject({ workspace: tenant, events: events.length, deleted_streams: 0 });
      expect(new Set(events.map(({ metadata }) => metadata.tenant))).toEqual(new Set([tenant]));
      expect(payload).not.toContain(other);
    }
    expect((await exported('reader')).statusCode).toBe(403);
    expect((await exported('nobody')).statusCode).toBe(401);
  });

  it('is made once at a time for a workspace, and again after it has ended', async () => {
    const both = await Promise.all([exported('admin'), exported('admin'), exported('stranger')]);
    expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([200, 200, 429]);
    expect(both.find(({ statusCode }) => statusCode === 429)!.headers['retry-after']).toBe('30');
    expect((await exported('admin')).statusCode).toBe(200);
  });

  it('takes no place for a request that asks for its headers only', async () => {
    for (let n = 0; n < 5; n++) {
      const head = await app.inject({ method: 'HEAD', url: '/v1/audit/export', headers: { 'x-api-key': 'admin' } });
      expect([head.statusCode, head.payload]).toEqual([200, '']);
      expect(head.headers['content-disposition']).toContain(TENANT);
    }
    expect((await exported('admin')).statusCode).toBe(200);
  });
});
