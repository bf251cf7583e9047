import type { Socket } from 'node:net';
import { STATUS_CODES } from 'node:http';
import { requestId } from './headers/request-id';
import { securityHeaders } from './headers/security-headers';

const ANSWERS: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The address or the headers of the request are too long.'],
  HPE_INVALID_EOF_STATE: [408, 'The request ended early.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
};

/**
 * Returns the handler for connections that send no valid HTTP request: too large or too slow headers, or other bytes.
 * Its answer has the same security headers as others. `https`: clients reach the service over https only.
 */
export function answersClientErrors(https: boolean): (error: Error & { code?: string }, socket: Socket) => void {
  const security = Object.entries(securityHeaders(https)).map(([name, value]) => `${name}: ${value}\r\n`);
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const [status, detail] = ANSWERS[error.code ?? ''] ?? [400, 'The request is not valid HTTP.'];
    const body = JSON.stringify({ detail });
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\nx-request-id: ${requestId({ headers: {} })}\r\n` +
        `${security.join('')}Connection: close\r\n\r\n${body}`,
    );
  };
}
