import { once } from 'node:events';
import { createServer, type IncomingMessage, request as send, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { connectTo, forward, responseHeaders } from './apps.http';

const portOf = (server: Server) => (server.address() as AddressInfo).port;

/** A server that forwards every request to a program. */
async function proxyTo(program: Server): Promise<Server> {
  const proxy = createServer((raw, back) => {
    const { method, url } = raw;
    const [request, reply] = [{ raw, method, url } as FastifyRequest, { raw: back } as FastifyReply];
    const answered = connectTo(portOf(program)).then((socket) => forward(request, reply, socket!));
    void answered.then(
      (answer) => {
        back.writeHead(answer.statusCode!, responseHeaders(answer, 'api'));
        answer.pipe(back);
      },
      (error: Error) => back.writeHead(503).end(error.message),
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

describe('a program that answers with', () => {
  const ok = (headers: string) => `HTTP/1.1 200 OK\r\n${headers}\r\ncontent-length: 2\r\n\r\nok`;

  /** What a client gets to a GET with these headers when the program answers with these bytes. */
  async function through(bytes: string, headers: Readonly<Record<string, string>> = {}) {
    let asked = '';
    const program = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (head) => {
        asked = String(head);
        socket.write(bytes, 'latin1');
      });
    }).listen(0, '127.0.0.1');
    await once(program, 'listening');
    const proxy = await proxyTo(program as unknown as Server);
    try {
      const path = '/apps/one/';
      const request = send({ ...{ host: '127.0.0.1', port: portOf(proxy), path, agent: false, headers } }).end();
      const [answer] = (await once(request, 'response')) as [IncomingMessage];
      let text = '';
      for await (const part of answer) text += String(part);
      return { status: answer.statusCode, headers: answer.headers, text, asked };
    } finally {
      proxy.closeAllConnections();
      proxy.close();
      program.close();
    }
  }

  it.each([
    '101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x',
    '101 Switching Protocols',
    '999 X',
    '000 X',
    '099 X',
  ])('the status %j gives its client a 503', async (status) => {
    const { status: answered, text } = await through(`HTTP/1.1 ${status}\r\ncontent-length: 2\r\n\r\nok`);
    expect([answered, text]).toEqual([503, `The deployment answered with the status ${Number(status.slice(0, 3))}.`]);
  });

  it('cookies of ours, in any spelling, sets none of them', async () => {
    const ours = ['fairlead-4600=x', '=fairlead-4600=x', ' = fairlead-app-4600 =x', '__HOST-fairlead=x'];
    const cookies = [...ours, 'theirs=1'].map((cookie) => `set-cookie: ${cookie}`);
    expect((await through(ok(cookies.join('\r\n')))).headers['set-cookie']).toEqual(['theirs=1']);
  });

  it('headers that hold for the whole address, or for one connection, passes none of them on', async () => {
    const gone = ['nel', 'report-to', 'accept-ch', 'alt-svc', 'clear-site-data', 'strict-transport-security', 'x-gone'];
    const sent = [...gone, 'x-stays'].map((name) => `${name}: x`);
    const { headers } = await through(ok([...sent, 'connection: X-Gone, content-length'].join('\r\n')));
    expect(headers).toMatchObject({ 'x-stays': 'x', 'content-length': '2' });
    expect(Object.keys(headers).filter((name) => gone.includes(name))).toEqual([]);
  });

  it('anything gets the length of a body, and no header that holds for one connection', async () => {
    const headers = { connection: 'x-gone, content-length', 'x-gone': 'x', 'content-length': '0' };
    const { asked } = await through(ok('a: b'), headers);
    expect(asked).toMatch(/^content-length: 0\r$/m);
    expect(asked).not.toMatch(/x-gone/i);
  });
});
