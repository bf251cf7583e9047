import type { IncomingMessage, Server, ServerResponse } from 'node:http';

const holding = new WeakSet<IncomingMessage>();

/**
 * Answers `Expect: 100-continue` with 100 only when the body is about to be read, so that a request can be refused by
 * its headers before the client sends its body. Such a refusal ends the connection, because the client may or may not
 * send the body afterwards.
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

/** Returns whether a client still waits for 100 before it sends its body; then there is nothing to read and drop. */
export function holdsBody(request: IncomingMessage): boolean {
  return holding.has(request);
}
