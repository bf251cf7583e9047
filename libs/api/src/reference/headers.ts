const string = { type: 'string' } as const;

/** Request headers by their names in descriptions. `X-Tenant-Id` is added to every route that needs a key. */
export const PARAMETERS = {
  'X-Tenant-Id': {
    description: 'The workspace; needed only with a key that opens several.',
    schema: { ...string, format: 'uuid' },
  },
  'Idempotency-Key': {
    description:
      'Makes the request safe to repeat for 24 hours: the same key and body get the first answer, with `Idempotent-Replayed: true`; another body is refused.',
    schema: { ...string, minLength: 1, maxLength: 255 },
  },
  'If-Match': {
    description: 'The `ETag` that the change starts from; 412 when the resource has changed since.',
    schema: { ...string, minLength: 1 },
  },
  'If-None-Match': {
    description: 'The `ETag` of an answer that the client has: 304 without a body when it is still the same.',
    schema: { ...string, minLength: 1 },
  },
  'x-reason': { description: 'Why; kept with the change.', schema: { ...string, maxLength: 1000 } },
  'Content-Encoding': {
    description: 'How the body is compressed.',
    schema: { ...string, enum: ['identity', 'gzip', 'zstd'] },
  },
} as const;

/** Response headers by their names in descriptions. */
export const HEADERS = {
  'x-request-id': { description: 'The id of this request in logs and history.', schema: string },
  ETag: {
    description:
      'The version; goes into `If-Match`. Where the answer is a file, or the tag is weak (`W/…`), it goes into `If-None-Match`.',
    schema: string,
  },
  Link: { description: 'The next page, as `<…>; rel="next"`; absent on the last.', schema: string },
  'X-Pagination-Total': {
    description: 'The number of items on all pages together; only with `count=true`.',
    schema: { type: 'integer' },
  },
  Warning: {
    description: '`110` when the answer is an older one, because the other host does not answer.',
    schema: string,
  },
  Age: { description: 'Seconds since the other host was asked.', schema: { type: 'integer' } },
  'x-dry-run': { description: '`true` when nothing was written.', schema: { ...string, enum: ['true'] } },
  'Idempotent-Replayed': {
    description: '`true` when this is the first answer to the same request again.',
    schema: { ...string, enum: ['true'] },
  },
  'Content-Disposition': { description: 'The name of the file.', schema: string },
  'Retry-After': { description: 'Seconds to wait before the next try.', schema: { type: 'integer' } },
  'x-should-retry': { description: '`false`: sending the same again is of no use.', schema: string },
  'WWW-Authenticate': {
    description: '`Bearer`; with `error="insufficient_scope", scope="…"` when the key lacks the scope of the route.',
    schema: string,
  },
  'x-error-count': { description: 'The number of problems, listed or not.', schema: { type: 'integer' } },
} as const;
