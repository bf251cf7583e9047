import { once } from 'node:events';
import { connect } from 'node:net';
import { Registry } from 'prom-client';
import type { Scope } from '@fairlead/api';
import type { ServerOptions } from '..';
import { Unauthorized } from '@fairlead/schema';
import { EdgeModule, held } from '../testing/edge.controller';
import { type SampleServer, startSample } from '../testing/sample-server';

const BUSY = 'The service is busy right now, try again later.';

let server: SampleServer;
let waiting: Promise<unknown>[];
afterEach(async () => {
  held.letGo();
  await Promise.all(waiting);
  await server.app.close();
});

/** A server that has as many requests under way as it takes. */
async function startFull(options: Partial<ServerOptions> = {}): Promise<void> {
  server = await startSample({ ...options, edge: { requests: { total: 1, perKey: 1 }, ...options.edge } }, EdgeModule);
  waiting = [server.ask('/v2/held')];
  await held.reached(1);
}

/** Sends text on one connection and returns the bytes that come back until `answers` responses have begun. */
async function exchange(text: string, answers: number): Promise<string> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1').setEncoding('utf8');
  socket.write(text);
  let received = '';
  while ((received.match(/HTTP\/1\.1 /g)?.length ?? 0) < answers || !/[}\n]$/.test(received)) {
    received += String(await once(socket, 'data'));
  }
  socket.destroy();
  return received;
}

describe('A request for which there is no room', () => {
  it('is refused as every answer is given: with its id, for browsers, in the form that it asks for', async () => {
    await startFull({ edge: { cors: ['https://app.example'], https: true } });
    const headers = { 'x-request-id': 'mine', origin: 'https://app.example' };
    const refused = await server.ask('/v2/address?a=b', { headers });
    expect(refused).toMatchObject({ status: 503, body: { detail: BUSY } });
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      'retry-after': '1',
      'x-request-id': 'mine',
      'content-type': 'application/json',
      'access-control-allow-origin': 'https://app.example',
      'access-control-expose-headers': expect.stringContaining('retry-after') as string,
      vary: 'origin',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'strict-transport-security': 'max-age=31536000',
    });
    const problem = { type: 'about:blank', title: 'Service Unavailable', status: 503, detail: BUSY };
    const accept = { accept: 'application/problem+json', 'x-request-id': 'two' };
    for (const answer of [
      await server.ask('/v2/address', { headers: accept }),
      await server.ask('/api/v2/runs/query', { method: 'POST', headers: { 'x-request-id': 'two' } }),
    ]) {
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
      expect(answer.body).toEqual({ ...problem, request_id: 'two' });
    }
    expect((await server.ask('/v2/address')).headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
  });

  it('is answered like one that the framework refuses', async () => {
    await startFull({ edge: { uploads: { total: 1, perKey: 1 }, rates: {} } });
    waiting.push(server.ask('/v2/upload', { method: 'POST' }));
    await held.reached(2);
    const init = { method: 'POST', headers: { 'x-request-id': 'one' } };
    const [door, framework] = [await server.ask('/v2/address', init), await server.ask('/v2/upload', init)];
    const shown = ({ status, headers, body }: typeof door) => {
      return { status, headers: [...headers].filter(([name]) => name !== 'date'), body };
    };
    expect(shown(door)).toEqual(shown(framework));
  });

  it('keeps its connection, with its body unread and others behind it', async () => {
    await startFull();
    const head = 'POST /v2/address HTTP/1.1\r\nhost: x\r\nx-api-key: owner\r\n';
    const received = await exchange(
      `${head}content-length: 5\r\n\r\nhello${head}content-length: 2\r\n\r\nhi` +
        'HEAD /v2/address HTTP/1.1\r\nhost: x\r\n\r\nGET /health/live HTTP/1.1\r\nhost: x\r\n\r\n',
      4,
    );
    expect(received.match(/HTTP\/1\.1 \d+|"detail"|"live"/g)).toEqual([
      'HTTP/1.1 503',
      '"detail"',
      'HTTP/1.1 503',
      '"detail"',
      'HTTP/1.1 503',
      'HTTP/1.1 200',
      '"live"',
    ]);
    expect(received).not.toMatch(/connection: close/i);
  });

  it('is not told to send its body when it waits for that, and ends its connection', async () => {
    await startFull();
    const head = 'POST /v2/address HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n';
    expect(await server.sendRaw(head)).toMatch(/^HTTP\/1\.1 503 [^]*connection: close/i);
  });

  it('has its answer when its connection is to be closed', async () => {
    await startFull();
    const head = 'POST /v2/address HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 200000\r\n\r\n';
    expect(await server.sendRaw(head, ' '.repeat(200_000))).toMatch(/^HTTP\/1\.1 503 [^]*try again later/);
  });

  it('is counted, and not logged by itself', async () => {
    await startFull({ metrics: { registry: new Registry() } });
    const count = async (name: string) => {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      const line = text.split('\n').find((one) => one.startsWith(name));
      return Number(line?.split(' ').at(-1) ?? 0);
    };
    const turnedAway = 'fairlead_http_requests_turned_away_total{reason="capacity"}';
    const requests = 'fairlead_http_request_duration_seconds_count{method="GET",route="none",status="5xx"}';
    const before = [await count(turnedAway), await count(requests)];
    for (let n = 0; n < 3; n++) await server.ask('/v2/address');
    expect([await count(turnedAway), await count(requests)]).toEqual(before.map((number) => number + 3));
    expect(server.lines.filter(({ msg }) => msg === 'request')).toEqual([]);
  });

  it('is told by health, metrics and what is counted apart, in any spelling, from others', async () => {
    await startFull({ metrics: { registry: new Registry() } });
    for (const path of ['/health/live', '/health/live/?x=1', '//health//live', '/metrics']) {
      expect((await fetch(server.url + path)).status).toBe(200);
    }
    expect((await fetch(`${server.url}/health/live`, { method: 'HEAD' })).status).toBe(200);
    waiting.push(server.ask('/v2/wait'));
    await held.reached(2);
    expect((await server.ask('/health/live', { method: 'POST' })).status).toBe(503);
  });

  it('says that its connection closes while the server closes', async () => {
    await startFull({ limits: { drain: 5000 } });
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1').setEncoding('utf8');
    await once(socket, 'connect');
    const closed = server.app.close();
    while (server.app.getHttpServer().listening) await new Promise(setImmediate);
    socket.write('GET /v2/address HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 503 [^]*connection: close\r\n/i);
    held.letGo();
    await closed;
  });
});

describe('A key with too many requests under way', () => {
  it('is looked up once, then refused at the door, and let in again when there is room', async () => {
    const looked: string[] = [];
    const authenticate = ({ headers }: { headers: Record<string, unknown> }) => {
      const keyId = String(headers['x-api-key']);
      looked.push(keyId);
      if (!keyId.startsWith('key')) return Promise.reject(new Unauthorized());
      const scopes = new Set<Scope>(['admin']);
      return Promise.resolve({ keyId, tenantId: 't', organizationId: 'o', scopes });
    };
    server = await startSample({ authenticate, edge: { requests: { total: 8, perKey: 1 } } }, EdgeModule);
    waiting = [server.ask('/v2/held', {}, 'key-1')];
    await held.reached(1);
    const refused = { status: 429, body: { detail: 'Too many requests at a time, try again later.' } };
    for (let n = 0; n < 3; n++) {
      const answer = await server.ask('/v2/address', {}, 'key-1');
      expect(answer).toMatchObject(refused);
      expect(answer.headers.get('retry-after')).toBe('1');
    }
    expect(looked).toEqual(['key-1', 'key-1']);
    expect((await server.ask('/v2/address', {}, 'key-2')).status).toBe(200);
    expect((await server.ask('/v2/address', {}, 'nobody')).status).toBe(401);
    held.letGo();
    await Promise.all(waiting);
    expect((await server.ask('/v2/address', {}, 'key-1')).status).toBe(200);
    expect((await server.ask('/v2/address', {}, 'key-1')).status).toBe(200);
  });
});
