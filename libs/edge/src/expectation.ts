import type { IncomingMessage, Server, ServerResponse } from 'node:http';

const holding = new WeakSet<IncomingMessage>();

/**
 * Answers `Expect: 100-continue` with 100 when the first byte of the body is about to be read, and not before: what can be
 * refused by the head of a request is refused before the client has sent its body. Such an answer ends the connection,
 * because the client may or may not send the body afterwards.
 */
export function continueWhenRead(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    const { shouldKeepAlive } = response;
    const read = request._read.bind(request);
    holding.add(request);
    response.shouldKeepAlive = false;
    request._read = (size) => {
      if (holding.delete(request) && !response.headersSent) {
        response.shouldKeepAlive = shouldKeepAlive;
        response.writeContinue();
      }
      read(size);
    };
    server.emit('request', request, response);
  });
}

/** True while a client waits for 100 before it sends its body: then there is nothing to be read and dropped. */
export function holdsBody(request: IncomingMessage): boolean {
  return holding.has(request);
}
