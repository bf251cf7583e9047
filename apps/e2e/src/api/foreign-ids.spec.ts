import * as edge from '@fairlead/edge';
import type { Route } from '@fairlead/api';
import { until } from '@fairlead/postgres/testing';
import { GrownBodies, type Growth } from '../testing/fuzz/grown-bodies';
import { FORM_TYPE, GROWN_FORMS } from '../testing/fuzz/grown-forms';
import { RouteService } from '../testing/route-service';
import { details, fillTenant, type Things } from '../testing/tenant-things';

jest.mock('@fairlead/edge', () => {
  const actual = jest.requireActual<typeof edge>('@fairlead/edge');
  return { ...actual, createServer: jest.fn(actual.createServer) };
});

/** Stands in every text of tenant A, so that no answer to tenant B may hold it. */
const MARK = 'belongs-to-tenant-a';
const MISSING = '019a0000-0000-7000-8000-000000000000';
const UUIDS = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const ID_NAME = /(^|_)ids?$/;
const MOST_LEVELS = 6;

interface Schema {
  readonly $ref?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}
interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema?: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> };
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}
type Place = { readonly in: 'query' | 'body'; readonly path: readonly string[]; readonly listed: boolean };

/**
 * Ids that a client may choose for what it makes: where another tenant has one of them the answer may be 409, and tells
 * no more than that. An example's id may also be in use in another dataset of the client's own.
 */
const CHOSEN = new Set([
  'POST /api/v1/datasets/upload-experiment dataset_id',
  'POST /api/v1/datasets/upload-experiment results.0.row_id',
  'POST /api/v1/datasets id',
  'POST /api/v1/datasets/comparative id',
  'POST /api/v1/examples id',
  'POST /api/v1/examples/bulk 0.id',
  'POST /api/v1/sessions id',
  'POST /api/v1/workspaces id',
  'POST /v2/auth/providers provider_id',
  'POST /v2/auth/providers/mcp-discover provider_id',
]);
/** Ids that each workspace may choose for what it makes, whoever else has them. */
const FREE = new Set([
  'POST /api/v1/runs id',
  'POST /api/v1/runs/batch post.0.id',
  'POST /api/v1/runs/batch patch.0.id',
  'POST /api/v1/feedback id',
]);
/** They wait, or tell of the caller itself; a history tells who has read the secrets. */
const VOLATILE = /\/(wait|audit-logs|choices|export|usage|history|changes)\b/;

let service: RouteService;
let document: Document;
let keyA: string;
let keyB: string;
let a: Things;
let b: Things;
let names = 0;

beforeAll(async () => {
  service = await RouteService.start(jest.mocked(edge.createServer), 'a-token');
  document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document;
  keyA = await service.newTenant(`${MARK} workspace`);
  keyB = await service.newTenant('tenant-b');
  [a, b] = [await fillTenant(service, keyA, MARK), await fillTenant(service, keyB, 'tenant-b-things')];
});

afterAll(() => service?.stop());

/** Every member of a schema that holds ids. */
function placesIn(schema: Schema | undefined, name = '', path: readonly string[] = []): Omit<Place, 'in'>[] {
  if (!schema || path.length > MOST_LEVELS) return [];
  if (schema.$ref) return placesIn(document.components.schemas[schema.$ref.split('/').at(-1)!], name, path);
  const choices = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  if (choices.length > 0) return unique(choices.flatMap((choice) => placesIn(choice, name, path)));
  if (schema.properties) {
    return Object.entries(schema.properties).flatMap(([member, inner]) => placesIn(inner, member, [...path, member]));
  }
  if (schema.items) {
    const inner = placesIn(schema.items, name, [...path, '0']);
    return inner.map((place) => ({ ...place, listed: true }));
  }
  return path.length > 0 && (schema.format === 'uuid' || ID_NAME.test(name)) ? [{ path, listed: false }] : [];
}

function unique(places: Omit<Place, 'in'>[]): Omit<Place, 'in'>[] {
  return [...new Map(places.map((place) => [place.path.join('.'), place])).values()];
}

function placesOf({ method, path }: Route): Place[] {
  const operation = document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
  const queries = (operation?.parameters ?? []).filter((parameter) => parameter.in === 'query');
  return [
    ...queries.flatMap(({ name, schema }) =>
      unique(placesIn(schema, name, [name])).map((place) => ({ ...place, in: 'query' as const })),
    ),
    ...unique(placesIn(operation?.requestBody?.content['application/json']?.schema)).map((place) => ({
      ...place,
      in: 'body' as const,
    })),
  ];
}

function nameOf({ method, path }: Route, place: Place): string {
  return `${method} ${path} ${place.path.join('.')}`;
}

/** A copy of a value in which an id stands at a place. */
function withId(value: unknown, [first, ...rest]: readonly string[], id: string): unknown {
  if (first === undefined) return id;
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value)
    ? [...(value as unknown[])]
    : first === '0'
      ? []
      : { ...(value as object | undefined) };
  const members = copy as Record<string, unknown>;
  members[first] = withId(members[first], rest, id);
  return copy;
}

/** Sends tenant B's own request with one id exchanged. */
async function sendWith(route: Route, place: Place, id: string) {
  const { search = '', body } = details(b, `tenant-b-${++names}`, service)[`${route.method} ${route.path}`] ?? {};
  const query = new URLSearchParams(search);
  if (place.in === 'query') query.set(place.path[0]!, id);
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => b.ids[name] ?? MISSING);
  const given = place.in === 'body' ? (withId(body ?? {}, place.path, id) as object) : body;
  const bodied = ['GET', 'DELETE'].includes(route.method) ? undefined : (given ?? {});
  const target = query.size > 0 ? `${path}?${query.toString()}` : path;
  // A change that needs a reason has one, so that it is not refused for want of it.
  const headers = { 'x-reason': 'an id of another workspace' };
  const { status, text } = await service.send(route.method, target, keyB, bodied, headers);
  return { status, text, told: text.replaceAll(UUIDS, 'ID').replaceAll(/tenant-b-\d+/g, 'NAME') };
}

/** The routes that take as JSON what is a part of POST /api/v1/runs/multipart. */
const PARTS = { post: '/api/v1/runs', patch: '/api/v1/runs', feedback: '/api/v1/feedback' } as const;

/** Sends one part with one id exchanged; a part's own id stands in its name. */
async function sendPart(key: string, kind: keyof typeof PARTS, { path }: Pick<Place, 'path'>, id: string) {
  const own = {
    id: crypto.randomUUID(),
    ...(kind === 'feedback'
      ? { run_id: crypto.randomUUID(), key: 'correct', score: 0 }
      : { name: 'part', run_type: 'chain', start_time: '2026-01-01T00:00:00Z', inputs: {} }),
  };
  const sent = withId(own, path, id) as { id: string };
  const form = new FormData();
  form.append(`${kind}.${sent.id}`, new Blob([JSON.stringify(sent)], { type: 'application/json' }));
  const response = await fetch(`${service.url}/api/v1/runs/multipart`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: form,
  });
  const text = await response.text();
  return { status: response.status, text, told: text.replaceAll(UUIDS, 'ID') };
}

/**
 * Ids of tenant A for a place: those of things that it may be about, and a sixth of all others, in turns;
 * `npm run test:faults` tries all.
 */
function idsFor({ path }: Place, nth: number, foreign: readonly string[]): string[] {
  if (process.env.FAIRLEAD_FAULTS === 'full') return [...foreign];
  const kind = path.join('_').replaceAll(/_?(?:ids?|\d+)(?=_|$)/g, '');
  const named = Object.entries(a.ids).filter(
    ([name]) => kind !== '' && (name.includes(kind) || kind.includes(name.replace(/_id$/, ''))),
  );
  const meant = new Set(named.map(([, id]) => id));
  return foreign.filter((id, at) => meant.has(id) || (at + nth) % 6 === 0);
}

/** Everything of tenant A that one GET shows. */
async function seenByTenantA(): Promise<Record<string, string>> {
  const seen: Record<string, string> = {};
  const more = details(a, MARK, service);
  for (const { method, path, scope } of service.table) {
    if (method !== 'GET' || scope === 'public' || VOLATILE.test(path)) continue;
    const target = path.replaceAll(/:(\w+)/g, (_, name: string) => a.ids[name] ?? MISSING);
    const search = more[`GET ${path}`]?.search ?? '';
    // A view that still follows what was written does not answer; a thing that is gone does.
    const { status, text } = await until(
      () => service.send('GET', target + search, keyA),
      (answer) => answer.status !== 503,
    );
    if (status === 200) seen[path] = text;
  }
  return seen;
}

/** State of tenant A's things once nothing is under way. */
async function settled(): Promise<Record<string, string>> {
  await service.rest();
  return seenByTenantA();
}

it("takes another tenant's ids in queries and bodies for ids of nothing", async () => {
  const before = await settled();
  expect(Object.keys(before).length).toBeGreaterThan(20);
  // Both have uploaded the same rows, whose examples have the same ids.
  const own = new Set(Object.values(b.ids));
  const foreign = [...new Set(Object.values(a.ids).filter((id) => new RegExp(UUIDS.source).test(id) && !own.has(id)))];
  const faults: string[] = [];
  const all = service.table
    .filter(({ scope }) => scope !== 'public')
    .flatMap((route) => placesOf(route).map((place) => ({ route, place, name: nameOf(route, place) })));
  expect(all.length).toBeGreaterThan(60);
  // What removes tenant B's own things comes late, what makes things under the ids comes last.
  const rank = ({ route, name }: (typeof all)[number]) =>
    CHOSEN.has(name) || FREE.has(name) ? 2 : Number(route.method === 'DELETE');
  const names = all.map(({ name }) => name);
  expect([...CHOSEN, ...FREE].filter((name) => !names.includes(name))).toEqual([]);
  for (const [nth, { route, place, name }] of all.sort((one, two) => rank(one) - rank(two)).entries()) {
    const missing = await sendWith(route, place, crypto.randomUUID());
    for (const id of idsFor(place, nth, foreign)) {
      const { status, text, told } = await sendWith(route, place, id);
      if (text.includes(MARK)) faults.push(`${name} shows ${id}: ${text.slice(0, 300)}`);
      if (CHOSEN.has(name) && status === 409) continue;
      const alike = status === missing.status && (status < 400 || told === missing.told);
      if (!alike) faults.push(`${name}: ${missing.status} ${missing.told} but ${status} ${told}`.slice(0, 500));
    }
  }
  expect(faults).toEqual([]);
  expect(await settled()).toEqual(before);
});

it("takes another tenant's ids in the parts of a multipart body for ids of nothing", async () => {
  const before = await settled();
  // What it makes under foreign ids is its own: the other test's tenant has none of it.
  const key = await service.newTenant('tenant-c');
  const foreign = [...new Set(Object.values(a.ids).filter((id) => new RegExp(UUIDS.source).test(id)))];
  const faults: string[] = [];
  const kinds = Object.entries(PARTS) as [keyof typeof PARTS, string][];
  const all = kinds.flatMap(([kind, path]) => {
    const route = service.table.find((one) => one.method === 'POST' && one.path === path)!;
    return placesOf(route).flatMap((place) => (place.in === 'body' ? [{ kind, place }] : []));
  });
  expect(all.map(({ kind, place }) => `${kind} ${place.path.join('.')}`)).toEqual(
    expect.arrayContaining(['post session_id', 'patch parent_run_id', 'feedback comparative_experiment_id']),
  );
  for (const { kind, place } of all) {
    const missing = await sendPart(key, kind, place, crypto.randomUUID());
    expect(missing.status).toBeLessThan(500);
    for (const id of foreign) {
      const { status, text, told } = await sendPart(key, kind, place, id);
      const name = `${kind} ${place.path.join('.')}`;
      if (text.includes(MARK)) faults.push(`${name} shows ${id}: ${text.slice(0, 300)}`);
      if (status !== missing.status || (status >= 400 && told !== missing.told)) {
        faults.push(`${name}: ${missing.status} ${missing.told} but ${status} ${told}`.slice(0, 500));
      }
    }
  }
  expect(faults).toEqual([]);
  expect(await settled()).toEqual(before);
});

/** Limits of a body of most routes (BODY_MAX_VALUES, and the bytes of the smallest limit), and of those for runs. */
const MOST_VALUES = 18_000;
const MOST_BYTES = 1_500_000;
const MOST_UNITS = 4_800;
/** Factor by which the time may grow for a body of four times as many units, and time that is not counted at all. */
const MOST_TIMES = 6;
const UNCOUNTED_MS = 60;
const TRIES = 20;

/** Sends a body and answers the CPU time of the whole service, and of the client, in milliseconds. */
async function cost(route: Route, text: string, type: string): Promise<{ ms: number; status: number }> {
  const ids: Readonly<Record<string, string>> = type === FORM_TYPE ? { dataset_id: b.ids.own_dataset_id! } : {};
  const target = route.path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? b.ids[name] ?? MISSING);
  const init = { method: route.method, headers: { 'x-api-key': keyB, 'content-type': type }, body: text };
  // A request that finds the views behind what was sent before it is repeated, as a client does.
  return until(
    async () => {
      const before = process.cpuUsage();
      const answer = await fetch(service.url + target, init);
      await answer.arrayBuffer();
      const { user, system } = process.cpuUsage(before);
      return { ms: (user + system) / 1000, status: answer.status };
    },
    ({ status }) => status !== 503,
  );
}

/** Observations while bodies grew. */
class Growing {
  readonly slow: string[] = [];
  readonly wrong: string[] = [];
  readonly statuses = new Map<number, number>();
  measured = 0;

  /** Sends bodies that grow at one place, again while they seem to take too long. */
  async measure(route: Route, { name, unit, make }: Growth, type = 'application/json'): Promise<void> {
    const most = Math.min(MOST_UNITS, MOST_VALUES / unit.values, MOST_BYTES / unit.bytes);
    const units = Math.floor(most / 4);
    const text = (n: number) => (type === FORM_TYPE ? (make(n) as string) : JSON.stringify(make(n)));
    let [few, many] = [Infinity, Infinity];
    for (let tried = 0; tried < TRIES && (tried === 0 || many > MOST_TIMES * few + UNCOUNTED_MS); tried++) {
      const [small, large] = [await cost(route, text(units), type), await cost(route, text(4 * units), type)];
      [few, many] = [Math.min(few, small.ms), Math.min(many, large.ms)];
      for (const { status } of [small, large]) {
        this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
        if (status >= 500 && status !== 501) this.wrong.push(`${route.method} ${route.path}, ${name}: ${status}`);
      }
    }
    this.measured++;
    if (many > MOST_TIMES * few + UNCOUNTED_MS)
      this.slow.push(`${route.method} ${route.path}, ${name}: ${units} take ${few} ms, ${4 * units} take ${many} ms`);
  }

  /** Number of bodies that were taken in. */
  get taken(): number {
    return [200, 201, 202].reduce((sum, status) => sum + (this.statuses.get(status) ?? 0), 0);
  }
}

/** Views take a while to follow thousands of runs, and reads wait for them: routes of runs come last. */
const ofRuns = ({ path }: Route) => Number(path.includes('/runs'));
const runsLast = (routes: readonly Route[]) => [...routes].sort((one, other) => ofRuns(one) - ofRuns(other));

const operationOf = ({ method, path }: Route) =>
  document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];

it('a body of four times as many units takes about four times as long on every route that writes', async () => {
  const bodies = new GrownBodies(document.components.schemas);
  const growing = new Growing();
  for (const route of runsLast(service.table)) {
    const schema = operationOf(route)?.requestBody?.content['application/json']?.schema;
    if (!schema || route.scope === 'public') continue;
    const good = () => details(b, `tenant-b-${++names}`, service)[`${route.method} ${route.path}`]?.body;
    for (const growth of bodies.of(schema, good())) await growing.measure(route, growth);
  }
  expect(growing).toMatchObject({ slow: [], wrong: [] });
  expect(growing.measured).toBeGreaterThan(200);
  // Not all of it is refused.
  expect(growing.taken).toBeGreaterThan(50);
});

it('a form of four times as many units takes about four times as long on every route that takes one', async () => {
  const growing = new Growing();
  const routes = service.table.filter((route) => operationOf(route)?.requestBody?.content['multipart/form-data']);
  expect(routes.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(Object.keys(GROWN_FORMS).sort());
  for (const route of runsLast(routes)) {
    for (const growth of GROWN_FORMS[`${route.method} ${route.path}`]!) await growing.measure(route, growth, FORM_TYPE);
  }
  expect(growing).toMatchObject({ slow: [], wrong: [] });
  expect(growing.taken).toBeGreaterThanOrEqual(20);
});
