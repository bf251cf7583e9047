import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Route, routes } from '@fairlead/api';
import * as edge from '@fairlead/edge';
import { LogSeals } from '@fairlead/eventing';
import { EventStoreDbDouble } from '@fairlead/eventstoredb/testing';
import { type TestDatabase, testDatabase } from '@fairlead/postgres/testing';
import { OPERATOR, startTogether, type Whole } from '@fairlead/service/testing';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type Outside, startOutside } from '../testing/outside';
import { askUntil, type RouteService } from '../testing/route-service';
import { details, fillTenant, type Things } from '../testing/tenant-things';

jest.mock('@fairlead/edge', () => {
  const actual = jest.requireActual<typeof edge>('@fairlead/edge');
  return { ...actual, createServer: jest.fn(actual.createServer) };
});

const MISSING = '019a0000-0000-7000-8000-000000000000';
/** Categories of streams that stand beside a deployment or its revision: no request is about one of them alone. */
const BESIDE = new Set(['host', 'rollout', 'secretAccess', 'uploadedFeedback']);
const GONE = /^The history (\S+) was deleted in the event store\./;
/** A request that is not answered for so long hangs. */
const ANSWER_MS = 120_000;

let folder: string;
let database: TestDatabase;
let double: EventStoreDbDouble;
let outside: Outside;
let whole: Whole;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-deleted-'));
  database = await testDatabase([]);
  double = await EventStoreDbDouble.start();
  outside = await startOutside('a-token');
});
afterAll(async () => {
  await whole?.stop();
  outside?.stop();
  await double?.stop();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const lastCreated = () => jest.mocked(edge.createServer).mock.results.at(-1)!.value as Promise<NestFastifyApplication>;

async function start(): Promise<NestFastifyApplication> {
  whole = await startTogether({
    PORT: '0',
    DATABASE_URL: database.url,
    EVENTSTORE_URL: double.url,
    FAIRLEAD_DATA_DIR: folder,
    FAIRLEAD_API_KEY: OPERATOR,
    LOG_LEVEL: 'silent',
    OUTBOUND_ALLOW: '127.0.0.1',
    SEAL_EVERY_EVENTS: '100',
  });
  return lastCreated();
}

async function send(method: string, path: string, key: string, body?: object, headers: object = {}) {
  const answer = await fetch(whole.url + path, {
    method,
    headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  return { status: answer.status, text: await answer.text() };
}
async function ask<T>(...request: Parameters<RouteService['ask']>): Promise<T> {
  const { status, text } = await send(...request);
  if (status >= 300) throw new Error(`${request[0]} ${request[1]} answered ${status}: ${text}`);
  return JSON.parse(text) as T;
}
async function newTenant(name: string): Promise<string> {
  const { id } = await ask<{ id: string }>('POST', '/api/v1/workspaces', OPERATOR, { display_name: name });
  const body = { scopes: ['admin', 'secrets:read', 'tokens:read'], description: name };
  return (await ask<{ key: string }>('POST', '/api/v1/api-key', OPERATOR, body, { 'x-tenant-id': id })).key;
}
const fill = (key: string, name: string) => fillTenant({ ask, outside }, key, name);

/** Waits until the service says that it is ready; what it says is degraded. */
const ready = () =>
  askUntil(async () => {
    const { status, text } = await send('GET', '/health/ready', OPERATOR);
    return status === 200 ? text : undefined;
  });

/** Sends every request there is about a tenant's things; the histories that were named as deleted. */
async function sendAll(table: readonly Route[], key: string, things: Things, name: string): Promise<Set<string>> {
  const named = new Set<string>();
  const wrong: string[] = [];
  for (const { method, path } of table.toSorted(
    (a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'),
  )) {
    const { search = '', body } = details(things, name, { outside })[`${method} ${path}`] ?? {};
    const target = path.replaceAll(/:(\w+)/g, (_, parameter: string) => things.ids[parameter] ?? MISSING) + search;
    const bodied = ['GET', 'DELETE'].includes(method) ? undefined : (body ?? {});
    const { status, text } = await send(method, target, key, bodied).catch((error: Error) => {
      return { status: 0, text: error.message };
    });
    const gone = status === 409 && GONE.exec((JSON.parse(text) as { detail: string }).detail);
    if (gone) named.add(gone[1]!);
    if (status === 0 || status >= 500) wrong.push(`${method} ${path} answered ${status}: ${text.slice(0, 200)}`);
  }
  expect(wrong).toEqual([]);
  return named;
}

it('deleting a stream of any category by hand harms nobody else, while the service runs and when it starts again', async () => {
  const app = await start();
  const key = await newTenant('first');
  const things = await fill(key, 'first');
  await askUntil(() => app.get(LogSeals, { strict: false }).sealNow());
  const ids = new Set(Object.values(things.ids));
  const all = [...new Set(double.log.events.map(({ stream }) => stream))];
  const resources = all.filter((stream) => ids.has(stream.slice(stream.indexOf('-') + 1)));
  // The first stream of a category may be of the installation itself.
  const firsts = new Map(all.toReversed().map((stream) => [stream.split('-', 1)[0], stream]));
  for (const stream of new Set([...firsts.values(), ...resources])) double.log.tombstone(stream);

  const tenant = `tenant-${things.ids.workspace_id}`;
  const suspend = `/api/v1/workspaces/${things.ids.workspace_id}/suspend`;
  const asked = async (name: string) => {
    const other = await newTenant(`beside ${name}`);
    const table = routes(await lastCreated());
    const [named] = await Promise.all([sendAll(table, key, things, name), fill(other, `beside-${name}`)]);
    const unnamed = resources.filter((stream) => !named.has(stream) && !BESIDE.has(stream.split('-', 1)[0]!));
    expect(unnamed).toEqual([tenant]);
    expect(named).toContain('logKey-1');
    const refused = await send('POST', suspend, OPERATOR, undefined, { 'x-reason': 'they ask for it' });
    expect(refused).toEqual({ status: 409, text: expect.stringContaining(`The history ${tenant} was deleted`) });
    await ready();
  };
  await asked('running');
  await whole.stop();
  await start();
  await asked('restarted');
  // The log is not signed any more: the service says so, and is ready.
  const { status } = await askUntil(async () => {
    const answer = await send('GET', '/health/ready', OPERATOR);
    return answer.text.includes('log.seals is') ? answer : undefined;
  });
  expect(status).toBe(200);
});
