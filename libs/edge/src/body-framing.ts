import type { IncomingMessage } from 'node:http';

const BODILESS = new Set(['GET', 'HEAD']);

/** Whether a body follows the head of a request, of which something is looked at. */
export function bringsBody({ method = '', headers }: IncomingMessage): boolean {
  if (BODILESS.has(method)) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
