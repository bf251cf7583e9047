import type * as api from '@fairlead/api';

type Api = typeof api;
type Request = Parameters<Api['query']>[1];

/** What one route was seen to look at in its requests. */
export interface Use {
  readonly path: Set<unknown>;
  readonly query: Set<unknown>;
  readonly body: Set<unknown>;
  readonly headers: Set<api.RequestHeader>;
}

/** By `METHOD path`: what the handlers have used so far. */
export const uses = new Map<string, Use>();
/** Schemas of values that were checked apart from their request. */
export const validated = new Set<unknown>();

function useOf(request: Request): Use {
  const route = `${request.method} ${request.routeOptions.url}`;
  const use = uses.get(route) ?? { path: new Set(), query: new Set(), body: new Set(), headers: new Set() };
  uses.set(route, use);
  return use;
}

/** The library of the controllers, writing down which schemas and headers each route uses. */
export function recordUse(actual: Api): Api {
  class Idempotency extends actual.Idempotency {
    override run<T>(...[request, ...rest]: Parameters<api.Idempotency['run']>): Promise<T> {
      useOf(request).headers.add('Idempotency-Key');
      return super.run(request, ...rest) as Promise<T>;
    }
  }
  return {
    ...actual,
    Idempotency,
    validateRequest(request, parts) {
      const use = useOf(request);
      for (const part of ['path', 'query', 'body'] as const) if (parts[part]) use[part].add(parts[part]);
      return actual.validateRequest(request, parts);
    },
    path(schema, request) {
      useOf(request).path.add(schema);
      return actual.path(schema, request);
    },
    query(schema, request) {
      useOf(request).query.add(schema);
      return actual.query(schema, request);
    },
    body(schema, request) {
      useOf(request).body.add(schema);
      return actual.body(schema, request);
    },
    validate(schema, input, loc) {
      validated.add(schema);
      return actual.validate(schema, input, loc);
    },
    ifMatch(request, current) {
      useOf(request).headers.add('If-Match');
      return actual.ifMatch(request, current);
    },
    metadataOf(request) {
      useOf(request).headers.add('x-reason');
      return actual.metadataOf(request);
    },
  };
}
