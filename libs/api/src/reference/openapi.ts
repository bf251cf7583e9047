import { STATUS_CODES } from 'node:http';
import { areaOf, type Description } from '../route/describe';
import type { DescribedRoute, Route } from '../route/routes';
import type { JsonSchema, ObjectSchema, Schema } from '@fairlead/schema';
import { AREAS } from '../route/areas';
import { Components } from './components';
import { ERRORS, type ErrorResponses, errorResponses } from './errors';
import { HEADERS, PARAMETERS } from './headers';
import { INFO } from './info';
import { operationIds } from './operation-ids';

/** Returns the OpenAPI 3.1 document of the routes that have a description. `version`: the version of the service. */
export function openApi(routes: readonly Route[], version: string) {
  const described = routes.filter((route): route is DescribedRoute => route.description !== undefined);
  const components = new Components();
  const responses = errorResponses(components);
  const ids = operationIds(described);
  const paths: Record<string, Record<string, object>> = {};
  for (const route of described) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    const operation = { operationId: ids.get(route), ...operationOf(route, components, responses) };
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation };
  }
  return {
    openapi: '3.1.1',
    info: { ...INFO, version },
    servers: [
      { url: '/', description: 'Names as described here' },
      { url: '/api-host', description: 'The same with answers in the second spelling' },
    ],
    tags: Object.entries(AREAS).map(([name, description]) => ({ name, description })),
    security: [{ apiKey: [] }, { bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
      parameters: Object.fromEntries(
        Object.entries(PARAMETERS).map(([name, parameter]) => [name, { name, in: 'header', ...parameter }]),
      ),
      headers: HEADERS,
      responses,
      schemas: Object.fromEntries(Object.entries(components.schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

function operationOf(route: DescribedRoute, components: Components, shared: ErrorResponses): object {
  const { description: told, scope } = route;
  const area = areaOf(told.controller);
  const open = scope === 'public';
  const note = open ? 'Needs no key.' : `Needs the scope \`${scope}\`.`;
  return {
    ...(area && { tags: [area] }),
    summary: told.summary,
    description: told.description === undefined ? note : `${told.description}\n\n${note}`,
    security: open ? [] : [{ apiKey: [scope] }, { bearer: [scope] }],
    parameters: parametersOf(route, components),
    ...(told.body && { requestBody: { required: true, content: contentOf(told.body, components) } }),
    responses: { ...successes(told, components), ...errors(route, components, shared) },
  };
}

function parametersOf({ description: told, scope }: DescribedRoute, components: Components): object[] {
  const taken = new Set<string>([...(scope === 'public' ? [] : ['X-Tenant-Id']), ...(told.takes ?? [])]);
  const headers = Object.keys(PARAMETERS).filter((name) => taken.has(name));
  return [
    ...(told.path ? membersOf(told.path, 'path', components) : []),
    ...(told.query ? membersOf(told.query, 'query', components) : []),
    ...headers.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ];
}

function membersOf({ json }: ObjectSchema<unknown>, place: 'path' | 'query', components: Components): object[] {
  const required = (json.required ?? []) as readonly string[];
  return Object.entries(json.properties as Record<string, JsonSchema>).map(([name, member]) => {
    const { description, ...told } = withoutNull(member);
    const needed = required.includes(name);
    const schema = needed ? notEmpty(told) : told;
    return {
      name,
      in: place,
      ...(needed && { required: true }),
      ...(description !== undefined && { description }),
      schema: components.refer(schema),
    };
  });
}

/** Returns the schema without null, because a parameter is absent and never null. */
function withoutNull(member: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = member as { anyOf?: readonly JsonSchema[] } & JsonSchema;
  const [only, none] = anyOf ?? [];
  return anyOf?.length === 2 && none?.type === 'null' ? { ...only, ...rest } : member;
}

/** Returns the schema of a required parameter, which must not be empty: an empty parameter counts as absent. */
function notEmpty(schema: JsonSchema): JsonSchema {
  const isFree = schema.type === 'string' && schema.format === undefined && schema.enum === undefined;
  return isFree ? { ...schema, minLength: schema.minLength ?? 1 } : schema;
}

function contentOf(body: NonNullable<Description['body']>, components: Components): object {
  const { content } = 'content' in body ? body : { content: { 'application/json': body } };
  const entries = Object.entries(content).map(([type, schema]) => {
    return [type, 'parse' in schema ? { schema: components.refer((schema as Schema<unknown>).json) } : {}];
  });
  return Object.fromEntries(entries) as object;
}

function successes(told: Description, components: Components): Record<string, object> {
  const replayed = told.takes?.includes('Idempotency-Key') ? ['Idempotent-Replayed'] : [];
  const headers = Object.fromEntries(
    ['x-request-id', ...(told.gives ?? []), ...replayed].map((name) => [
      name,
      { $ref: `#/components/headers/${name}` },
    ]),
  );
  const entries = Object.entries(told.answers).flatMap(([status, answer]) => {
    if (typeof answer === 'string' || Number(status) >= 400) return [];
    const content = answer === null ? {} : { content: contentOf(answer, components) };
    return [[status, { description: STATUS_CODES[status] ?? 'Success', headers, ...content }]];
  });
  return Object.fromEntries(entries) as Record<string, object>;
}

/** Returns the errors of a route: the declared ones, and those that follow from its kind. */
function errors(
  { description: told, method, scope, path, strict }: DescribedRoute,
  components: Components,
  shared: ErrorResponses,
): Record<string, object> {
  const takes = new Set<string>(told.takes);
  const readsBody = method !== 'GET' && (method !== 'DELETE' || told.body !== undefined);
  const nature: Readonly<Record<string, boolean>> = {
    400: true,
    401: scope !== 'public',
    403: scope !== 'public',
    404: path.includes(':'),
    408: readsBody,
    409: takes.has('Idempotency-Key'),
    412: takes.has('If-Match'),
    413: readsBody,
    415: readsBody,
    422: told.path !== undefined || told.query !== undefined || told.body !== undefined || strict === true,
    429: true,
    '5XX': true,
  };
  const natural = Object.entries(ERRORS).filter(([status]) => nature[status]);
  const responses: Record<string, object> = Object.fromEntries(
    natural.map(([status, { name }]) => [status, { $ref: `#/components/responses/${name}` }]),
  );
  for (const [status, answer] of Object.entries(told.answers)) {
    if (Number(status) < 400 || answer === null) continue;
    const { name } = ERRORS[status] ?? ERRORS['5XX']!;
    const { content, ...usual } = shared[name]!;
    responses[status] =
      typeof answer === 'string'
        ? { $ref: `#/components/responses/${name}`, description: answer }
        : { ...usual, content: { ...content, ...contentOf(answer, components) } };
  }
  return responses;
}
