import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Scope } from '@fairlead/api';
import type { EdgeSettings } from './edge-settings';
import type { ServerOptions } from './server';
import { EdgeModule, held } from './testing/edge.controller';
import { type SampleServer, startSample } from './testing/sample-server';

let server: SampleServer;
afterEach(async () => {
  held.letGo();
  await server.app.close();
});

async function start(edge: Partial<EdgeSettings>, options: Partial<ServerOptions> = {}): Promise<void> {
  server = await startSample({ edge, ...options }, EdgeModule);
}

async function statuses(count: number, path: string, key?: string): Promise<number[]> {
  const found: number[] = [];
  for (let n = 0; n < count; n++) found.push((await server.ask(path, {}, key)).status);
  return found;
}

const perHour = (requests: number) => ({ requests, seconds: 3600 });

describe('Rate limits', () => {
  it('give every key its quota, say what is left of it, and answer 429 with when to come again', async () => {
    await start({ rates: { key: perHour(2) } });
    const first = await server.ask('/v2/address');
    expect([first.status, first.headers.get('ratelimit-policy'), first.headers.get('ratelimit')]).toEqual([
      200,
      '"key";q=2;w=3600',
      '"key";r=1;t=1800',
    ]);
    await server.ask('/v2/address');
    const refused = await server.ask('/v2/address', { headers: { accept: 'application/json' } });
    expect(refused).toMatchObject({ status: 429, body: { detail: 'Too many requests, try again later.' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1790);
    expect(refused.headers.get('ratelimit')).toMatch(/^"key";r=0;t=3[56]\d\d$/);
    expect(refused.headers.get('x-request-id')).toMatch(/./);
  });

  it('give every address its quota before any key is looked at, health apart', async () => {
    await start({ rates: { address: perHour(3) } });
    expect(await statuses(4, '/v2/open', '')).toEqual([200, 200, 200, 429]);
    expect(await statuses(2, '/v2/address')).toEqual([429, 429]);
    expect(await statuses(2, '/nowhere')).toEqual([429, 429]);
    expect(await statuses(5, '/health/live')).toEqual([200, 200, 200, 200, 200]);
  });

  it('stop an address that tries many wrong keys, and let right keys of the same address pass', async () => {
    await start({ rates: { wrongKeys: perHour(3) } });
    for (const guess of ['a', 'b', 'c']) expect(await statuses(1, '/v2/address', guess)).toEqual([401]);
    const refused = await server.ask('/v2/address', {}, 'd');
    expect(refused).toMatchObject({
      status: 429,
      body: { detail: 'Too many wrong keys from this address, try again later.' },
    });
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await statuses(2, '/v2/address', 'owner')).toEqual([200, 200]);
    expect(await statuses(1, '/v2/open')).toEqual([200]);
    expect(await statuses(1, '/v2/address', 'e')).toEqual([429]);
  });

  it('take the same wrong key, or none, for no guess', async () => {
    await start({ rates: { wrongKeys: perHour(2) } });
    expect(await statuses(5, '/v2/address', 'revoked')).toEqual([401, 401, 401, 401, 401]);
    expect(await statuses(5, '/v2/address', '')).toEqual([401, 401, 401, 401, 401]);
    expect(await statuses(1, '/v2/address')).toEqual([200]);
  });

  it('can be off', async () => {
    await start({ rates: {} });
    const answer = await server.ask('/v2/address');
    expect([answer.status, answer.headers.has('ratelimit')]).toEqual([200, false]);
  });
});

describe('Requests at a time', () => {
  it('beyond what the process takes are answered 503 with when to come again, before their key is looked at', async () => {
    await start({ requests: { total: 2, perKey: 2 } });
    const waiting = [server.ask('/v2/held'), server.ask('/v2/held')];
    await held.reached(2);
    const refused = await server.ask('/v2/address', {}, 'nobody');
    expect(refused).toMatchObject({
      status: 503,
      body: { detail: 'The service is busy right now, try again later.' },
    });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await statuses(1, '/health/live')).toEqual([200]);
    held.letGo();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
    expect(await statuses(1, '/v2/address')).toEqual([200]);
  });

  it('beyond what a key may have are answered 429', async () => {
    await start({ requests: { total: 10, perKey: 1 } });
    const waiting = server.ask('/v2/held');
    await held.reached(1);
    const refused = await server.ask('/v2/address');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    held.letGo();
    await waiting;
    expect(await statuses(1, '/v2/address')).toEqual([200]);
  });

  it('are counted apart when they are uploads, or wait', async () => {
    await start({ requests: { total: 1, perKey: 1 }, uploads: { total: 1, perKey: 1 } });
    const waiting = [server.ask('/v2/upload', { method: 'POST' }), server.ask('/v2/wait'), server.ask('/v2/wait')];
    await held.reached(3);
    expect(await server.ask('/v2/upload', { method: 'POST' })).toMatchObject({ status: 503 });
    expect(await statuses(1, '/v2/address')).toEqual([200]);
    held.letGo();
    await Promise.all(waiting);
  });

  it('count no more when their client has gone away', async () => {
    await start({ requests: { total: 1, perKey: 1 } });
    const socket = open();
    socket.write('GET /v2/held HTTP/1.1\r\nhost: x\r\nx-api-key: owner\r\n\r\n');
    await held.reached(1);
    expect(await statuses(1, '/v2/address')).toEqual([503]);
    socket.destroy();
    while ((await server.ask('/v2/address')).status !== 200);
  });

  it('are taken up one after the other on a connection, however many it brings', async () => {
    await start({ requests: { total: 3, perKey: 3 } });
    const socket = open();
    const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: owner\r\n\r\n`;
    socket.write(request('/v2/held').repeat(5) + request('/v2/address'));
    await held.reached(1);
    expect(await statuses(3, '/v2/address')).toEqual([200, 200, 200]);
    for (let n = 0; n < 4; n++) {
      held.letGo();
      await held.reached(1);
    }
    held.letGo();
    let received = '';
    while (!received.includes('127.0.0.1')) received += String(await once(socket, 'data'));
    socket.destroy();
  });

  it('count no more when their connection ends while others wait on it', async () => {
    await start({ requests: { total: 3, perKey: 3 } });
    const socket = open();
    const request = 'GET /v2/held HTTP/1.1\r\nhost: x\r\nx-api-key: owner\r\n\r\n';
    socket.write(request.repeat(3));
    await held.reached(1);
    socket.destroy();
    const waiting = [server.ask('/v2/held'), server.ask('/v2/held')];
    await held.reached(3);
    while ((await server.ask('/v2/address')).status !== 200);
    held.letGo();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
  });
});

function open(): Socket {
  return connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => undefined);
}

/** Every name is the key of a workspace of its own. */
const byName: ServerOptions['authenticate'] = ({ headers }) => {
  const tenantId = String(headers['x-api-key']);
  return Promise.resolve({ keyId: tenantId, tenantId, organizationId: 'o', scopes: new Set<Scope>(['read']) });
};

describe('Bodies on their way', () => {
  const head = (path: string, length: number, key: string) =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
  const query = (key: string, path: string) =>
    server.ask(path, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }, key);
  const send = (text: string) => {
    const socket = open();
    socket.write(text);
    return socket;
  };

  it.each(['/v2/query', '/v2/streamed'])(
    'do not count as requests under way until they are there: %s',
    async (path) => {
      await start({ requests: { total: 4, perKey: 4 }, rates: {} }, { authenticate: byName });
      const sockets = Array.from({ length: 30 }, () => send(`${head(path, 1000, 'slow')}{`));
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      for (const key of ['slow', 'other']) {
        expect((await query(key, path)).status).toBe(200);
        expect(await statuses(3, '/v2/address', key)).toEqual([200, 200, 200]);
      }
      const answer = once(sockets[0]!, 'data');
      sockets[0]!.write(`}${' '.repeat(998)}`);
      expect(String((await answer)[0])).toMatch(/^HTTP\/1.1 200 /);
      for (const socket of sockets) socket.destroy();
    },
  );

  it.each(['/v2/query', '/v2/streamed'])('must keep a pace: %s', async (path) => {
    await start({}, { limits: { idle: 200, rate: 1000 } });
    const socket = send(head(path, 100_000, 'owner'));
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => (received += text));
    const drip = setInterval(() => socket.write(' '), 20);
    await once(socket, 'close');
    clearInterval(drip);
    expect(received).toMatch(/^HTTP\/1.1 408 [^]*took too long to arrive/);
  });

  it.each(['/v2/query', '/v2/streamed'])('share the memory of the process fairly: %s', async (path) => {
    const limits = { body: 256 * 1024, memory: 1024 * 1024, idle: 60_000 };
    await start({ rates: {} }, { authenticate: byName, limits });
    const sockets: Socket[] = [];
    let refused: string | undefined;
    while (!refused && sockets.length < 30) {
      const socket = send(head(path, 200_000, 'greedy') + ' '.repeat(150_000));
      socket.setEncoding('utf8').once('data', (text: string) => (refused = text));
      sockets.push(socket);
      expect((await query('modest', path)).status).toBe(200);
    }
    while (!refused) expect((await query('modest', path)).status).toBe(200);
    expect(refused).toMatch(/^HTTP\/1.1 503 [^]*retry-after: 1[^]*no memory for the request body/i);
    for (const socket of sockets) socket.destroy();
    while ((await query('greedy', path)).status !== 200);
  });
});

describe('Connections', () => {
  it('end when their client does not read its answer', async () => {
    await start({}, { limits: { reading: 200 } });
    const socket = open();
    socket.write('GET /v2/large HTTP/1.1\r\nhost: x\r\nx-api-key: owner\r\n\r\n');
    socket.pause();
    const [peer] = (await once(server.app.getHttpServer(), 'connection')) as [Socket];
    await once(peer, 'close');
    expect(peer.bytesWritten).toBeGreaterThan(64 * 1024 * 1024);
    socket.destroy();
  });

  it.each(['content-length: 9000000\r\n\r\n', 'transfer-encoding: chunked\r\n\r\n895440\r\n'])(
    'bring the whole answer to a client that still sends what nobody reads: %j',
    async (framing) => {
      await start({});
      const head = `GET /v2/large HTTP/1.1\r\nhost: x\r\nx-api-key: owner\r\nconnection: close\r\n${framing}`;
      const received = await server.sendRaw(
        head,
        ' '.repeat(9_000_000),
        framing.startsWith('t') ? '\r\n0\r\n\r\n' : '',
      );
      expect(received.length).toBeGreaterThan(64 * 1024 * 1024);
    },
  );

  it('stay open for a handler that takes longer than that', async () => {
    await start({}, { limits: { reading: 20 } });
    const answer = server.ask('/v2/held');
    await held.reached(1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    held.letGo();
    expect((await answer).status).toBe(200);
  });

  it('listen for their end once, however many requests they carry', async () => {
    await start({});
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    const socket = open();
    const [peer] = (await once(server.app.getHttpServer(), 'connection')) as [Socket];
    const request = 'GET /v2/held HTTP/1.1\r\nhost: x\r\nx-api-key: owner\r\n\r\n';
    const carry = async (count: number) => {
      let answers = 0;
      const count200 = (bytes: Buffer) => (answers += bytes.toString().match(/HTTP\/1\.1 200/g)?.length ?? 0);
      socket.on('data', count200).write(request.repeat(count));
      await held.reached(1);
      const listeners = peer.listenerCount('close');
      for (let n = 0; n < count; n++) {
        await held.reached(1);
        held.letGo();
      }
      while (answers < count) await once(socket, 'data');
      socket.off('data', count200);
      return listeners;
    };
    const alone = await carry(1);
    expect([await carry(30), await carry(30), await carry(1)]).toEqual([alone, alone, alone]);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
    socket.destroy();
  });

  it('have one answer in memory, however many they ask for and do not read', async () => {
    await start({});
    const socket = open();
    socket.pause();
    const [peer] = (await once(server.app.getHttpServer(), 'connection')) as [Socket];
    socket.write('GET /v2/large HTTP/1.1\r\nhost: x\r\nx-api-key: owner\r\n\r\n'.repeat(20));
    while (peer.writableLength === 0) await server.ask('/v2/open');
    for (let n = 0; n < 20; n++) await server.ask('/v2/open');
    expect(peer.writableLength).toBeLessThan(65 * 1024 * 1024);
    socket.destroy();
  });

  it('take no more memory together than a fair share, and let others have their answers', async () => {
    await start({ rates: {} }, { authenticate: byName });
    const sockets = Array.from({ length: 6 }, () => {
      const socket = open().pause();
      socket.write('GET /v2/large HTTP/1.1\r\nhost: x\r\nx-api-key: greedy\r\n\r\n');
      return socket;
    });
    let refused;
    do refused = await server.ask('/v2/large', { method: 'HEAD' }, 'greedy');
    while (refused.status !== 503);
    expect(refused.headers.get('retry-after')).toBe('1');
    const answer = await fetch(`${server.url}/v2/large`, { headers: { 'x-api-key': 'modest' } });
    expect([answer.status, (await answer.arrayBuffer()).byteLength]).toEqual([200, 64 * 1024 * 1024]);
    expect(await statuses(1, '/v2/address', 'greedy')).toEqual([200]);
    for (const socket of sockets) socket.destroy();
    while ((await server.ask('/v2/large', { method: 'HEAD' }, 'greedy')).status !== 200);
  });

  it('are closed when they bring more than can wait', async () => {
    await start({});
    const socket = open();
    socket.write('GET /v2/held HTTP/1.1\r\nhost: x\r\nx-api-key: owner\r\n\r\n'.repeat(150));
    await once(socket, 'close');
    expect(await statuses(1, '/v2/address')).toEqual([200]);
  });

  it('beyond the most there may be make room: the oldest without a key is closed', async () => {
    await start({ connections: 2 });
    const first = open();
    await once(first, 'connect');
    const closed = once(first, 'close');
    const second = open();
    await closed;
    second.destroy();
    while ((await server.ask('/v2/open').catch(() => undefined))?.status !== 200);
  });
});

describe('Scripts of other origins', () => {
  const from = (origin: string, more: Record<string, string> = {}) => ({ headers: { origin, ...more } });
  const preflight = (origin: string) => ({
    method: 'OPTIONS',
    ...from(origin, {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,x-api-key',
    }),
  });

  it('may read nothing unless a setting says so', async () => {
    await start({});
    const answer = await server.ask('/v2/address', from('https://app.example'));
    expect(answer.headers.has('access-control-allow-origin')).toBe(false);
    const flight = await server.ask('/v2/upload', preflight('https://app.example'), '');
    expect([flight.status, flight.headers.has('access-control-allow-methods')]).toEqual([204, false]);
  });

  it('may ask beforehand without a key, and read answers and their headers, errors too', async () => {
    await start({ cors: ['https://app.example'] });
    const flight = await server.ask('/v2/upload', preflight('https://app.example'), '');
    expect([flight.status, Object.fromEntries(flight.headers)]).toMatchObject([
      204,
      {
        'access-control-allow-origin': 'https://app.example',
        'access-control-allow-methods': 'OPTIONS, POST',
        'access-control-allow-headers': 'content-type,x-api-key',
        'access-control-max-age': '7200',
        vary: 'origin',
      },
    ]);
    for (const key of ['owner', 'nobody']) {
      const { headers } = await server.ask('/v2/address', from('https://app.example'), key);
      expect(headers.get('access-control-allow-origin')).toBe('https://app.example');
      expect(headers.get('access-control-expose-headers')).toMatch(/etag, .*ratelimit, .*x-request-id/);
    }
    const broken = await server.ask('/v2/%zz', from('https://app.example'));
    expect([broken.status, broken.headers.get('access-control-allow-origin')]).toEqual([400, 'https://app.example']);
  });

  it('of an origin that is not listed may read nothing', async () => {
    await start({ cors: ['https://app.example'] });
    const { headers } = await server.ask('/v2/address', from('https://evil.example'));
    expect([headers.has('access-control-allow-origin'), headers.get('vary')]).toEqual([false, 'origin']);
    const flight = await server.ask('/v2/upload', preflight('https://evil.example'), '');
    expect(flight.headers.has('access-control-allow-methods')).toBe(false);
  });

  it('may ask the programs of deployments where a setting of their own says so', async () => {
    await start({ appsCors: ['https://app.example'] });
    const flight = await server.ask('/apps/support/runs', preflight('https://app.example'), '');
    expect(flight.headers.get('access-control-allow-origin')).toBe('https://app.example');
    const other = await server.ask('/v2/upload', preflight('https://app.example'), '');
    expect(other.headers.has('access-control-allow-origin')).toBe(false);
  });

  it('may all read when the setting says *', async () => {
    await start({ cors: '*' });
    const { headers } = await server.ask('/v2/address', from('https://any.example'));
    expect([headers.get('access-control-allow-origin'), headers.has('vary')]).toEqual(['*', false]);
    expect(headers.has('access-control-allow-credentials')).toBe(false);
  });
});

describe('Every answer', () => {
  const safe = {
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
  };

  it.each(['/v2/address', '/nowhere', '/v2/%zz', '/health/live'])('tells browsers to be careful: %s', async (path) => {
    await start({});
    const headers = Object.fromEntries((await server.ask(path)).headers);
    expect(headers).toMatchObject(safe);
    expect(headers).not.toHaveProperty('strict-transport-security');
  });

  it('asks for https where that is how clients come', async () => {
    await start({ https: true });
    const { headers } = await server.ask('/v2/open');
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
  });
});

describe('Proxies', () => {
  const forwarded = { headers: { 'x-forwarded-for': '203.0.113.5, 192.0.2.9', 'x-forwarded-proto': 'https' } };
  const address = async () => (await server.ask('/v2/address', forwarded)).body;

  it('are not believed unless a setting says so', async () => {
    await start({});
    expect(await address()).toEqual({ address: '127.0.0.1', protocol: 'http' });
  });

  it.each([
    ['their number', 1, '192.0.2.9'],
    ['their number', 2, '203.0.113.5'],
    ['their addresses', ['loopback'], '192.0.2.9'],
    ['their addresses', ['127.0.0.1', '192.0.2.0/24'], '203.0.113.5'],
    ['other addresses', ['10.0.0.0/8'], '127.0.0.1'],
  ])('are believed by %s: %j', async (_, trustProxy, expected) => {
    await start({ trustProxy });
    expect(await address()).toMatchObject({ address: expected });
  });

  it('pass on the addresses that limits are for', async () => {
    await start({ trustProxy: 1, rates: { address: perHour(1) } });
    const ask = (client: string) => server.ask('/v2/open', { headers: { 'x-forwarded-for': client } });
    expect((await ask('192.0.2.1')).status).toBe(200);
    expect((await ask('192.0.2.1')).status).toBe(429);
    expect((await ask('192.0.2.2')).status).toBe(200);
  });
});
