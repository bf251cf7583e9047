import { isDeepStrictEqual } from 'node:util';
import * as api from '@fairlead/api';
import * as edge from '@fairlead/edge';
import { startApart, startTogether } from '@fairlead/service/testing';
import { type Headers, RouteService } from '../testing/route-service';
import { type Sent, Successes } from '../testing/fuzz/successes';

/** One process with every service, and a gateway before processes with one service each: no client can tell them apart. */

jest.mock('@fairlead/edge', () => {
  const actual = jest.requireActual<typeof edge>('@fairlead/edge');
  return { ...actual, createServer: jest.fn(actual.createServer) };
});

const MISSING = '019a0000-0000-7000-8000-000000000000';
const SETTINGS = {
  // Revisions stay under way: how far a rollout is would tell them apart.
  EXECUTOR: 'command',
  COMMAND_DEPLOY: `/bin/sh -c 'echo begun; sleep 600'`,
  REGISTRY_URL: 'https://registry.example',
  REGISTRY_TOKEN: 'a-registry-token',
};

/** Both, and what each of them holds. */
let together: Side;
let apart: Side;
/** Also one that could not be filled: it would go on beside the next test file of this process. */
const started: RouteService[] = [];

interface Side {
  readonly service: RouteService;
  readonly successes: Successes;
  readonly key: string;
}

async function side(start: typeof startApart): Promise<Side> {
  const service = await RouteService.start(jest.mocked(edge.createServer), 'a-token', SETTINGS, start);
  started.push(service);
  return { service, successes: await Successes.prepare(service, false), key: await service.newTenant('errors') };
}

beforeAll(async () => {
  together = await side(startTogether);
  apart = await side(startApart);
});
afterAll(() => Promise.all(started.map((service) => service.stop())));

/** Parts of a request or an answer that differ each time. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>'],
  // The name of an example begins with digits of its id.
  [/#[0-9a-f]{4} @/g, '#<id> @'],
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:[\d.]+(Z|\+00:00)?/g, '<time>'],
  [/\bfl_\w+/g, '<key>'],
  [/"time":\d{13}\b/g, '"time":"<time>"'],
  [/http:\/\/127\.0\.0\.1:\d+/g, '<url>'],
  [/"version":\d+/g, '"version":"<number>"'],
  // A delivery goes on by itself.
  [/"attempts":\[(\{.*?\})?\]/g, '"attempts":"<attempts>"'],
  [/"status":"\w+","attempt_count":\d+,"last_status":\w+/g, '"status":"<status>"'],
  [/"(next_attempt_at|finished_at)":(null|"<time>")/g, '"$1":"<time>"'],
  // A source archive holds the time at which it was packed, and is compressed.
  [/"stored_bytes":\{"used":\d+/g, '"stored_bytes":{"used":"<bytes>"'],
  [/whsec_[\w+/]{40,}=*/g, '<secret>'],
  // The digits that tell addresses apart have a key of their installation.
  [/(?<=\/\*{8})[0-9a-f]{8}/g, '<digits>'],
  [/\bexpires=\d{13}\b/g, 'expires=<time>'],
  [/(?<=signature=|"digest":"|"after":"|"before":")(?:[\w-]{12}\.)?[\w-]{22}(?=")/g, '<digest>'],
  [/(?<=#code=|"code":")[\w-]{32}(?=")/g, '<code>'],
  [/(?<![\w-])[\w-]{40,}(?![\w-])/g, '<digest or random text>'],
  [/"(latency|first_token|duration|ms|total_time|position|expires)\w*":"?[\d.]+"?/g, '"$1":"<number>"'],
];
const VARYING_HEADERS = new Set(['date', 'x-request-id', 'etag', 'content-length', 'ratelimit', 'last-modified']);
/** Headers that hold a state of their own each time. */
const RANDOM_HEADERS = new Set(['location', 'set-cookie']);

async function seen(response: Response) {
  const told = [...response.headers]
    .filter(([name]) => !VARYING_HEADERS.has(name))
    .map(([name, value]) => [name, RANDOM_HEADERS.has(name) ? '<random>' : value] as const);
  const blank = (text: string) => VARYING.reduce((rest, [pattern, name]) => rest.replaceAll(pattern, name), text);
  const headers = Object.fromEntries(told.map(([name, value]) => [name, blank(value)]));
  const text = await response.text();
  return { status: response.status, headers, text: text.startsWith(WHOLE_LOG) ? kindsOf(text) : inOrder(blank(text)) };
}

/** Beginning of an answer that has all events of a workspace, also those that tell how far its rollouts are. */
const WHOLE_LOG = '{"workspace":';

/** The members of the lines of a text, each kind of line once. */
function kindsOf(text: string): string {
  const lines = text.trimEnd().split('\n');
  return [...new Set(lines.map((line) => Object.keys(JSON.parse(line) as object).join()))].join('\n');
}

/** Things that began at the same time, or happen beside each other, come in any order. */
function inOrder(text: string): string {
  const sorted = (_: string, value: unknown): unknown =>
    Array.isArray(value) ? value.map((item) => JSON.stringify(item)).sort() : value;
  try {
    return JSON.stringify(JSON.parse(text, sorted));
  } catch {
    return text.split('\n').sort().join('\n');
  }
}

function send({ service }: Side, { route, path, key, body, headers }: Sent): Promise<Response> {
  return fetch(service.url + path, {
    method: route.method,
    headers: { 'x-api-key': key, ...headers },
    body,
    redirect: 'manual',
  });
}

/** Answers of both to a request that succeeds; a request that only reads is repeated while views still catch up. */
async function answers(route: api.Route, index: number) {
  const ask = async (where: Side) => seen(await send(where, where.successes.requestsTo(route)[index]!));
  const reads = route.method === 'GET' || route.scope === 'read';
  for (const deadline = Date.now() + 120_000; ; await new Promise((resolve) => setTimeout(resolve, 100))) {
    const [expected, received] = await Promise.all([ask(together), ask(apart)]);
    const same = JSON.stringify(expected) === JSON.stringify(received);
    if (same || !reads || Date.now() > deadline) return { expected, received };
  }
}

it('have the same routes and the same description of them', async () => {
  const named = ({ service }: Side) => service.table.map(({ method, path }) => `${method} ${path}`).sort();
  expect(named(apart)).toEqual(named(together));
  const documents = [together, apart].map(async ({ service }) => (await fetch(`${service.url}/openapi.json`)).json());
  expect(await documents[1]).toEqual(await documents[0]);
});

it('answer a request that succeeds alike, on every route', async () => {
  let compared = 0;
  const different: object[] = [];
  for (const route of together.successes.inOrder()) {
    const name = `${route.method} ${route.path}`;
    if (['GET /metrics', 'GET /openapi.json'].includes(name)) continue;
    for (const index of together.successes.requestsTo(route).keys()) {
      const { expected, received } = await answers(route, index);
      if (!isDeepStrictEqual(expected, received)) different.push({ name, index, expected, received });
      expect(received.status).toBeLessThan(500);
      compared++;
    }
  }
  expect(different).toEqual([]);
  expect(compared).toBeGreaterThan(100);
});

it('refuse a request alike, on every route', async () => {
  const different: object[] = [];
  let refused = 0;
  for (const { method, path } of together.service.table) {
    const target = path.replaceAll(/:\w+/g, MISSING);
    const refusals: readonly { key?: string; body?: string; headers?: Headers; query?: string }[] = [
      { key: 'wrong' },
      { body: method === 'GET' ? undefined : '{"name":1,"events":7,' },
      { body: method === 'GET' ? undefined : '[]', headers: { accept: 'application/problem+json' } },
      { query: '?limit=x&offset=-1&deployment_ids=x&session=x' },
    ];
    for (const { key, body, headers, query = '' } of refusals) {
      const ask = async ({ service, key: own }: Side) =>
        seen(
          await fetch(service.url + target + query, {
            method,
            headers: { 'x-api-key': key ?? own, 'content-type': 'application/json', ...headers },
            body,
          }),
        );
      const [expected, received] = [await ask(together), await ask(apart)];
      if (expected.status < 400 && received.status === expected.status) continue;
      const request = { method, path, key, body, headers, query };
      if (!isDeepStrictEqual(expected, received)) different.push({ ...request, expected, received });
      else refused++;
    }
  }
  expect(different).toEqual([]);
  expect(refused).toBeGreaterThan(200);
});

it('answer alike what is no request to a route', async () => {
  const requests: readonly [string, string, Headers?][] = [
    ['PUT', '/v2/deployments'],
    ['GET', '/v2/nothing'],
    ['GET', '/v2/nothing', { accept: 'application/problem+json' }],
    ['OPTIONS', '/v2/deployments'],
    ['HEAD', '/v2/deployments'],
    ['GET', '/v2/deployments/%ff'],
    ['GET', '//v2//deployments'],
    ['GET', '/api-host/v2/deployments'],
  ];
  for (const [method, path, headers = {}] of requests) {
    const ask = async ({ service, key }: Side) => seen(await service.request(method, path, key, undefined, headers));
    expect({ method, path, ...(await ask(apart)) }).toEqual({ method, path, ...(await ask(together)) });
  }
});
