import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that wait on connections for the answers before theirs; the connection that brings more is closed. */
const MOST_WAITING = { ofConnection: 100, together: 2_000 };

type Letting = (request: IncomingMessage, response: ServerResponse) => void;

/** A connection, and the requests that wait on it. */
interface Line {
  answering: boolean;
  readonly waiting: { readonly request: IncomingMessage; readonly response: ServerResponse }[];
}

/**
 * A connection's next request is taken up only when the answer to the one before has been written to the client: a
 * client that sends many and reads nothing has one answer in memory, not as many as it asked for. To be called when
 * everything else that listens for requests does so.
 */
export function oneAtATime(server: Server): void {
  const listeners = server.listeners('request') as Letting[];
  const lines = new WeakMap<Socket, Line>();
  let together = 0;
  const lineOf = (socket: Socket): Line => {
    const known = lines.get(socket);
    if (known) return known;
    const line: Line = { answering: false, waiting: [] };
    lines.set(socket, line);
    socket.once('close', () => (together -= line.waiting.splice(0).length));
    return line;
  };
  const answer = (line: Line, request: IncomingMessage, response: ServerResponse) => {
    line.answering = true;
    response.once('finish', () => {
      line.answering = false;
      const next = line.waiting.shift();
      if (!next) return;
      together--;
      answer(line, next.request, next.response);
    });
    for (const listener of listeners) listener.call(server, request, response);
  };
  server.removeAllListeners('request').on('request', (request: IncomingMessage, response: ServerResponse) => {
    const line = lineOf(request.socket);
    if (!line.answering) answer(line, request, response);
    else if (line.waiting.length < MOST_WAITING.ofConnection && together < MOST_WAITING.together) {
      together++;
      line.waiting.push({ request, response });
    } else request.socket.destroy();
  });
}
