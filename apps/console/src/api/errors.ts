import { isOfPath, sentencesOf } from './sentence';

/** Longest time (s) to wait for a service by itself. */
const MOST_WAIT_S = 300;

interface More {
  /** Scope that the key lacks. */
  readonly scope?: string;
  /** Seconds after which the service wants to be asked again. */
  readonly retryAfter?: number;
  /** Faults of single members of the request, as `sentencesOf` takes them. */
  readonly faults?: unknown;
  /** No such thing exists, or not for this key. */
  readonly isUnknown?: boolean;
}

/** A refusal by the service, with a sentence for people and the id of the request. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    sentence: string,
    readonly requestId: string | null,
    readonly more: More = {},
  ) {
    super(sentence);
  }
}

/** The error for an answer that is no success, of its headers and its body. */
export function refusal(status: number, header: (name: string) => string | null, body: unknown): ApiError {
  const detail = (body as { detail?: unknown } | null | undefined)?.detail;
  const scope = /error="insufficient_scope".*scope="([\w:]+)"/.exec(header('www-authenticate') ?? '')?.[1];
  const seconds = Number(header('retry-after') ?? NaN);
  const sentence =
    scope === undefined
      ? (sentencesOf(detail) ?? `The service ${status < 500 ? 'refused this' : 'cannot answer just now'} (${status}).`)
      : `This key may not do this: it needs the scope ${scope}.`;
  return new ApiError(status, sentence, header('x-request-id'), {
    scope,
    faults: scope === undefined && Array.isArray(detail) ? detail : undefined,
    retryAfter: seconds >= 0 ? Math.min(seconds, MOST_WAIT_S) : undefined,
    isUnknown: status === 404 || (status === 422 && isOfPath(detail)),
  });
}
