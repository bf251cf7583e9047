import type { JsonSchema } from '@fairlead/schema';
import type { Components } from './components';
import { any, either, free, integer, list, noted, object, text } from './shapes';

const problem = object('RequestProblem', {
  type: noted(text, 'What kind of problem, such as `missing` or `uuid_parsing`.'),
  loc: noted(list(either(text, integer)), 'Where: the part of the request, then names and positions.'),
  msg: noted(text, 'What is wrong, in one sentence.'),
  input: noted(any, 'What was sent there; `[redacted]` where it can be a secret.'),
  'ctx?': noted(free, 'Values that the sentence is made of, such as the limit that was exceeded.'),
});
const error: JsonSchema = {
  ...object('Error', { detail: noted(text, 'What is wrong, in one sentence.') }),
  additionalProperties: true,
};
const invalid = object('RequestError', {
  detail: noted(either(list(problem), text), 'All problems of the request, or one sentence.'),
});
const pointed: JsonSchema = object('PointedProblem', {
  detail: noted(text, 'What is wrong, in one sentence.'),
  in: noted(text, 'Part of the request: `body`, `query` or `path`.'),
  pointer: noted(text, 'JSON pointer within that part.'),
  type: noted(text, 'What kind of problem, such as `missing` or `uuid_parsing`.'),
  input: noted(any, 'What was sent there; `[redacted]` where it can be a secret.'),
  'ctx?': noted(free, 'Values that the sentence is made of, such as the limit that was exceeded.'),
});
const details: JsonSchema = {
  ...object('ProblemDetails', {
    type: noted(text, 'URI of the kind of problem (RFC 9457).'),
    title: noted(text, 'Name of the HTTP status.'),
    status: noted(integer, 'The HTTP status.'),
    detail: noted(text, 'What is wrong, in one sentence.'),
    request_id: noted(text, 'The `x-request-id` of the request.'),
    'errors?': noted(list(pointed), 'All problems of a request that does not fit its schema.'),
  }),
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
  401: { name: 'Unauthorized', when: 'The key is missing, unknown, expired or revoked.' },
  403: { name: 'Forbidden', when: 'The key lacks the scope, or `X-Tenant-Id` has to name the workspace.' },
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
      content: content(status === '422' ? invalid : error),
    };
    return [name, response];
  });
  return Object.fromEntries(entries) as ErrorResponses;
}
