import type { IncomingMessage, ServerResponse } from 'node:http';

/** Milliseconds that a client may go on sending what nobody reads. */
const PATIENCE = 5_000;

/**
 * Lets a client that asked for the connection to be closed have its whole answer, even one that came before its body had
 * arrived: closing with bytes unread would take back what of the answer is still on its way. The rest of the body is
 * dropped, and the connection closed when it has ended.
 */
export function linger(request: IncomingMessage, response: ServerResponse): void {
  const { headers } = request;
  if (response.shouldKeepAlive) return;
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) return;
  dropRest(request);
}

/** As `linger`, for an answer that ends the connection although the client did not ask for that. */
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
