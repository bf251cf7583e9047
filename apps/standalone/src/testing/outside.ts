import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that stands for everything the service calls. */
export interface Outside {
  readonly url: string;
  stop(): void;
}

/** Starts it: it gives the token to whoever asks for one. */
export async function startOutside(token: string): Promise<Outside> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ access_token: token }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
