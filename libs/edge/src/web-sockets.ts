import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Silence of a connection after which the system checks whether its other end is still there (ms). */
const SILENT_MS = 60_000;

/**
 * Passes requests for a WebSocket to the routes of the server, with `upgrade` true: a route may take the connection over,
 * and any other answer ends it. Once somebody listens for them, Node takes all requests that offer another protocol off
 * their connections; those that offer anything else, such as HTTP/2, are put back without their offer.
 * `isAnswering`: whether an earlier request of a connection is being answered. Returns a function that ends all
 * WebSockets and takes no more: a server that closes would wait for them.
 */
export function offerWebSockets(server: Server, isAnswering: (socket: Socket) => boolean): () => void {
  const [serve] = server.listeners('connection') as [(socket: Socket) => void];
  const open = new Set<Socket>();
  let isOver = false;
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Clients wait for an answer before they offer another protocol.
    if (isAnswering(socket)) return socket.destroy();
    if (!isWebSocket(request)) {
      socket.unshift(Buffer.concat([headWithoutOffer(request), head]));
      serve.call(server, socket);
      return undefined;
    }
    if (isOver) return socket.destroy();
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('timeout', () => socket.destroy());
    socket.setKeepAlive(true, SILENT_MS);
    if (head.length > 0) socket.unshift(head);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => socket.destroySoon());
    return server.emit('request', request, response);
  });
  return () => {
    isOver = true;
    for (const socket of open) socket.destroy();
  };
}

function isWebSocket({ method, headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && !hasBody;
}

/** The head of a request as it came, without the header `Upgrade`. */
function headWithoutOffer({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
