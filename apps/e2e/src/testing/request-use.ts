import type * as api from '@fairlead/api';

type Api = typeof api;
type Request = Parameters<Api['validateRequest']>[0];

/** Members of requests that one route was seen to look at. */
export interface Use {
  readonly path: Set<unknown>;
  readonly query: Set<unknown>;
  readonly body: Set<unknown>;
  readonly headers: Set<api.RequestHeader>;
}

/** By `METHOD path`: what the handlers have used so far. */
export const uses = new Map<string, Use>();
/** Schemas of values that were checked apart from their request, and those of parameters, which are always checked. */
export const validated = new Set<unknown>();

function useOf(request: Request): Use {
  const route = `${request.method} ${request.routeOptions.url}`;
  const use = uses.get(route) ?? { path: new Set(), query: new Set(), body: new Set(), headers: new Set() };
  uses.set(route, use);
  return use;
}

/** Writes down that a route uses a header when this method or getter of a class is used. */
function recordCalls(
  { prototype }: { readonly prototype: object },
  member: string,
  header: api.RequestHeader,
  requestOf: (self: object, parameters: readonly unknown[]) => Request,
): void {
  const known = Object.getOwnPropertyDescriptor(prototype, member)!;
  const isGetter = 'get' in known && known.get !== undefined;
  const actual = (isGetter ? Reflect.get(known, 'get') : known.value) as (...parameters: unknown[]) => unknown;
  const recorded = function (this: object, ...parameters: unknown[]) {
    useOf(requestOf(this, parameters)).headers.add(header);
    return actual.apply(this, parameters);
  };
  Object.defineProperty(prototype, member, {
    configurable: true,
    ...(isGetter ? { get: recorded } : { value: recorded }),
  });
}

/** The library of the controllers, writing down which schemas and headers each route uses. */
export function recordUse(actual: Api): Api {
  recordCalls(actual.Idempotency, 'run', 'Idempotency-Key', (_, [request]) => request as Request);
  const requestOf = (context: object) => (context as { readonly request: Request }).request;
  recordCalls(actual.CommandContext, 'metadata', 'x-reason', requestOf);
  recordCalls(actual.CommandContext, 'expectedVersion', 'If-Match', requestOf);
  const parameter =
    <T>(decorate: (schema: T) => unknown) =>
    (schema: T) => {
      validated.add(schema);
      return decorate(schema);
    };
  return {
    ...actual,
    Path: parameter(actual.Path) as Api['Path'],
    PathMember: (schema, member) => {
      validated.add(schema);
      return actual.PathMember(schema, member);
    },
    Query: parameter(actual.Query) as Api['Query'],
    Body: parameter(actual.Body) as Api['Body'],
    validateRequest(request, parts) {
      const use = useOf(request);
      for (const part of ['path', 'query', 'body'] as const) if (parts[part]) use[part].add(parts[part]);
      return actual.validateRequest(request, parts);
    },
    validate(schema, input, loc) {
      validated.add(schema);
      return actual.validate(schema, input, loc);
    },
  };
}
