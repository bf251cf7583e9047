import { once } from 'node:events';
import { Agent as HttpAgent, createServer, type IncomingMessage, request as send, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Reached, responseHeaders } from './app-headers.client';
import { connectTo } from '../running/readiness.client';
import { forward } from './app-requests.client';

const REACHED: Reached = { proto: 'http', host: 'x', prefix: '/apps/one', for: '192.0.2.1' };
const portOf = (server: Server) => (server.address() as AddressInfo).port;

/** A server that forwards every request to a program. */
async function proxyTo(program: Server): Promise<Server> {
  const proxy = createServer((raw, back) => {
    const { method, url } = raw;
    const [request, reply] = [{ raw, method, url } as FastifyRequest, { raw: back } as FastifyReply];
    const answered = connectTo(portOf(program)).then((socket) => forward(request, reply, socket!, 'api', REACHED));
    void answered.then(
      (answer) => {
        back.writeHead(answer.statusCode!, responseHeaders(answer, 'api', REACHED));
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

describe('a program that answers before it has read the body', () => {
  const refusal = 'HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno';
  /** Answers as soon as it has headers, and then reads nothing, or closes its connection. */
  const programs = {
    'and keeps its connection': (socket: Socket) => socket.pause().write(refusal),
    'and closes its connection': (socket: Socket) => socket.pause().end(refusal, () => socket.destroy()),
  };
  let proxy: Server;
  let program: Server;
  let connections = 0;
  const MEGABYTE = 1024 ** 2;

  describe.each(Object.entries(programs))('%s', (_, answer) => {
    beforeAll(async () => {
      program = createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => answer(socket));
      }).listen(0, '127.0.0.1') as unknown as Server;
      await once(program, 'listening');
      proxy = await proxyTo(program);
      proxy.on('connection', () => connections++);
    });
    afterAll(() => {
      proxy.closeAllConnections();
      proxy.close();
      program.close();
    });
    beforeEach(() => (connections = 0));

    it('gives fetch its answer', async () => {
      for (const size of [10, 100_000, 20 * MEGABYTE]) {
        const url = `http://127.0.0.1:${portOf(proxy)}/apps/one/`;
        const response = await fetch(url, { method: 'POST', body: Buffer.alloc(size) });
        expect([response.status, await response.text()]).toEqual([413, 'no']);
      }
    });

    it('gives a client of Node.js its answer on a connection that is used again', async () => {
      const agent = new HttpAgent({ keepAlive: true, maxSockets: 1 });
      for (const size of [10, 100_000, 20 * MEGABYTE]) {
        const path = '/apps/one/';
        const request = send({ ...{ port: portOf(proxy), host: '127.0.0.1', method: 'PUT', path, agent } });
        request.end(Buffer.alloc(size));
        const [response] = (await once(request, 'response')) as [IncomingMessage];
        expect(response.statusCode).toBe(413);
        await once(response.resume(), 'end');
      }
      agent.destroy();
      expect(connections).toBe(1);
    });

    it('gives curl its answer', async () => {
      const url = `http://127.0.0.1:${portOf(proxy)}/apps/one/`;
      const args = (more: string[]) => ['-s', '-w', ' %{http_code}', '--data-binary', '@-', ...more, url];
      for (const more of [[], ['-H', 'transfer-encoding: chunked'], ['-H', 'expect:']]) {
        const running = promisify(execFile)('curl', args(more));
        running.child.stdin!.on('error', () => undefined).end(Buffer.alloc(5 * MEGABYTE));
        expect((await running).stdout).toBe('no 413');
      }
    });

    it('does not make the server read a body without an end', async () => {
      const client = connect(portOf(proxy), '127.0.0.1').on('error', () => undefined);
      const closed = new Promise((resolve) => client.once('close', resolve));
      client.write('POST /apps/one/ HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
      const part = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(MEGABYTE), Buffer.from('\r\n')]);
      const more = () => {
        while (!client.destroyed && client.write(part));
      };
      client.on('drain', more);
      const [answer] = (await once(client, 'data')) as [Buffer];
      expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /);
      more();
      await closed;
    });
  });
});

describe('a program that answers with', () => {
  const ok = (headers: string) => `HTTP/1.1 200 OK\r\n${headers}\r\ncontent-length: 2\r\n\r\nok`;

  /** Answer that a client gets to a GET with these headers when the program answers with these bytes. */
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
    expect((await through(ok(cookies.join('\r\n')))).headers['set-cookie']).toEqual(['theirs=1; Path=/apps/one']);
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
