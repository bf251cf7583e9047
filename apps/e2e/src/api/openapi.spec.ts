import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import * as api from '@fairlead/api';
import * as edge from '@fairlead/edge';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Contract, type OpenApi } from '../testing/contract';
import { KnownApi } from '../testing/known-api';
import { uses, validated } from '../testing/request-use';
import { RouteService } from '../testing/route-service';
import { type Sent, Successes } from '../testing/fuzz/successes';
import { undescribed } from '../testing/fuzz/undescribed';

jest.mock('@fairlead/edge', () => {
  const actual = jest.requireActual<typeof edge>('@fairlead/edge');
  return { ...actual, createServer: jest.fn(actual.createServer) };
});
jest.mock('@fairlead/api', () => {
  const { recordUse } = jest.requireActual<typeof import('../testing/request-use')>('../testing/request-use');
  return recordUse(jest.requireActual<typeof api>('@fairlead/api'));
});

const MISSING = '019a0000-0000-7000-8000-000000000000';
const PROBLEM = { accept: 'application/problem+json' };

/** Routes whose declared schema is not given to the checks that are watched here, and what checks it instead. */
const CHECKED_ELSEWHERE: Readonly<Record<string, string>> = {
  'POST /api/v1/datasets/upload-experiment': 'a worker checks the body as it comes, by the members of its schema',
  'POST /api/v1/runs/batch': 'each run is checked by itself, so that one that is refused does not refuse the others',
  'GET /docs/:file': 'the library that is watched serves it',
};

const words = (...names: string[]) => names.join(' ').split(' ');
/** Where the service is not as clients know another one. */
const DIFFERENCES: readonly string[] = [
  // The specification requires these, and has these sources; a command line sends this type.
  ...words('APIFeedbackSource AppFeedbackSource AutoEvalFeedbackSource ModelFeedbackSource').map(
    (name) => `${name}.type is required`,
  ),
  'ExperimentResultRow.row_id is required',
  'ExperimentResultRow.row_id does not take null',
  "Deployment (answered).source can be 'internal_template'",
  "Revision (answered).source can be 'internal_template'",
  "SourceConfig (answered).deployment_type can be 'serverless'",
  "SourceConfig (answered).deployment_type can be 'dev_zero'",
  // The specification has no such members in an upload and in the answer to it.
  ...words('comparative_experiment_id feedback_group_id id').map(
    (name) => `FeedbackCreateCoreSchema.${name} is not looked at`,
  ),
  ...words('baseline_experiment_id metadata transformations').map(
    (name) => `Dataset (answered).${name} is not answered`,
  ),
  // Only these methods exist.
  'OAuthProviderCreateRequest.code_challenge_method does not take string',
  'OAuthProviderUpdateRequest.code_challenge_method does not take string',
  // A vendor's own sign-in is not offered.
  'AuthAuthenticateRequest.use_agent_builder_public_oauth is not looked at',
  // A deployment is reconciled remotely with all its revisions, or not at all.
  'GET /v2/deployments/{deployment_id}/revisions does not take ?remote_reconciled',
  // What a run does not say it used is not known, not 0.
  ...words('total_tokens prompt_tokens completion_tokens').map((name) => `RunSchema (answered).${name} can be null`),
  // What was sent comes back, whatever JSON it is; what nobody sends is absent.
  ...words('RunSchema RunSchemaComparisonView V2RunResponse').flatMap((name) => [
    `${name} (answered).events can be string`,
    `${name} (answered).outputs can be array`,
    `${name} (answered).outputs can be string`,
    // A type of the user's own is answered as it was sent.
    `${name} (answered).run_type can be string`,
  ]),
  ...words('Volume.name VolumeMount.name VolumeMount.mountPath').map((name) =>
    `${name} can be null`.replace('.', ' (answered).'),
  ),
  ...words(
    'completion_cost_details completion_token_details first_token_time manifest',
    'price_model_id prompt_cost_details prompt_token_details thread_evaluation_time',
  ).map((name) => `V2RunResponse (answered).${name} is not answered`),
  ...words('avg max min stdev').map((name) => `V2RunFeedbackStat (answered).${name} can be null`),
  ...words('comments contains_thread_feedback errors sources').map(
    (name) => `V2RunFeedbackStat (answered).${name} is not answered`,
  ),
  ...words('client_port x_forwarded_for').map((name) => `AuditLogEnrichments (answered).${name} is not answered`),
];

let service: RouteService;
let successes: Successes;
/** The same for another tenant, whose things may be spoilt. */
let refusals: Successes;
/** The key of a tenant that has nothing. */
let stranger: string;
let contract: Contract;

const nameOf = ({ method, path }: api.Route) => `${method} ${path}`;

beforeAll(async () => {
  service = await RouteService.start(jest.mocked(edge.createServer), 'a-token', {
    // Revisions stay under way, so that they can be interrupted.
    EXECUTOR: 'command',
    COMMAND_DEPLOY: `/bin/sh -c 'echo begun; sleep 600'`,
    REGISTRY_URL: 'https://registry.example',
    REGISTRY_TOKEN: 'a-registry-token',
  });
  contract = new Contract((await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApi);
  [successes, refusals] = [await Successes.prepare(service), await Successes.prepare(service)];
  stranger = await service.newTenant('stranger');
});

afterAll(() => service?.stop());

it('is a valid OpenAPI 3.1 document', async () => {
  const { valid, errors } = await new Validator().validate(contract.document);
  expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
  expect(contract.document.openapi).toMatch(/^3\.1\./);
});

it('describes every route, and no other', () => {
  const missing = service.table.filter(({ description }) => !description || !api.areaOf(description.controller));
  expect(
    missing.map(
      (route) =>
        `${nameOf(route)}: put @Describe({ summary }) and @Answers({ … }) beside its @Scope and @Area('…') on its controller; see libs/api/src/route/describe.ts.`,
    ),
  ).toEqual([]);
  expect(contract.operations().sort()).toEqual(service.table.map(nameOf).sort());
});

it('gives each operation a name of its own, and describes each part of its path', () => {
  const operations = service.table.map((route) => contract.operation(route));
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  for (const route of service.table) {
    const told = contract.operation(route).parameters!.flatMap((one) => (one.in === 'path' ? [one.name!] : []));
    const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, parameter]) => parameter!);
    expect({ route: nameOf(route), path: told.sort() }).toEqual({ route: nameOf(route), path: inPath.sort() });
  }
});

it('keeps the name of each operation, which is that of a method in generated clients', () => {
  const named = service.table.map((route) => `${nameOf(route)} ${contract.operation(route).operationId}`);
  const known = readFileSync(resolve(__dirname, '../testing/operation-ids.txt'), 'utf8').trim().split('\n');
  expect(named.sort()).toEqual(known);
});

it('says what each member and each parameter means', () => {
  expect(undescribed(contract.document)).toEqual([]);
});

it('is what the pages in docs/reference say', async () => {
  const tool = resolve(__dirname, '../../../../tools/reference/reference.mjs');
  const env = { ...process.env, FAIRLEAD_URL: service.url };
  const said = await promisify(execFile)(process.execPath, [tool, '--check'], { env }).catch((error: Error) => error);
  expect(said).toMatchObject({ stdout: '', stderr: '' });
});

it('marks what is secret', () => {
  const secret = { type: 'string', format: 'password', writeOnly: true };
  expect(contract.document.components).toMatchObject({
    schemas: { Secret: { properties: { value: secret } } },
  });
});

async function send({ route, path, key, body, headers }: Sent): Promise<Response> {
  const how = { method: route.method, redirect: 'manual' } as const;
  return fetch(service.url + path, { ...how, headers: { 'x-api-key': key, ...headers }, body });
}

it('describes how each route refuses requests', async () => {
  const faults = new Set<string>();
  for (const route of refusals.inOrder()) {
    const answers = badRequests(route).flatMap((request) =>
      [{}, PROBLEM].map(async (headers) => {
        const response = await send({ ...request, headers: { ...request.headers, ...headers } });
        return contract.faultOf(route, response);
      }),
    );
    for (const fault of await Promise.all(answers)) if (fault) faults.add(fault);
  }
  expect([...faults].join('\n\n')).toBe('');
});

/** Requests to a route that are wrong in one way each, or are not when the route does not look at what is wrong. */
function badRequests(route: api.Route): Sent[] {
  const [good] = refusals.requestsTo(route);
  const having = (more: Record<string, string>): Sent => ({ ...good!, headers: { ...good!.headers, ...more } });
  const json = { 'content-type': 'application/json' };
  const to = (id: string) => route.path.replaceAll(/:\w+/g, id);
  const bad = [
    { ...good!, key: 'no key' },
    { ...good!, key: stranger },
    { ...good!, path: to(MISSING) },
    { ...good!, path: `${to('!')}?limit=x&offset=-1&timeout=x&dry_run=x` },
    having({ 'idempotency-key': 'é' }),
    having({ 'if-match': '"999999"' }),
    having({ 'x-reason': 'x'.repeat(1001) }),
  ];
  if (good!.body === undefined) return bad;
  const bodies = ['[1]', '{', '{"name":1}'].map((body) => ({ ...good!, body, headers: json }));
  return [...bad, ...bodies, having({ 'content-encoding': 'br' })];
}

it('describes what each route answers', async () => {
  const faults: string[] = [];
  const unseen = new Set(service.table.map(nameOf));
  for (const route of successes.inOrder()) {
    for (const request of successes.requestsTo(route)) {
      const response = await send(request);
      if (response.ok || response.status === 302) unseen.delete(nameOf(route));
      else if (!request.refused) {
        faults.push(`${route.method} ${request.path} answered ${response.status}: ${await response.clone().text()}`);
      }
      const fault = await contract.faultOf(route, response);
      if (fault) faults.push(fault);
    }
  }
  expect(faults.join('\n\n')).toBe('');
  expect([...unseen].map((name) => `${name}: say in successes.ts or tenant-things.ts what it answers 2xx to.`)).toEqual(
    [],
  );
});

// What is used is seen in this process only.
const itHere = process.env.FAIRLEAD_TEST_SHAPE === 'cluster' ? it.skip : it;

itHere('describes the schemas and headers that the handlers really use', () => {
  for (const route of service.table) {
    const name = nameOf(route);
    const { path, query, body, takes = [] } = route.description!;
    const used = uses.get(name);
    const checks = (part: 'path' | 'query' | 'body', schema: unknown) =>
      used?.[part].has(schema) || validated.has(schema) || name in CHECKED_ELSEWHERE;
    const told = { path, query, body: body && 'parse' in body ? body : undefined };
    for (const part of ['path', 'query', 'body'] as const) {
      const schema = told[part];
      expect({ name, part, used: !schema || checks(part, schema) }).toEqual({ name, part, used: true });
      const others = [...(used?.[part] ?? [])].filter((one) => one !== schema);
      expect({ name, part, usedButNotDescribed: others.length }).toEqual({ name, part, usedButNotDescribed: 0 });
    }
    const headers = [...(used?.headers ?? [])].filter((header) => route.scope !== 'public' || header !== 'x-reason');
    expect({ name, notDescribed: headers.filter((header) => !takes.includes(header)) }).toEqual({
      name,
      notDescribed: [],
    });
    const seen = takes.filter((header) => header === 'If-Match' || header === 'x-reason');
    expect({ name, notUsed: seen.filter((header) => !headers.includes(header)) }).toEqual({ name, notUsed: [] });
  }
});

it('keeps to what clients know of the wire', () => {
  expect(new KnownApi(contract.document).differences()).toEqual(DIFFERENCES.toSorted());
});
