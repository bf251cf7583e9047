import { GatewayTimeout, HttpProblem, Unavailable } from '@fairlead/schema';

/** The request did not reach the process. */
const UNREACHED = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'],
  'UND_ERR_CONNECT_TIMEOUT',
]);
/** The connection ended before the answer came. */
const CUT_OFF = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
const SAFE = new Set(['GET', 'HEAD']);

/** Whether a request that failed so can be sent to another process without being carried out twice. */
export function mayRepeat(error: unknown, method: string): boolean {
  const code = codeOf(error);
  return UNREACHED.has(code) || (SAFE.has(method) && CUT_OFF.has(code));
}

/** What a client is told when no process answered. */
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
