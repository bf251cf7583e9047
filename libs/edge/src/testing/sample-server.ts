import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import pino from 'pino';
import { type Scope } from '@fairlead/api';
import { createServer, type ServerOptions } from '..';
import { Unauthorized } from '@fairlead/schema';
import { SampleModule } from './sample.controller';

const KEYS: Readonly<Record<string, readonly Scope[]>> = { reader: ['read'], writer: ['write'], owner: ['admin'] };

export interface SampleServer {
  readonly app: NestFastifyApplication;
  readonly url: string;
  /** Lines that were logged so far. */
  readonly lines: Record<string, unknown>[];
  /** Sends a request with a key; the answer's body is parsed. */
  ask(
    path: string,
    init?: RequestInit & { headers?: Record<string, string> },
    key?: string,
  ): Promise<{ status: number; headers: Headers; body: unknown }>;
  /** Sends bytes as they are and answers everything that comes back until the connection ends. */
  sendRaw(...pieces: string[]): Promise<string>;
}

/** A small server with keys `reader`, `writer` and `owner`, listening on a free port. */
export async function startSample(
  options: Partial<ServerOptions> = {},
  module: Parameters<typeof createServer>[0] = SampleModule,
): Promise<SampleServer> {
  const lines: Record<string, unknown>[] = [];
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const app = await createServer(module, {
    logger: pino({ level: 'info' }, stream),
    authenticate: (request) => {
      const scopes = KEYS[String(request.headers['x-api-key'])];
      if (!scopes) return Promise.reject(new Unauthorized());
      const actor = { keyId: 'key-1', tenantId: 'tenant-1', organizationId: 'org-1', scopes: new Set(scopes) };
      return Promise.resolve(actor);
    },
    ...options,
  });
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return {
    app,
    url,
    lines,
    async ask(path, init = {}, key = 'owner') {
      const answer = await fetch(url + path, { ...init, headers: { 'x-api-key': key, ...init.headers } });
      const text = await answer.text();
      return { status: answer.status, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) };
    },
    async sendRaw(...pieces) {
      const socket = connect(port, '127.0.0.1');
      let received = '';
      socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
      socket.on('error', () => undefined);
      for (const piece of pieces) socket.write(piece);
      await once(socket, 'close');
      return received;
    },
  };
}
