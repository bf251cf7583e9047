import type { FastifyRequest } from 'fastify';
import { Unprocessable } from '@fairlead/schema';
import { isJson } from './json-type';
import { isOwn } from './own-routes';
import { check, object, Problems } from '@fairlead/schema';
import type { Loc, ObjectSchema, Schema } from '@fairlead/schema';

/** The schemas of the parts of a request. */
export interface Parts<P, Q, B> {
  readonly path?: Schema<P>;
  readonly query?: ObjectSchema<Q>;
  readonly body?: Schema<B>;
}

/**
 * Returns the checked parts of a request. A query parameter without a value counts as absent. Of a repeated one, the
 * last value counts, unless the schema takes a list. Fairlead's own routes refuse one that the schema does not name.
 * @throws Unprocessable with the problems of all parts, in the order path, query, body.
 */
export function validateRequest<P = undefined, Q = undefined, B = undefined>(
  request: FastifyRequest,
  parts: Parts<P, Q, B>,
): { path: P; query: Q; body: B } {
  const problems = new Problems();
  const path = parts.path && check(parts.path, request.params, ['path'], problems);
  const query = parts.query && check(parts.query, readQuery(parts.query, request.query), ['query'], problems);
  if (isOwn(request.routeOptions.url ?? '')) refuseUnknown(parts.query, request.query, problems);
  const body = parts.body && checkBody(parts.body, request.body, problems);
  if (problems.total > 0) throw new Unprocessable(problems);
  return { path: path as P, query: query as Q, body: body as B };
}

const ANY_OBJECT = object({});

/**
 * Refuses a body whose content type is not JSON, for routes that read the body themselves. `beginning`: the part of the
 * body that the error shows. @throws Unprocessable
 */
export function requireJson(request: FastifyRequest, beginning: Buffer): void {
  if (!isJson(request) && beginning.length > 0) validate(ANY_OBJECT, beginning.toString('utf8'), 'body');
}

/** Checks a value that is not part of a request. @throws Unprocessable */
export function validate<T>(schema: Schema<T>, input: unknown, loc: Loc | 'body' | 'query' | 'path' | 'header'): T {
  const problems = new Problems();
  const value = check(schema, input, typeof loc === 'string' ? [loc] : loc, problems);
  if (problems.total > 0) throw new Unprocessable(problems);
  return value as T;
}

function checkBody<B>(schema: Schema<B>, input: unknown, problems: Problems): B | undefined {
  // The JSON value null is a body, of another kind than what is wanted; only no body at all is missing.
  if (input !== undefined) return check(schema, input, ['body'], problems);
  problems.add({ type: 'missing', loc: ['body'], msg: 'Field required', input: null });
  return undefined;
}

function refuseUnknown(schema: ObjectSchema<unknown> | undefined, raw: unknown, problems: Problems): void {
  const known = new Set(Object.keys(schema?.json.properties ?? {}));
  for (const [name, input] of Object.entries(raw as object)) {
    if (known.has(name)) continue;
    problems.add({ type: 'extra_forbidden', loc: ['query', name], msg: 'Extra inputs are not permitted', input });
  }
}

function readQuery(schema: ObjectSchema<unknown>, raw: unknown): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(raw as Record<string, string | string[]>)) {
    const given = (Array.isArray(value) ? value : [value]).filter((item) => item !== '');
    if (given.length > 0) values[name] = schema.lists.has(name) ? given : given.at(-1);
  }
  return values;
}
