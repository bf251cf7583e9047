import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Ends connections whose client has stopped reading its answer: nothing of it could be sent for about `patience`
 * milliseconds. A handler that takes its time is no reason.
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

/** Node's own timeout ends a socket on which nothing moves, parts of a large write included. */
function watch(socket: Socket, patience: number): void {
  const isWatched = socket.timeout === patience;
  const isSending = socket.writableLength > 0;
  if (isSending && !isWatched) socket.setTimeout(patience);
  // What waits now is the handler, or the server for the next request, which sets a timeout of its own.
  if (!isSending && isWatched) socket.setTimeout(0);
}
