import type { JsonSchema } from '@fairlead/schema';
import type { Components } from './components';
import { any, either, free, integer, list, object, text } from './shapes';

const problem = object('RequestProblem', {
  type: { ...text, description: 'What kind of problem, such as `missing` or `uuid_parsing`.' },
  loc: { ...list(either(text, integer)), description: 'Part of the request, then names and positions.' },
  msg: text,
  input: { ...any, description: 'What was sent there; `[redacted]` where it can be a secret.' },
  'ctx?': free,
});
const error: JsonSchema = { ...object('Error', { detail: text }), additionalProperties: true };
const invalid = object('RequestError', { detail: either(list(problem), text) });
const pointed: JsonSchema = object('PointedProblem', {
  detail: text,
  in: text,
  pointer: { ...text, description: 'JSON pointer within that part.' },
  type: text,
  input: any,
  'ctx?': free,
});
const details: JsonSchema = {
  ...object('ProblemDetails', {
    type: text,
    title: text,
    status: integer,
    detail: text,
    request_id: text,
    'errors?': list(pointed),
  }),
  additionalProperties: true,
};

interface ErrorAnswer {
  readonly name: string;
  readonly when: string;
  readonly headers?: readonly string[];
}

/** The errors that routes answer, by status. */
export const ERRORS: Readonly<Record<string, ErrorAnswer>> = {
  400: { name: 'BadRequest', when: 'The request contradicts itself or the state of things.' },
  401: { name: 'Unauthorized', when: 'There is no key, or nobody knows it.' },
  403: { name: 'Forbidden', when: 'The key lacks the scope, or the workspace has to be named in `X-Tenant-Id`.' },
  404: { name: 'NotFound', when: "It is not there, or another tenant's." },
  408: { name: 'RequestTimeout', when: 'The body stopped coming.' },
  409: { name: 'Conflict', when: 'It is in conflict with what there is.', headers: ['x-should-retry'] },
  412: { name: 'PreconditionFailed', when: '`If-Match` names another version.', headers: ['x-should-retry'] },
  413: { name: 'PayloadTooLarge', when: 'The body is larger than the limit, which `detail` names.' },
  415: { name: 'UnsupportedMediaType', when: 'The body is encoded in a way that is not taken here.' },
  422: { name: 'RequestInvalid', when: 'The request does not fit its schema.', headers: ['x-error-count'] },
  429: { name: 'TooManyRequests', when: 'Too many requests at a time.', headers: ['Retry-After'] },
  '5XX': {
    name: 'ServerError',
    when: 'The service, or another one that it needs, fails or takes too long.',
    headers: ['Retry-After'],
  },
};

/** By name. */
export type ErrorResponses = Readonly<Record<string, { readonly content: object } & JsonSchema>>;

/** The answers of `ERRORS` for a document's components, in both shapes. */
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
