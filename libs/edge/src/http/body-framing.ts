import type { IncomingMessage } from 'node:http';

const BODILESS = new Set(['GET', 'HEAD']);

/** Returns whether a request has a body that is looked at. */
export function bringsBody({ method = '', headers }: IncomingMessage): boolean {
  if (BODILESS.has(method)) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
