import type * as edge from '@fairlead/edge';
import { isDeepStrictEqual } from 'node:util';
import { RouteService } from '../testing/route-service';
import { fillTenant, type Things } from '../testing/tenant-things';

jest.mock('@fairlead/edge', () => {
  const actual = jest.requireActual<typeof edge>('@fairlead/edge');
  return { ...actual, createServer: jest.fn(actual.createServer) };
});

/**
 * Every member of every request for a change, one after the other, with a value that differs from the present one: it is
 * changed and can be read back, or refused by name.
 */

type Json = Readonly<Record<string, unknown>>;
interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly minimum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly requestBody?: Body }>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}
interface Body {
  readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
}

/** A thing that can be changed: where, how it is read, and what a request needs beside the member. */
interface Changed {
  readonly name: string;
  readonly route: string;
  readonly path: string;
  readonly read: string;
  readonly base?: Json;
  readonly wrap?: (body: Json) => unknown;
  /** The route whose schema has the members, where the request is in parts. */
  readonly like?: string;
  /** Values that differ, where another one than that of the schema is needed. */
  readonly values?: Json;
}

const MISSING = '019a0000-0000-7000-8000-000000000000';
const KEY = 'configured';
/** Where a change is seen that its member does not show: a value of the thing that is read. */
const SEEN: Readonly<Record<string, (now: Json, wanted: never) => boolean>> = {
  // A secret can never be read.
  'provider client_secret': () => true,
  'integration webhook_secret': ({ webhook_configured }) => webhook_configured === true,
  'integration credentials': ({ auth }) => auth === 'token',
  'example split': ({ metadata }, split: string) => isDeepStrictEqual((metadata as Json).dataset_split, [split]),
  'example attachments_operations': ({ attachment_urls }) => attachment_urls === null,
  'deployment secrets': ({ secrets }, wanted: Json[]) =>
    isDeepStrictEqual(
      (secrets as Json[]).map(({ name }) => name),
      wanted.map(({ name }) => name),
    ),
  'dataset extra': ({ metadata }, { metadata: wanted }: Json) => isDeepStrictEqual(metadata, wanted),
};

let service: RouteService;
let document: Document;
let key: string;
let things: Things;
let changes: readonly Changed[];

beforeAll(async () => {
  const { createServer } = await import('@fairlead/edge');
  service = await RouteService.start(createServer as jest.MockedFunction<typeof createServer>, 'a-token');
  document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document;
  key = await service.newTenant('changes');
  things = await fillTenant(service, key, 'kept');
  changes = await prepared();
});
afterAll(() => service?.stop());

const ask = <T>(method: string, path: string, body?: object) => service.ask<T>(method, path, key, body);

/** One of everything that has a route for changes. */
async function prepared(): Promise<Changed[]> {
  const { ids } = things;
  const { session_id, own_dataset_id, own_example_id } = ids;
  const id = crypto.randomUUID();
  await ask('POST', '/api/v1/runs', { id, name: 'live' });
  await ask('POST', '/api/v1/feedback-configs', { feedback_key: KEY, feedback_config: { type: 'continuous' } });
  const { id: codehost } = await ask<{ id: string }>('POST', '/v2/deployments', {
    name: 'from a host',
    source: 'codehost',
    source_config: { integration_id: ids.integration_id, repo_url: `${service.outside.url}/team/agent` },
    source_revision_config: { repo_ref: 'main' },
    secrets: [],
  });
  const dataset = { default_dataset_id: own_dataset_id };
  const volumes = {
    revision_source: 'internal_container',
    volumes: [{ name: 'changed', emptyDir: {} }],
    volume_mounts: [{ name: 'changed', mountPath: '/changed' }],
  };
  const one = (name: string, route: string, thing: string, more: Partial<Changed> = {}): Changed => {
    const path = route.replace(/\{\w+\}/, thing);
    return { name, route, path, read: path, ...more };
  };
  return [
    one('deployment', '/v2/deployments/{deployment_id}', ids.deployment_id!, { values: volumes }),
    one('deployment of a host', '/v2/deployments/{deployment_id}', codehost, { values: volumes }),
    one('listener', '/v2/listeners/{listener_id}', ids.listener_id!),
    one('integration', '/v1/integrations/{integration_id}', ids.integration_id!),
    one('provider', '/v2/auth/providers/{provider_id}', ids.provider_id!),
    one('token', '/v2/auth/tokens/{token_id}/metadata', ids.token_id!, { read: '/v2/auth/tokens' }),
    one('dataset', '/api/v1/datasets/{dataset_id}', ids.dataset_id!, {
      values: { baseline_experiment_id: session_id, extra: { metadata: { changed: true } } },
    }),
    one('example', '/api/v1/examples/{example_id}', own_example_id!),
    one('examples', '/api/v1/examples/bulk', '', {
      read: `/api/v1/examples/${own_example_id}`,
      wrap: (body) => [{ ...body, id: own_example_id }],
    }),
    ...PARTS.map(([name, wrap]) =>
      one(name, '/api/v1/platform/datasets/{dataset_id}/examples', own_dataset_id!, {
        read: `/api/v1/examples/${own_example_id}`,
        like: '/api/v1/examples/{example_id}',
        wrap: (body) => wrap(own_example_id!, body),
        values: { inputs: { in: name }, outputs: { in: name }, metadata: { in: name }, split: name },
      }),
    ),
    one('feedback', '/api/v1/feedback/{feedback_id}', ids.feedback_id!),
    one('feedback config', '/api/v1/feedback-configs', '', {
      read: `/api/v1/feedback-configs?key=${KEY}`,
      base: { feedback_key: KEY },
    }),
    one('run', '/api/v1/runs/{run_id}', id),
    one('session', '/api/v1/sessions/{session_id}', session_id!, { values: dataset }),
    one('monitor', '/v1/monitors/{monitor_id}', ids.monitor_id!),
    one('view', '/v1/views/{view_id}', ids.view_id!, { values: { parameters: { status: 'error' } } }),
    one('webhook', '/v1/webhooks/{webhook_id}', ids.webhook_id!, {
      read: `/v1/webhooks/${ids.webhook_id}?include_secrets=true`,
    }),
  ];
}

/** Ways in which a request in parts can have a member: in the part of the example, or as a part of its own. */
const PARTS: readonly (readonly [string, (id: string, body: Json) => FormData])[] = [
  ['example in one part', (id, body) => form([[id, body]])],
  [
    'example in parts',
    (id, body) => form([[id, {}], ...Object.entries(body).map(([name, value]) => [`${id}.${name}`, value] as const)]),
  ],
];

function form(parts: readonly (readonly [string, unknown])[]): FormData {
  const body = new FormData();
  for (const [name, value] of parts) {
    body.append(name, new Blob([JSON.stringify(value)], { type: 'application/json' }));
  }
  return body;
}

const sent = new Set<string>();

it('changes what it takes, and refuses by name what cannot change', async () => {
  const faults: string[] = [];
  for (const changed of changes) {
    const schema = bodyOf('patch', changed.like ?? changed.route);
    for (const path of membersOf(schema.items ?? schema)) {
      // That of a change of many names the thing.
      if (changed.wrap && path.names[0] === 'id') continue;
      sent.add(changed.route);
      const fault = await faultOf(changed, path).catch(String);
      if (fault) faults.push(`${changed.name} ${path.names.join('.')}: ${fault}`);
    }
  }
  expect(faults.join('\n')).toBe('');
});

/** Members of one request by the routes that are no change of a single thing, or have no such member. */
const OTHERS = ['PATCH /api/v1/platform/datasets/{dataset_id}/examples/metadata'];

it('does so on every route for changes', () => {
  const routes = Object.entries(document.paths).flatMap(([path, methods]) => ('patch' in methods ? path : []));
  const programs = (path: string) => path.includes('/apps/');
  const missed = routes.filter((path) => !sent.has(path) && !OTHERS.includes(`PATCH ${path}`) && !programs(path));
  expect(missed).toEqual([]);
});

/** Members that things are made with and that a change ignores like unknown ones, because answers do not show them. */
const ONLY_MADE: readonly string[] = [
  'feedback modified_at',
  'feedback feedback_group_id',
  'feedback error',
  'feedback feedback_config',
];

it('knows every member that a thing is made with', () => {
  const missed = changes.flatMap(({ name, route, wrap }) => {
    const made = wrap ? undefined : document.paths[route.replace(/\/\{\w+\}$/, '')]?.post?.requestBody;
    if (!made) return [];
    const known = new Set(Object.keys(resolved(bodyOf('patch', route)).properties ?? {}));
    const members = Object.keys(resolved(schemaOf(made)).properties ?? {});
    return members.filter((member) => !known.has(member)).map((member) => `${name} ${member}`);
  });
  expect(missed.filter((one) => !ONLY_MADE.includes(one))).toEqual([]);
});

/** A member, with the names of those around it, and its schema. */
interface Member {
  readonly names: readonly string[];
  readonly schema: Schema;
}

function bodyOf(method: string, route: string): Schema {
  return resolved(schemaOf(document.paths[route]![method]!.requestBody!));
}

function schemaOf({ content }: Body): Schema {
  return Object.values(content)[0]!.schema;
}

/** A schema without what refers to others and without null. */
function resolved(schema: Schema): Schema {
  const { $ref, anyOf } = schema;
  if ($ref) return resolved(document.components.schemas[$ref.split('/').at(-1)!]!);
  const choice = anyOf?.find((one) => one.type !== 'null');
  return choice ? resolved(choice) : schema;
}

function membersOf(schema: Schema, names: readonly string[] = []): Member[] {
  return Object.entries(resolved(schema).properties ?? {}).flatMap(([name, own]) => {
    const inner = resolved(own);
    const path = [...names, name];
    return inner.properties && !WHOLE.has(name) ? membersOf(inner, path) : { names: path, schema: inner };
  });
}

/** Members that are sent whole: parts of them mean nothing. */
const WHOLE = new Set([
  'credentials',
  'feedback_config',
  'attachments_operations',
  'extra',
  'feedback_source',
  'agent',
]);
const OF_ONE_PIECE: Json = {
  credentials: { token: 'another-token' },
  feedback_config: { type: 'freeform' },
  attachments_operations: { rename: {}, retain: [] },
  secrets: [{ name: 'OTHER', value: 'another' }],
  event_types: ['dataset.created'],
  agent: { agent_id: 'another', environment: 'other' },
};

async function faultOf(changed: Changed, { names, schema }: Member): Promise<string | undefined> {
  const name = names.at(-1)!;
  const before = await read(changed);
  const wanted = changed.values?.[name] ?? OF_ONE_PIECE[name] ?? different(schema, valueAt(before, names), name);
  if (isDeepStrictEqual(wanted, valueAt(before, names))) return undefined;
  const body = { ...(names.reduceRight<unknown>((value, own) => ({ [own]: value }), wanted) as Json) };
  const own = changed.wrap ? changed.wrap(body) : { ...changed.base, ...body };
  const { status, text } = await service.send('PATCH', changed.path, key, own as object);
  if (status >= 300) {
    const refused =
      [400, 404, 409, 422, 501].includes(status) &&
      [...names, String(wanted)].some((one) => text.toLowerCase().includes(one));
    return refused ? undefined : `${status} ${text}`;
  }
  const seen = SEEN[`${changed.name.split(' ')[0]!.replace('examples', 'example')} ${name}`];
  const shows = async () => {
    const now = await read(changed);
    return seen ? seen(now, wanted as never) : holds(valueAt(now, names), wanted);
  };
  const end = Date.now() + 2_000;
  while (Date.now() < end) if (await shows()) return undefined;
  return `${status}, and nothing changed: ${JSON.stringify(valueAt(await read(changed), names))} is not ${JSON.stringify(wanted)}`;
}

async function read({ read: path }: Changed): Promise<Json> {
  const answer = await ask<Json | Json[]>('GET', path);
  return Array.isArray(answer) ? (answer[0] as Json) : answer;
}

function valueAt(thing: Json, names: readonly string[]): unknown {
  return names.reduce<unknown>((value, name) => (value as Json | null)?.[name], thing);
}

/** True when two values mean the same: times may be spelt otherwise, and the second may have more members. */
function holds(now: unknown, wanted: unknown): boolean {
  if (isDeepStrictEqual(now, wanted)) return true;
  if (typeof now === 'string' && typeof wanted === 'string') return Date.parse(now) === Date.parse(wanted);
  if (typeof now !== 'object' || typeof wanted !== 'object' || !now || !wanted) return false;
  return Object.entries(wanted).every(([name, value]) => holds((now as Json)[name], value));
}

/** A value for a schema that is not the present one. */
function different(given: Schema, present: unknown, name: string): unknown {
  const schema = resolved(given);
  if (schema.enum) return schema.enum.find((one) => one !== present) ?? schema.enum[0];
  switch (schema.type) {
    case 'boolean':
      return present !== true;
    case 'integer':
    case 'number':
      return typeof present === 'number' ? present + 1 : Math.max(schema.minimum ?? 1, 1);
    case 'array':
      return [different(schema.items!, undefined, name)];
    case 'object':
      return { changed: name };
    default:
      return texts(schema.format, name);
  }
}

function texts(format: string | undefined, name: string): string {
  if (format === 'uuid') return MISSING;
  if (format === 'date-time') return '2026-02-02T02:02:02Z';
  if (format === 'uri') return `${service.outside.url}/changed`;
  return `changed-${name.replaceAll('_', '-')}`;
}
