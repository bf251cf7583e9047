import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Ends connections whose client has stopped reading: nothing of the answer could be sent for about `patience`
 * milliseconds. A slow handler does not count.
 */
export function endSlowReaders(server: Server, patience: number): void {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const timer = setInterval(() => {
    for (const socket of sockets) watch(socket, patience);
  }, patience / 2);
  timer.unref();
  server.once('close', () => {
    clearInterval(timer);
  });
}

/** Uses Node's timeout of a socket, which ends it when nothing moves, also within a large write. */
function watch(socket: Socket, patience: number): void {
  const isWatched = socket.timeout === patience;
  const isSending = socket.writableLength > 0;
  if (isSending && !isWatched) socket.setTimeout(patience);
  // What waits now is the handler, or the server for the next request, which sets a timeout of its own.
  if (!isSending && isWatched) socket.setTimeout(0);
}
