import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A service that answers as a test says, to see how the program takes it. */
export class Double {
  /** Method and path of every request. */
  readonly seen: string[] = [];
  answer: Answer = (_, response) => response.end();
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      this.seen.push(`${request.method} ${request.url}`);
      this.answer(request, response);
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

export function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
