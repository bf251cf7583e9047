import type { Loc, Problem, Problems } from './problem';

interface More extends ErrorOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the answer, beside `detail`. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/**
 * An error with its answer: a status, headers, and a `detail` of one sentence or a list of problems. Its code is the
 * name of its class. Errors of every layer derive from it, and one filter turns them into answers: `{"detail": …}` or,
 * on request, RFC 9457.
 */
export class HttpProblem extends Error {
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, unknown>>;

  constructor(
    readonly status: number,
    readonly detail: string | readonly Problem[],
    more: More = {},
  ) {
    super(typeof detail === 'string' ? detail : `${detail.length} problems in the request`, more);
    this.name = new.target.name;
    this.headers = more.headers ?? {};
    this.members = more.members ?? {};
  }
}

export class BadRequest extends HttpProblem {
  constructor(detail: string) {
    super(400, detail);
  }
}

/** The key is missing or not valid. As RFC 9110 requires, the answer names a way to send one. */
export class Unauthorized extends HttpProblem {
  constructor(detail = 'Invalid token') {
    super(401, detail, { headers: { 'www-authenticate': 'Bearer' } });
  }
}

/** The key may not do this. `members` are added to the answer. */
export class Forbidden extends HttpProblem {
  constructor(detail = 'Forbidden', members: Readonly<Record<string, unknown>> = {}, headers: More['headers'] = {}) {
    super(403, detail, { members, headers });
  }

  /** Returns an error whose answer names the scope that the key lacks, in the header of RFC 6750. */
  static without(scope: string): Forbidden {
    return new Forbidden(undefined, {}, { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` });
  }
}

/**
 * The thing does not exist, or belongs to another tenant. The sentence always contains "not found", which clients look
 * for.
 */
export class NotFound extends HttpProblem {
  constructor(detail = 'Not Found') {
    super(404, detail);
  }
}

export class MethodNotAllowed extends HttpProblem {
  constructor(allowed: readonly string[]) {
    super(405, 'Method Not Allowed', { headers: { allow: allowed.join(', ') } });
  }
}

/** The client was too slow with its request. */
export class RequestTimeout extends HttpProblem {
  constructor(detail = 'The request took too long to arrive.') {
    super(408, detail, { headers: { connection: 'close' } });
  }
}

// Generated SDKs repeat every 409 and 412 unless told not to.
const FINAL = { 'x-should-retry': 'false' };

export class Conflict extends HttpProblem {
  constructor(detail: string, more: More = {}) {
    super(409, detail, { ...more, headers: { ...FINAL, ...more.headers } });
  }
}

export class PreconditionFailed extends HttpProblem {
  constructor(detail = 'The resource has changed: If-Match names another version.') {
    super(412, detail, { headers: FINAL });
  }
}

export class PayloadTooLarge extends HttpProblem {
  constructor(detail: string) {
    super(413, detail, { headers: { connection: 'close' } });
  }
}

export class UnsupportedMediaType extends HttpProblem {
  constructor(detail: string) {
    super(415, detail);
  }
}

/** The request does not fit its schema. The header `x-error-count` has the number of problems, listed or not. */
export class Unprocessable extends HttpProblem {
  constructor(problems: Problems | readonly Problem[] | string) {
    const many = typeof problems !== 'string' && 'kept' in problems;
    const detail = many ? problems.list() : problems;
    const count = many ? problems.total : detail.length;
    super(422, detail, typeof detail === 'string' ? {} : { headers: { 'x-error-count': String(count) } });
  }

  /** Returns an error with one problem, which is not one of pydantic, at a place of the request. */
  static at(loc: Loc, error: string, input: unknown = null): Unprocessable {
    return new Unprocessable([{ type: 'value_error', loc, msg: `Value error, ${error}`, input, ctx: { error } }]);
  }
}

/** `retryAfter` in seconds. */
export class TooManyRequests extends HttpProblem {
  constructor(retryAfter: number, detail = 'Too many requests, try again later.') {
    super(429, detail, { headers: { 'retry-after': String(retryAfter) } });
  }
}

/** `retryAfter` in seconds. */
export class Unavailable extends HttpProblem {
  constructor(retryAfter = 5, detail = 'The service is not available right now, try again later.') {
    super(503, detail, { headers: { 'retry-after': String(retryAfter) } });
  }
}

/** Another service or the database took too long. `retryAfter` in seconds. */
export class GatewayTimeout extends HttpProblem {
  constructor(detail = 'The service took too long, try again later.', retryAfter = 5) {
    super(504, detail, { headers: { 'retry-after': String(retryAfter) } });
  }
}
