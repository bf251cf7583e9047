import { Scope } from '@fairlead/api';
import { createServer } from '@fairlead/edge';
import { Unauthorized, Unavailable } from '@fairlead/schema';
import { Controller, Get, Module, Query, Req } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { SearchController } from './search.controller';

const id = (place: number) => `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`;
const DATASET = id(1);
const named = (first: number, ...names: string[]) => names.map((name, place) => ({ id: id(first + place), name }));
const DATASETS = [{ id: DATASET, name: 'Support' }, ...named(10, 'support questions', 'more support')];
const SESSIONS = named(20, 'support', 'support 2').map((one) => ({ ...one, reference_dataset_id: DATASET }));
const DEPLOYMENTS = named(30, 'support-agent');

/** Requests that reached the lists. */
let asked: { path: string; workspace: string; requestId: string }[];
let isBroken = false;

@Controller()
class Lists {
  @Get(['api/v1/datasets', 'api/v1/sessions', 'v2/deployments'])
  @Scope('read')
  list(@Req() request: FastifyRequest, @Query() query: Record<string, string>) {
    const [path = ''] = request.url.split('?');
    asked.push({ path, workspace: request.actor.tenantId, requestId: request.id });
    if (isBroken && path === '/v2/deployments') throw new Unavailable();
    if (path === '/v2/deployments') return { resources: matching(DEPLOYMENTS, query), offset: 0 };
    return matching(path === '/api/v1/datasets' ? DATASETS : SESSIONS, query);
  }
}

function matching(things: readonly { name: string }[], { name, name_contains: part = '' }: Record<string, string>) {
  return things.filter((one) => (name === undefined || one.name === name) && one.name.toLowerCase().includes(part));
}

@Module({ controllers: [Lists, SearchController] })
class SearchModule {}

let app: NestFastifyApplication;
beforeAll(async () => {
  app = await createServer(SearchModule, {
    logger: pino({ level: 'silent' }),
    authenticate({ headers }) {
      const { cookie, 'x-api-key': key = cookie } = headers;
      if (key === undefined) return Promise.reject(new Unauthorized());
      const tenantId = `workspace of ${String(key)}`;
      return Promise.resolve({ keyId: 'k', tenantId, organizationId: 'o', scopes: new Set(['read' as const]) });
    },
  });
});
afterAll(() => app.close());
beforeEach(() => {
  asked = [];
  isBroken = false;
});

const search = async (q: string, headers: Record<string, string> = { 'x-api-key': 'a' }) => {
  const answer = await app.inject({ method: 'GET', url: '/v1/search', query: { q }, headers });
  return { status: answer.statusCode, headers: answer.headers, json: answer.json<{ resources: { name: string }[] }>() };
};

it('finds things of every kind, those of exactly this name first', async () => {
  const { status, json } = await search('support');
  expect({ status, ...json }).toEqual({
    status: 200,
    resources: [
      { kind: 'dataset', id: DATASET, name: 'Support', dataset_id: null },
      { kind: 'experiment', id: id(20), name: 'support', dataset_id: DATASET },
      { kind: 'deployment', id: id(30), name: 'support-agent', dataset_id: null },
      { kind: 'dataset', id: id(10), name: 'support questions', dataset_id: null },
      { kind: 'experiment', id: id(21), name: 'support 2', dataset_id: DATASET },
      { kind: 'dataset', id: id(11), name: 'more support', dataset_id: null },
    ],
  });
  expect((await search('nothing of the kind')).json).toEqual({ resources: [] });
});

it('asks the lists on behalf of the sender, by key or by cookie', async () => {
  for (const headers of [{ 'x-api-key': 'b' }, { cookie: 'b' }] as Record<string, string>[]) {
    asked = [];
    const { headers: answered } = await search('support', headers);
    expect(asked.map(({ path }) => path).sort()).toEqual([
      ...['/api/v1/datasets', '/api/v1/datasets', '/api/v1/sessions', '/api/v1/sessions', '/v2/deployments'],
    ]);
    expect(new Set(asked.map(({ workspace }) => workspace))).toEqual(new Set(['workspace of b']));
    expect(new Set(asked.map(({ requestId }) => requestId))).toEqual(new Set([answered['x-request-id']]));
  }
});

it('is refused without a key, without a text, and while a list cannot be read', async () => {
  expect((await search('support', {})).status).toBe(401);
  for (const q of ['', 'x'.repeat(257)]) expect((await search(q)).status).toBe(422);
  isBroken = true;
  expect(await search('support')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
});
