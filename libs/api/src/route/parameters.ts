import { type CanActivate, createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { check, type Loc, object, type ObjectSchema, Problems, type Schema, Unprocessable } from '@fairlead/schema';
import { describeRoute, type Description } from './describe';

/** The schemas of a handler's parameters. */
type Declared = Parts<unknown, unknown, unknown>;
type Part = keyof Declared;
type Checked = Readonly<Partial<Record<Part, unknown>>>;

/** A decorator for a parameter of the type `T`; on a parameter of another type it does not compile. */
type DecoratorOf<T> = <K extends string, I extends number, C extends { [N in K]: (...parameters: never[]) => unknown }>(
  target: C,
  name: K,
  index: [T] extends [Parameters<C[K]>[I]] ? I : never,
) => void;

const declared = new WeakMap<object, Declared>();
const outcomes = new WeakMap<FastifyRequest, { readonly checked: Checked } | { readonly error: unknown }>();

/** Injects the path parameters, checked by the schema. @throws Unprocessable */
export function Path<T>(schema: ObjectSchema<T>): DecoratorOf<T> {
  return takes('path', schema);
}

/** Injects one of the path parameters that the schema checks. @throws Unprocessable */
export function PathMember<T, K extends keyof T>(schema: ObjectSchema<T>, member: K): DecoratorOf<T[K]> {
  return takes('path', schema, member as string);
}

/** Injects the query parameters, checked by the schema. @throws Unprocessable */
export function Query<T>(schema: ObjectSchema<T>): DecoratorOf<T> {
  return takes('query', schema);
}

/** Injects the JSON body, checked by the schema. @throws Unprocessable */
export function Body<T>(schema: Schema<T>): DecoratorOf<T> {
  return takes('body', schema);
}

/**
 * Returns the checked parts of the current request. All parts that the parameters of the handler declare are checked
 * together, once per request. @throws Unprocessable with the problems of all parts, in the order path, query, body.
 */
export function checkedParts(execution: ExecutionContext): Checked {
  const request = execution.switchToHttp().getRequest<FastifyRequest>();
  const outcome = outcomes.get(request) ?? attempt(request, declared.get(execution.getHandler()) ?? {});
  outcomes.set(request, outcome);
  if ('error' in outcome) throw outcome.error;
  return outcome.checked;
}

function attempt(request: FastifyRequest, parts: Declared) {
  try {
    return { checked: validateRequest(request, parts) };
  } catch (error) {
    return { error };
  }
}

const CheckedPart = createParamDecorator(([part, member]: [Part, string?], execution: ExecutionContext) => {
  const checked = checkedParts(execution)[part];
  return member === undefined ? checked : (checked as Readonly<Record<string, unknown>>)[member];
});

function takes<T>(part: Part, schema: Schema<unknown>, member?: string): DecoratorOf<T> {
  return (target: object, name: string, index: number) => {
    const descriptor = Object.getOwnPropertyDescriptor(target, name)!;
    const handler = descriptor.value as object;
    const more = { [part]: schema } as Declared;
    declared.set(handler, { ...declared.get(handler), ...more });
    describeRoute(more as Partial<Description>)(target, name, descriptor);
    CheckedPart([part, member])(target, name, index);
  };
}

/** Checks the query of strict routes that take none as well. */
@Injectable()
export class StrictRoutesGuard implements CanActivate {
  canActivate(execution: ExecutionContext): true {
    if (execution.getType() !== 'http') return true;
    const { routeOptions } = execution.switchToHttp().getRequest<FastifyRequest>();
    if (routeOptions.config.strict) checkedParts(execution);
    return true;
  }
}

/** The schemas of the parts of a request. */
interface Parts<P, Q, B> {
  readonly path?: Schema<P>;
  readonly query?: ObjectSchema<Q>;
  readonly body?: Schema<B>;
}

/**
 * Returns the checked parts of a request. A query parameter without a value counts as absent. Of a repeated one, the
 * last value counts, unless the schema takes a list. Strict routes refuse one that the schema does not name.
 * @throws Unprocessable with the problems of all parts, in the order path, query, body.
 */
export function validateRequest<P = undefined, Q = undefined, B = undefined>(
  request: FastifyRequest,
  parts: Parts<P, Q, B>,
): { path: P; query: Q; body: B } {
  const problems = new Problems();
  const path = parts.path && check(parts.path, request.params, ['path'], problems);
  const query = parts.query && check(parts.query, readQuery(parts.query, request.query), ['query'], problems);
  if (request.routeOptions.config.strict) refuseUnknown(parts.query, request.query, problems);
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

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/** Returns whether the body counts as JSON: its content type says so, or there is none. */
export function isJson({ headers }: FastifyRequest): boolean {
  const type = headers['content-type'];
  return type === undefined || JSON_TYPE.test(type);
}
