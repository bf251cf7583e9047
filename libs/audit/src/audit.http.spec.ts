import {
  EventingModule,
  eventingMigrations,
  Followers,
  LogSeals,
  parseMasterKeys,
  PostgresEventStore,
  streamName,
  Vault,
} from '@fairlead/eventing';
import { Access, type Actor, createServer, metadataOf, type Scope, Unauthorized } from '@fairlead/http';
import { testDatabase, type TestDatabase } from '@fairlead/postgres/testing';
import { Controller, Module, Post, Req } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { AuditModule, auditMigrations, RefusalBook } from '.';

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
@Controller('/v1/things/:id')
class Things {
  @Post(':type')
  @Access('write')
  async happen(@Req() request: FastifyRequest) {
    const { id, type } = request.params as { id: string; type: string };
    const events = [
      { type, data: {} },
      { type: 'ThingCounted', data: {} },
    ];
    await store.append(streamName('thing', id), 'any', events, metadataOf(request));
    return {};
  }
}

beforeAll(async () => {
  database = await testDatabase([...eventingMigrations, ...auditMigrations]);
  const { db, pool } = database;
  store = new PostgresEventStore(pool);
  const vault = new Vault(pool, parseMasterKeys('11'.repeat(32), 'the test'));
  @Module({ imports: [EventingModule.with({ store, db, pool, vault }), AuditModule], controllers: [Things] })
  class TestModule {}
  app = await createServer(TestModule, {
    logger: pino({ level: 'silent' }),
    authenticate: async (request) => {
      const known = KEYS[String(request.headers['x-api-key'])];
      if (!known) throw new Unauthorized();
      return known;
    },
    refused: (request) => app.get(RefusalBook).add(request),
  });
  await app.getHttpAdapter().getInstance().ready();
});
afterAll(async () => {
  await app.close();
  await store.close();
  await database.drop();
});
beforeEach(async () => {
  await app.get(RefusalBook).flush();
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
  expect(await app.get(Followers).passed(await store.head(), ['audit.log'], 10_000)).toBe(true);
  await app.get(RefusalBook).flush();
  const { status, json } = await send('GET', `/api/v1/audit-logs${search}`, as);
  expect({ status, json: status === 200 ? undefined : json }).toEqual({ status: 200, json: undefined });
  return json;
}

describe('GET /audit-logs', () => {
  it('tells who did what to which thing, in which request, from where and why, once per request', async () => {
    const { headers } = await send('POST', '/v1/things/t1/ThingCreated?token=secret', 'admin', {
      'x-reason': 'needed',
    });
    const { items, cursor } = await logs();
    expect(cursor).toBeNull();
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      class_uid: 6003,
      type_uid: 600301,
      status: 'Success',
      api: { operation: 'create_thing' },
      http_request: { uid: headers['x-request-id'], http_method: 'POST', url: { path: '/v1/things/t1/ThingCreated' } },
      actor: { user: { credential_uid: KEYS.admin!.keyId } },
      src_endpoint: { ip: '127.0.0.1' },
      resources: [{ uid: 't1', type: 'thing' }],
      unmapped: { original_audit_log: { operation_succeeded: true, enrichments: { reason: 'needed' } } },
    });
    expect(JSON.stringify(items)).not.toContain('secret');
  });

  it('tells refused attempts, counted', async () => {
    for (let n = 0; n < 3; n++) expect((await send('POST', '/v1/things/t1/ThingCreated', 'reader')).status).toBe(403);
    const { items } = await logs();
    expect(items).toMatchObject([
      {
        status: 'Failure',
        count: 3,
        api: { operation: 'refused_request' },
        http_request: { http_method: 'POST', url: { path: '/v1/things/:id/:type' } },
        http_response: { code: 403 },
        actor: { user: { credential_uid: KEYS.reader!.keyId } },
        resources: [],
      },
    ]);
  });

  it('sums a flood without a key into a row for each minute', async () => {
    for (let n = 0; n < 300; n++) await send('GET', `/api/v1/audit-logs?n=${n}`, `wrong-${n % 20}`);
    await app.get(RefusalBook).flush();
    for (let n = 0; n < 20; n++) await send('POST', `/v1/things/t${n}/ThingCreated`, 'nobody');
    await app.get(RefusalBook).flush();
    const { rows } = await database.pool.query(
      'select count(*)::int as rows, sum(count)::int as refusals from refused_requests',
    );
    expect(rows[0].refusals).toBe(320);
    expect(rows[0].rows).toBeLessThanOrEqual(2);
  });

  it('tells attempts without a key to the operator only', async () => {
    expect((await send('GET', '/api/v1/audit-logs', 'nobody')).status).toBe(401);
    expect((await logs()).items).toEqual([]);
    const { items } = await logs('', 'operator');
    expect(items).toMatchObject([{ http_response: { code: 401 }, actor: { user: { credential_uid: null } } }]);
  });

  it('is empty for another tenant, which cannot ask for this one either', async () => {
    await send('POST', '/v1/things/t1/ThingCreated');
    expect((await logs('', 'stranger')).items).toEqual([]);
    expect((await send('GET', `/api/v1/audit-logs?workspace_id=${TENANT}`, 'stranger')).status).toBe(403);
    expect((await send('GET', '/api/v1/audit-logs', 'reader')).status).toBe(403);
  });

  it('pages through everything without missing or repeating, refused attempts in between', async () => {
    for (let n = 0; n < 7; n++) {
      await send('POST', `/v1/things/t${n}/ThingCreated`);
      await send('POST', `/v1/things/t${n}/ThingCreated`, 'reader');
      await app.get(RefusalBook).flush();
    }
    const times: number[] = [];
    let cursor: string | null = '';
    for (let pages = 0; cursor !== null && pages < 10; pages++) {
      const page: Awaited<ReturnType<typeof logs>> = await logs(`?limit=4${cursor && `&cursor=${cursor}`}`);
      expect(page.items.length).toBeLessThanOrEqual(4);
      times.push(...page.items.map(({ time }) => time));
      cursor = page.cursor;
    }
    // The refused ones are alike, and so one entry for each minute.
    expect(times.length).toBeGreaterThanOrEqual(8);
    expect(times.length).toBeLessThanOrEqual(9);
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });

  it('is filtered by operation, actor, thing, request, outcome and time', async () => {
    const { headers } = await send('POST', '/v1/things/t1/ThingCreated');
    await send('POST', '/v1/things/t2/ThingRemoved', 'operator');
    await send('POST', '/v1/things/t3/ThingRemoved', 'reader');
    const operations = async (search: string) => (await logs(search)).items.map(({ api }) => api.operation);
    expect(await operations('?operations=delete_thing&operations=other')).toEqual(['delete_thing']);
    expect(await operations(`?actor=${KEYS.operator!.keyId}`)).toEqual(['delete_thing']);
    expect(await operations('?resource_id=t1')).toEqual(['create_thing']);
    expect(await operations(`?request_id=${String(headers['x-request-id'])}`)).toEqual(['create_thing']);
    expect(await operations('?outcome=refused')).toEqual(['refused_request']);
    expect((await operations('?outcome=success')).sort()).toEqual(['create_thing', 'delete_thing']);
    expect(await operations('?end_time=2020-01-01T00:00:00Z')).toEqual([]);
    expect(await operations('?start_time=2020-01-01T00:00:00Z')).toHaveLength(3);
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
  await send('POST', '/v1/things/t1/ThingCreated');
  expect(await app.get(Followers).passed(await store.head(), ['log.seals'], 10_000)).toBe(true);
  const seal = await app.get(LogSeals).sealNow();
  const { json } = await send('GET', '/v1/audit/keys', 'nobody');
  expect(json.keys).toEqual([expect.objectContaining({ kid: seal!.key_id, kty: 'OKP', crv: 'Ed25519' })]);
  expect(JSON.stringify(json)).not.toContain('"d"');
});
