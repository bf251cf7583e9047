import { anyJson, anyObject, int, type JsonSchema, list, note, object, str, union } from '@fairlead/schema';
import type { Components } from './components';

const sentence = note(str(), 'What is wrong, in one sentence.');
const type = note(str(), 'What kind of problem, such as `missing` or `uuid_parsing`.');
const input = note(anyJson(), 'What was sent there; `[redacted]` where it can be a secret.');
const ctx = note(anyObject(), 'Values that the sentence is made of, such as the limit that was exceeded.');
const problem = object('RequestProblem', {
  type,
  loc: note(list(union(str(), int())), 'Where: the part of the request, then names and positions.'),
  msg: sentence,
  input,
  'ctx?': ctx,
});
const error: JsonSchema = { ...object('Error', { detail: sentence }).json, additionalProperties: true };
const invalid = object('RequestError', {
  detail: note(union(list(problem), str()), 'All problems of the request, or one sentence.'),
});
const pointed = object('PointedProblem', {
  detail: sentence,
  in: note(str(), 'Part of the request: `body`, `query` or `path`.'),
  pointer: note(str(), 'JSON pointer within that part.'),
  type,
  input,
  'ctx?': ctx,
});
const details: JsonSchema = {
  ...object('ProblemDetails', {
    type: note(str(), 'URI of the kind of problem (RFC 9457).'),
    title: note(str(), 'Name of the HTTP status.'),
    status: note(int(), 'The HTTP status.'),
    detail: sentence,
    request_id: note(str(), 'The `x-request-id` of the request.'),
    'errors?': note(list(pointed), 'All problems of a request that does not fit its schema.'),
  }).json,
  additionalProperties: true,
};

interface ErrorAnswer {
  readonly name: string;
  readonly when: string;
  readonly headers?: readonly string[];
}

/** The errors of routes, by status. */
export const ERRORS: Readonly<Record<string, ErrorAnswer>> = {
  400: { name: 'BadRequest', when: 'The request breaks a rule, which `detail` states.' },
  401: {
    name: 'Unauthorized',
    when: 'The key is missing, unknown, expired or revoked.',
    headers: ['WWW-Authenticate'],
  },
  403: {
    name: 'Forbidden',
    when: 'The key lacks the scope, which `WWW-Authenticate` names, or `X-Tenant-Id` has to name the workspace.',
    headers: ['WWW-Authenticate'],
  },
  404: { name: 'NotFound', when: 'The workspace has no such thing.' },
  408: { name: 'RequestTimeout', when: 'The body came too slowly, or stopped.' },
  409: { name: 'Conflict', when: 'The state of the resource does not allow the change.', headers: ['x-should-retry'] },
  412: { name: 'PreconditionFailed', when: '`If-Match` names another version.', headers: ['x-should-retry'] },
  413: { name: 'PayloadTooLarge', when: 'The body is larger than the limit, which `detail` names.' },
  415: { name: 'UnsupportedMediaType', when: 'The type or the encoding of the body is not accepted here.' },
  422: { name: 'RequestInvalid', when: 'The request does not fit its schema.', headers: ['x-error-count'] },
  429: {
    name: 'TooManyRequests',
    when: 'Too many requests; `Retry-After` says when to try again.',
    headers: ['Retry-After'],
  },
  '5XX': {
    name: 'ServerError',
    when: 'The service, or another one that it needs, failed or took too long.',
    headers: ['Retry-After'],
  },
};

/** Responses by their names among the components. */
export type ErrorResponses = Readonly<Record<string, { readonly content: object } & JsonSchema>>;

/** Returns the responses of `ERRORS` for the components of a document, in both forms. */
export function errorResponses(components: Components): ErrorResponses {
  const content = (schema: JsonSchema) => ({
    'application/json': { schema: components.refer(schema) },
    'application/problem+json': { schema: components.refer(details) },
  });
  const entries = Object.entries(ERRORS).map(([status, { name, when, headers = [] }]) => {
    const names = ['x-request-id', ...headers];
    const response = {
      description: when,
      headers: Object.fromEntries(names.map((header) => [header, { $ref: `#/components/headers/${header}` }])),
      content: content(status === '422' ? invalid.json : error),
    };
    return [name, response];
  });
  return Object.fromEntries(entries) as ErrorResponses;
}
