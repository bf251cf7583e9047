import type * as http from '@fairlead/http';
import type { JsonSchema } from './schema-texts';

/** The schemas that a route checks its requests with. */
export interface RouteSchemas {
  query?: JsonSchema;
  body?: JsonSchema;
}

type Http = typeof http;
type Checked = Parameters<Http['query']>[1];

/** By method and path of the route: what has been checked there so far. */
export const routeSchemas = new Map<string, RouteSchemas>();

/** The http library with its checks of requests writing down their schemas. */
export function recordSchemas(actual: Http): Http {
  const note = (part: 'query' | 'body', schema: { readonly json: unknown } | undefined, request: Checked): void => {
    if (!schema) return;
    const route = `${request.method} ${request.routeOptions.url}`;
    routeSchemas.set(route, { ...routeSchemas.get(route), [part]: schema.json as JsonSchema });
  };
  return {
    ...actual,
    validateRequest(request, parts) {
      note('query', parts.query, request);
      note('body', parts.body, request);
      return actual.validateRequest(request, parts);
    },
    query(schema, request) {
      note('query', schema, request);
      return actual.query(schema, request);
    },
    body(schema, request) {
      note('body', schema, request);
      return actual.body(schema, request);
    },
  };
}
