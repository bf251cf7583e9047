import type { IncomingMessage, ServerResponse } from 'node:http';

/** Time for which a client may go on sending a body that nobody reads (ms). */
const PATIENCE = 5_000;

/**
 * Delays the end of a connection until the client has its whole answer, also when the answer came before the body had
 * arrived: closing a connection with unread bytes discards what of the answer is still on its way. The rest of the body
 * is dropped.
 */
export function linger(request: IncomingMessage, response: ServerResponse): void {
  const { headers } = request;
  if (response.shouldKeepAlive) return;
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) return;
  dropRest(request);
}

/** As `linger`, for an answer that ends the connection without a request of the client. */
export function dropRest(request: IncomingMessage): void {
  const { socket } = request;
  socket.destroySoon = () => {
    socket.end();
    if (request.complete || request.destroyed) destroySent(socket);
    else {
      const late = setTimeout(() => socket.destroy(), PATIENCE).unref();
      request.once('close', () => {
        clearTimeout(late);
        destroySent(socket);
      });
      request.resume();
    }
  };
}

function destroySent(socket: IncomingMessage['socket']): void {
  if (socket.writableFinished) socket.destroy();
  else socket.once('finish', () => socket.destroy());
}
