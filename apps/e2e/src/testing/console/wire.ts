import { createServer, type IncomingHttpHeaders, request as send, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request of a browser and its answer, as far as they have come. */
export interface Exchange {
  /** Method and path, without what stands behind a question mark. */
  readonly name: string;
  readonly url: string;
  readonly sent: { headers: IncomingHttpHeaders; body: string };
  readonly received: { headers: IncomingHttpHeaders; body: string };
}

/** A proxy in front of an installation, which keeps all that goes through it. */
export class Wire {
  readonly exchanges: Exchange[] = [];

  private constructor(private readonly server: Server) {}

  static async start(target: string): Promise<Wire> {
    const { hostname: host, port } = new URL(target);
    const server = createServer((request, response) => {
      const { method = '', url = '' } = request;
      // Compressed answers could not be read here.
      const headers = { ...request.headers, 'accept-encoding': 'identity' };
      const exchange: Exchange = {
        name: `${method} ${url.split('?', 1)[0]}`,
        url,
        sent: { headers: request.headers, body: '' },
        received: { headers: {}, body: '' },
      };
      wire.exchanges.push(exchange);
      // Each request has a connection of its own: one that was kept may be closed while the next request is sent on it.
      const onward = send({ host, port, method, path: url, headers, agent: false }, (answer) => {
        exchange.received.headers = answer.headers;
        response.writeHead(answer.statusCode!, answer.headers);
        answer.on('data', (bytes: Buffer) => (exchange.received.body += bytes.toString('latin1')));
        answer.on('error', () => response.destroy()).pipe(response);
      });
      request.on('data', (bytes: Buffer) => (exchange.sent.body += bytes.toString('latin1')));
      request.pipe(onward).on('error', () => response.destroy());
      // The service learns at once that a browser waits for nothing any more.
      response.on('close', () => response.writableFinished || onward.destroy());
    });
    const wire = new Wire(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return wire;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
