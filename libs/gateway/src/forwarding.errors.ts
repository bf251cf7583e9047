import { GatewayTimeout, HttpProblem, Unavailable } from '@fairlead/schema';

/** Codes of errors after which the request has not reached the process. */
const UNREACHED = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'],
  'UND_ERR_CONNECT_TIMEOUT',
]);
/** Codes of errors for a connection that ended before the answer. */
const CUT_OFF = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
const SAFE = new Set(['GET', 'HEAD']);

/** Returns whether a failed request can be sent to another process without the risk that it is carried out twice. */
export function mayRepeat(error: unknown, method: string): boolean {
  const code = codeOf(error);
  return UNREACHED.has(code) || (SAFE.has(method) && CUT_OFF.has(code));
}

/** Returns the error for a client when no process answered. */
export function forwardingProblem(error: unknown): HttpProblem {
  const code = codeOf(error);
  if (UNREACHED.has(code)) return new Unavailable(1);
  if (CUT_OFF.has(code)) {
    return new Unavailable(1, 'The service ended before it answered: what was asked may have been done.');
  }
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return new GatewayTimeout();
  return new HttpProblem(502, 'The service gave no valid answer.', { headers: { 'retry-after': '1' } });
}

function codeOf(error: unknown): string {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
