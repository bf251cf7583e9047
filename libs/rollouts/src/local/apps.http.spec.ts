import { once } from 'node:events';
import { createServer, request as send, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { forward } from './apps.http';

const portOf = (server: Server) => (server.address() as AddressInfo).port;

/** A server that forwards every request to a program. */
async function proxyTo(program: Server): Promise<Server> {
  const proxy = createServer((raw, back) => {
    const { method, url } = raw;
    const [request, reply] = [{ raw, method, url } as FastifyRequest, { raw: back } as FastifyReply];
    void forward(request, reply, portOf(program)).then(
      (answer) => answer.pipe(back),
      () => back.destroy(),
    );
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return proxy;
}

it('a body of unknown length is the body of its request only', async () => {
  const seen: string[] = [];
  const program = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += String(chunk)));
    request.on('end', () => {
      seen.push(`${request.method} ${request.url} ${body.length}`);
      response.end('done');
    });
  }).listen(0, '127.0.0.1');
  await once(program, 'listening');
  const proxy = await proxyTo(program);
  const smuggled = 'GET /second HTTP/1.1\r\nhost: x\r\n\r\n';
  try {
    for (const method of ['GET', 'DELETE', 'POST']) {
      const headers = { 'transfer-encoding': 'chunked' };
      const request = send({ host: '127.0.0.1', port: portOf(proxy), path: '/apps/one/first', method, headers });
      request.end(smuggled);
      const [answer] = (await once(request, 'response')) as [NodeJS.ReadableStream];
      answer.resume();
      await once(answer, 'end');
    }
    expect(seen).toEqual(['GET', 'DELETE', 'POST'].map((method) => `${method} /first ${smuggled.length}`));
  } finally {
    for (const server of [program, proxy]) {
      server.closeAllConnections();
      server.close();
    }
  }
});

it('a program may close a connection after each answer without saying so', async () => {
  const used = new WeakSet<object>();
  const program = createServer(({ socket }, response) => {
    if (used.has(socket)) return socket.destroy();
    used.add(socket);
    return response.end('done');
  }).listen(0, '127.0.0.1');
  await once(program, 'listening');
  const proxy = await proxyTo(program);
  try {
    for (let count = 0; count < 3; count++) {
      const answer = await fetch(`http://127.0.0.1:${portOf(proxy)}/apps/one/`, { method: 'POST', body: 'x' });
      expect(await answer.text()).toBe('done');
    }
  } finally {
    for (const server of [program, proxy]) {
      server.closeAllConnections();
      server.close();
    }
  }
});
