import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Largest number of requests that wait for earlier answers on their connection. A connection with more is closed. */
const MOST_WAITING = { ofConnection: 100, together: 2_000 };

type Letting = (request: IncomingMessage, response: ServerResponse) => void;

/** A connection and its waiting requests. */
interface Line {
  answering: boolean;
  readonly waiting: { readonly request: IncomingMessage; readonly response: ServerResponse }[];
}

/**
 * Begins the next request of a connection only when the previous answer has been written to the client. A client that
 * sends many requests and reads nothing then has one answer in memory. Call it after all other listeners for requests
 * were added. Returns a function that tells whether a request of a connection is being answered.
 */
export function oneAtATime(server: Server): (socket: Socket) => boolean {
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
  return (socket) => lines.get(socket)?.answering ?? false;
}
