import { once } from 'node:events';
import { createServer as createHttpServer, request as httpRequest, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createNetServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { testDatabase, type TestDatabase } from '@fairlead/postgres/testing';
import { routes } from '@fairlead/api';
import {
  checkIdentity,
  httpMigrations,
  IDENTITY_HEADER,
  IdentityKeys,
  issueIdentity,
  SigningKeys,
} from '@fairlead/edge';
import { declaredRoutes, mount } from '.';
import { SampleModule } from '@fairlead/edge/testing';
import { type SampleServer, startSample } from '@fairlead/edge/testing';

const SERVICE = 'sample';
const CREATE = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
/** The identity of a request for one of the routes below. */
function identityOf(more: object = {}, service = SERVICE, by = keys): Promise<string> {
  const asked = { id: 'one', method: 'GET', originalUrl: '/v2/deployments', headers: {}, actor: ACTOR, ...more };
  return issueIdentity(by, service, asked);
}
const ACTOR = { keyId: 'k', tenantId: 't', organizationId: 'o', scopes: new Set(['admin'] as const) };

let database: TestDatabase;
let keys: SigningKeys;
let known: IdentityKeys;
let stops: (() => Promise<unknown>)[];

beforeAll(async () => {
  database = await testDatabase(httpMigrations);
  keys = new SigningKeys(database.pool);
  known = new IdentityKeys(database.pool);
});
afterAll(() => database.drop());
beforeEach(() => (stops = []));
afterEach(async () => {
  for (const stop of stops.reverse()) await stop();
});

function kept(sample: SampleServer): SampleServer {
  stops.push(() => sample.app.close());
  return sample;
}

/** The service in a server of its own that listens to gateways alone. */
async function service(drain = 0): Promise<SampleServer> {
  const authenticate = (request: Parameters<typeof checkIdentity>[2]) => checkIdentity(known, SERVICE, request);
  return kept(await startSample({ authenticate, behindGateway: true, limits: { drain } }));
}

async function gateway(...urls: string[]): Promise<SampleServer> {
  return kept(await startSample({}, mount(SampleModule, { service: SERVICE, urls, keys })));
}

/** Starts a server on a port of its own and returns its address; the server ends with the test. */
async function listening(server: Server | ReturnType<typeof createNetServer>): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(async () => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An address at which nobody listens. */
async function nobody(): Promise<string> {
  const server = createNetServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

describe('A forwarded request', () => {
  const REQUESTS: readonly [string, Omit<RequestInit, 'headers'> & { headers?: Record<string, string> }, string?][] = [
    ['/v2/deployments?limit=2&deployment_ids=', {}],
    ['/api-host//v2/deployments', {}],
    ['/v2/deployments?limit=x&offset=-1', {}],
    ['/v2/deployments?limit=x', { headers: { accept: 'application/problem+json' } }],
    ['/v2/deployments', { method: 'HEAD' }],
    ['/v2/deployments', {}, 'stranger'],
    ['/v2/deployments', { method: 'POST', body: '{}' }, 'reader'],
    ['/v2/deployments', { method: 'PUT' }],
    ['/v2/deployments', { method: 'OPTIONS' }],
    ['/v2/nothing', {}],
    ['/v2/deployments/%2e%2e', {}],
    ['/v2/deployments/..%2f..%5c', {}],
    ['/v2/deployments/%ff', {}],
    [`/v2/deployments/${'x'.repeat(2000)}`, {}],
    ['/v2/deployments/0196b1f0-0000-7000-8000-000000000001', {}],
    ['/v2/deployments/0196b1f0-0000-7000-8000-000000000001', { method: 'DELETE' }],
    [
      '/v2/deployments/0196b1f0-0000-7000-8000-000000000001',
      { method: 'PATCH', body: '{"revision_source":"github","secrets":[{"name":1,"value":"too long"}]}' },
    ],
    ['/v2/deployments', { method: 'POST', body: '' }],
    ['/v2/deployments', { method: 'POST' }],
    ['/v2/deployments', { method: 'POST', body: '{"a":' }],
    ['/v2/deployments', { method: 'POST', body: '{}', headers: { 'content-encoding': 'gzip' } }],
    ['/v2/deployments', { method: 'POST', body: `"${'x'.repeat(9 * 1024 * 1024)}"` }],
    ['/datasets/stream', { method: 'POST', body: 'abc', headers: { 'content-type': 'text/plain' } }],
    ['/info', {}, 'nobody'],
    ['/v2/broken', {}],
    ['/v2/broken?code=23505', {}],
    ['/v2/broken?code=57P01', {}],
  ];

  it('is answered as if no one stood between', async () => {
    const direct = kept(await startSample());
    const forwarding = await gateway((await service()).url);
    for (const [path, init, key] of REQUESTS) {
      const headers = { 'x-request-id': 'one', 'content-type': 'application/json', ...init.headers };
      const [here, there] = await Promise.all([
        direct.ask(path, { ...init, headers }, key),
        forwarding.ask(path, { ...init, headers }, key),
      ]);
      const seen = ({ status, headers, body }: typeof here) => {
        return { status, headers: Object.fromEntries([...headers].filter(([name]) => name !== 'date')), body };
      };
      expect({ path, ...init, ...seen(there) }).toEqual({ path, ...init, ...seen(here) });
    }
  });

  it('goes to every route that the module declares, and has their scopes', async () => {
    const direct = kept(await startSample());
    const forwarding = await gateway(await nobody());
    const plain = (list: ReturnType<typeof routes>) =>
      list.map(({ method, path, scope, stream }) => `${method} ${path} ${scope} ${stream}`).sort();
    expect(plain(routes(forwarding.app))).toEqual(plain(routes(direct.app)));
    expect(plain(declaredRoutes(SampleModule))).toEqual(plain(routes(direct.app)));
  });

  it('goes to the routes of a module that two others import', async () => {
    const first = { module: class FirstModule {}, imports: [SampleModule] };
    const both = { module: class BothModule {}, imports: [first, SampleModule] };
    const forwarding = kept(
      await startSample({}, mount(both, { service: SERVICE, urls: [(await service()).url], keys })),
    );
    expect((await forwarding.ask('/v2/deployments')).status).toBe(200);
  });

  it('comes no faster than the service reads, however large', async () => {
    const release = new AbortController();
    let received = 0;
    const url = await listening(
      createHttpServer((request, response) => {
        request.pause();
        const read = () => request.on('data', (chunk: Buffer) => (received += chunk.length)).resume();
        release.signal.addEventListener('abort', read);
        request.on('end', () => response.end('{}'));
      }),
    );
    const chunk = Buffer.alloc(1024 * 1024);
    let sent = 0;
    async function* body() {
      for (; sent < 100; sent++) yield chunk;
    }
    const forwarding = await gateway(url);
    const asked = fetch(`${forwarding.url}/datasets/stream`, {
      method: 'POST',
      headers: { 'x-api-key': 'owner', 'content-type': 'application/octet-stream' },
      body: body() as unknown as ReadableStream,
      duplex: 'half',
    });
    for (let before = -1; before !== sent || sent === 0;) {
      before = sent;
      await delay(300);
    }
    expect(sent).toBeLessThan(50);
    release.abort();
    expect((await asked).status).toBe(200);
    expect(received).toBe(100 * chunk.length);
  });

  it('ends at the service when the client goes away, while it sends and while it waits', async () => {
    let [come, gone] = [0, 0];
    const url = await listening(
      createHttpServer((request, response) => {
        come++;
        response.once('close', () => gone++);
        request.on('error', () => undefined).resume();
      }),
    );
    const forwarding = await gateway(url);
    const waiting = new AbortController();
    const wait = () => forwarding.ask('/v2/deployments', { signal: waiting.signal }).catch(() => undefined);
    const waits = [wait()];
    const sending = httpRequest(`${forwarding.url}/datasets/stream`, {
      method: 'POST',
      headers: { 'x-api-key': 'owner', 'content-type': 'text/plain', 'content-length': 1000 },
    });
    sending.on('error', () => undefined);
    // The end of a body is kept back until it is there.
    while (come < 2) {
      sending.write('abc');
      await delay(10);
    }
    sending.destroy();
    while (gone < 1) await delay(10);
    // The service did not fail: it is sent the next request as well.
    waits.push(wait());
    while (come < 3) await delay(10);
    waiting.abort();
    await Promise.all(waits);
    while (gone < 3) await delay(10);
  });
});

describe('A forwarded request whose body is slow to come', () => {
  const head = (path: string, length: number, key = 'owner') =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
  const remoteTo = (url: string) => ({ service: SERVICE, urls: [url], keys });

  it('counts as under way only when its body is there', async () => {
    const url = await listening(
      createHttpServer((request, response) => request.resume().on('end', () => response.end('{}'))),
    );
    const edge = { requests: { total: 4, perKey: 4 } };
    const forwarding = kept(await startSample({ edge }, mount(SampleModule, remoteTo(url))));
    const { port } = new URL(forwarding.url);
    const sockets = Array.from({ length: 20 }, () => connect(Number(port), '127.0.0.1').on('error', () => undefined));
    for (const socket of sockets) socket.write(`${head('/v2/deployments', 1000)}{`);
    const received = new Promise((resolve) => sockets[0]!.once('data', resolve));
    for (let n = 0; n < 20; n++) expect((await forwarding.ask('/v2/deployments')).status).toBe(200);
    sockets[0]!.write(' '.repeat(999));
    expect(String(await received)).toMatch(/^HTTP\/1.1 200 /);
    for (const socket of sockets) socket.destroy();
  });

  it('is answered 408, whatever the service does', async () => {
    const url = await listening(createHttpServer((request) => request.resume()));
    const forwarding = kept(
      await startSample({ limits: { idle: 200, rate: 1000 } }, mount(SampleModule, remoteTo(url))),
    );
    const { port } = new URL(forwarding.url);
    for (const path of ['/v2/deployments', '/datasets/stream']) {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
      let received = '';
      socket.setEncoding('utf8').on('data', (text: string) => (received += text));
      socket.write(head(path, 100_000));
      const drip = setInterval(() => socket.write(' '), 20);
      await once(socket, 'close');
      clearInterval(drip);
      expect(received).toMatch(/^HTTP\/1.1 408 [^]*took too long to arrive/);
    }
  });

  it('is not carried out when there is no room for it at its end', async () => {
    let carriedOut = 0;
    const waiting: (() => void)[] = [];
    const url = await listening(
      createHttpServer((request, response) => {
        if (request.method === 'GET') waiting.push(() => response.end('{}'));
        else
          request
            .on('error', () => undefined)
            .resume()
            .on('end', () => carriedOut++);
      }),
    );
    const edge = { requests: { total: 2, perKey: 2 } };
    const forwarding = kept(await startSample({ edge }, mount(SampleModule, remoteTo(url))));
    const socket = connect(Number(new URL(forwarding.url).port), '127.0.0.1').on('error', () => undefined);
    socket.write(`${head('/v2/deployments', 200_000)}${' '.repeat(100_000)}`);
    const asking = [forwarding.ask('/v2/deployments'), forwarding.ask('/v2/deployments')];
    while (waiting.length < 2) await delay(5);
    socket.write(' '.repeat(100_000));
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 503 /);
    expect(carriedOut).toBe(0);
    for (const answer of waiting) answer();
    await Promise.all(asking);
    socket.destroy();
  });
});

it('A request whose client has gone before it is forwarded goes nowhere', async () => {
  let come = 0;
  const url = await listening(createHttpServer((_, response) => response.end(`${++come}`)));
  const waiting: (() => void)[] = [];
  const late = { current: () => new Promise((found) => waiting.push(() => found(keys.current()))) };
  const remote = { service: SERVICE, urls: [url], keys: late as unknown as SigningKeys };
  const forwarding = kept(await startSample({}, mount(SampleModule, remote)));
  const connected = once(forwarding.app.getHttpServer(), 'connection') as Promise<[Socket]>;
  const asking = httpRequest(`${forwarding.url}/v2/deployments`, { headers: { 'x-api-key': 'owner' } });
  asking.on('error', () => undefined).end();
  const [socket] = await connected;
  while (waiting.length < 1) await delay(5);
  asking.destroy();
  while (!socket.destroyed) await delay(5);
  waiting[0]!();
  const next = forwarding.ask('/v2/deployments');
  while (waiting.length < 2) await delay(5);
  waiting[1]!();
  expect(await next).toMatchObject({ status: 200 });
  expect(come).toBe(1);
});

describe('A service that does not answer', () => {
  const unavailable = { status: 503, body: { detail: expect.any(String) as string } };

  it('is one of several: another is asked when no one listens, whatever the method', async () => {
    const forwarding = await gateway(await nobody(), (await service()).url, await nobody());
    for (let i = 0; i < 5; i++) {
      expect(await forwarding.ask('/v2/deployments')).toMatchObject({ status: 200 });
      expect(await forwarding.ask('/v2/deployments', CREATE)).toMatchObject({ status: 201 });
    }
  });

  it('is 503 with Retry-After when no one listens at all', async () => {
    const forwarding = await gateway(await nobody());
    const answer = await forwarding.ask('/v2/deployments');
    expect(answer).toMatchObject(unavailable);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.headers.get('x-request-id')).toMatch(/./);
  });

  it('is asked again elsewhere what only reads, and never what writes', async () => {
    let cut = 0;
    const cutting = await listening(createNetServer((socket) => socket.once('data', () => socket.destroy(void cut++))));
    const reading = await gateway(cutting, (await service()).url);
    for (let i = 0; i < 3; i++) expect(await reading.ask('/v2/deployments')).toMatchObject({ status: 200 });
    expect(cut).toBeGreaterThan(0);
    cut = 0;
    const writing = await gateway(cutting);
    const answer = await writing.ask('/v2/deployments', CREATE);
    expect(answer).toMatchObject(unavailable);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(cut).toBe(1);
  });

  it('is 502 when it speaks no HTTP', async () => {
    const url = await listening(createNetServer((socket) => socket.once('data', () => socket.end('what?\r\n\r\n'))));
    expect(await (await gateway(url)).ask('/v2/deployments')).toMatchObject({ status: 502 });
  });

  it('loses no request while it restarts: it finishes, and the others are asked meanwhile', async () => {
    const [one, two] = [await service(60_000), await service(60_000)];
    const forwarding = await gateway(one.url, two.url);
    const statuses: number[] = [];
    let stopping = true;
    const client = async () => {
      while (stopping) {
        statuses.push((await forwarding.ask('/v2/deployments', CREATE)).status);
      }
    };
    const clients = [client(), client(), client(), client()];
    while (statuses.length < 50) await delay(5);
    await one.app.close();
    const { length } = statuses;
    while (statuses.length < length + 50) await delay(5);
    stopping = false;
    await Promise.all(clients);
    expect(new Set(statuses)).toEqual(new Set([201]));
  });
});

describe('A service behind a gateway', () => {
  const ask = (url: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/v2/deployments`, { headers: { 'x-request-id': 'one', ...headers } });

  it('refuses whatever does not come from the gateway, on public routes too', async () => {
    const { url } = await service();
    expect((await ask(url)).status).toBe(401);
    expect((await ask(url, { 'x-api-key': 'owner' })).status).toBe(401);
    expect((await fetch(`${url}/info`)).status).toBe(401);
    expect((await ask(url, { [IDENTITY_HEADER]: await identityOf() })).status).toBe(200);
    const token = await identityOf({ originalUrl: '/info' });
    expect((await fetch(`${url}/info`, { headers: { 'x-request-id': 'one', [IDENTITY_HEADER]: token } })).status).toBe(
      200,
    );
  });

  it('refuses the identity of another request or for another service, a changed one, and one nobody signed', async () => {
    const { url } = await service();
    const good = await identityOf();
    const [head, claims, signature] = good.split('.') as [string, string, string];
    const forged = { ...(JSON.parse(Buffer.from(claims, 'base64url').toString()) as object), tid: 'other' };
    const unsigned = Buffer.from('{"alg":"none"}').toString('base64url');
    const bad = [
      await identityOf({}, 'another'),
      await identityOf({ id: 'two' }),
      `${head}.${Buffer.from(JSON.stringify(forged)).toString('base64url')}.${signature}`,
      `${unsigned}.${claims}.`,
      'x',
    ];
    for (const token of bad) expect((await ask(url, { [IDENTITY_HEADER]: token })).status).toBe(401);
    const nobodys = await identityOf({ actor: undefined });
    expect((await ask(url, { [IDENTITY_HEADER]: nobodys })).status).toBe(403);
  });

  it('takes an identity once', async () => {
    const { url } = await service();
    const headers = { [IDENTITY_HEADER]: await identityOf() };
    expect((await ask(url, headers)).status).toBe(200);
    expect((await ask(url, headers)).status).toBe(401);
  });

  it('takes an identity for its method, path, query and body alone', async () => {
    const { url } = await service();
    const path = '/v2/deployments/0196b1f0-0000-7000-8000-000000000001';
    const type = { 'content-type': 'application/json' };
    const seen = [
      { method: 'GET', originalUrl: path, headers: {} },
      { method: 'PATCH', originalUrl: path, headers: { ...type, 'content-length': '2' }, readBody: Buffer.from('{}') },
    ];
    const forged: [string, string, string?][] = [
      ['DELETE', path],
      ['GET', `${path}?version=1`],
      ['GET', '/v2/deployments'],
      ['PATCH', `${path}?dry_run=true`, '{}'],
      ['PATCH', path, '[]'],
      ['PATCH', path, '{} '],
      ['PATCH', path],
      ['DELETE', path, '{}'],
    ];
    for (const [method, target, body] of forged) {
      for (const one of seen) {
        const headers = { 'x-request-id': 'one', [IDENTITY_HEADER]: await identityOf(one), ...(body && type) };
        const { status } = await fetch(url + target, { method, headers, body });
        expect([method, target, body, one.method, status]).toEqual([method, target, body, one.method, 401]);
      }
    }
    for (const { method, originalUrl, headers, readBody } of seen) {
      const identity = await identityOf({ method, originalUrl, headers, readBody });
      const given = { 'x-request-id': 'one', [IDENTITY_HEADER]: identity, ...(readBody && type) };
      const { status } = await fetch(url + originalUrl, { method, headers: given, body: readBody && '{}' });
      expect([method, status < 300]).toEqual([method, true]);
    }
  });

  it('refuses an identity that is too old', async () => {
    const { url } = await service();
    const token = await identityOf();
    jest.useFakeTimers({
      now: Date.now() + 60_000,
      doNotFake: ['setTimeout', 'setInterval', 'setImmediate', 'nextTick'],
    });
    try {
      expect((await ask(url, { [IDENTITY_HEADER]: token })).status).toBe(401);
    } finally {
      jest.useRealTimers();
    }
  });

  it('believes every gateway process, and none whose key was withdrawn', async () => {
    const fresh = new IdentityKeys(database.pool);
    const [one, two] = [new SigningKeys(database.pool), new SigningKeys(database.pool)];
    const request = (token: string) =>
      ({ id: 'one', method: 'GET', originalUrl: '/v2/deployments', headers: { [IDENTITY_HEADER]: token } }) as never;
    for (const signing of [one, two]) {
      const actor = await checkIdentity(fresh, SERVICE, request(await identityOf({}, SERVICE, signing)));
      expect(actor).toEqual(ACTOR);
    }
    await database.pool.query('delete from identity_keys where id = $1', [(await one.current()).id]);
    const later = new IdentityKeys(database.pool);
    const withdrawn = request(await identityOf({}, SERVICE, one));
    await expect(checkIdentity(later, SERVICE, withdrawn)).rejects.toThrow('Invalid token');
  });

  it('hears what the client asked for and where from', async () => {
    const heard: Record<string, unknown>[] = [];
    const url = await listening(
      createHttpServer(({ headers, url: target }, response) => {
        heard.push({ ...headers, target });
        response.end('{}');
      }),
    );
    const { url: base } = await gateway(url);
    const socket = connect(Number(new URL(base).port), '127.0.0.1');
    socket.write(
      'GET /v2/deployments?name=%C3%A4&x=%2F HTTP/1.1\r\nHost: fairlead.example\r\nX-Api-Key: owner\r\nX-Other: kept\r\n' +
        'Cookie: fairlead-4600=session; fairlead_sign_in_1=kept; __Host-fairlead=session\r\n' +
        `${IDENTITY_HEADER}: forged\r\nX-Forwarded-Host: forged\r\nConnection: close, x-other-hop\r\nX-Other-Hop: 1\r\n\r\n`,
    );
    await once(socket.resume(), 'close');
    expect(heard).toEqual([
      expect.objectContaining({
        target: '/v2/deployments?name=%C3%A4&x=%2F',
        'x-forwarded-host': 'fairlead.example',
        'x-forwarded-proto': 'http',
        'x-forwarded-for': '127.0.0.1',
        'x-other': 'kept',
        cookie: 'fairlead_sign_in_1=kept',
      }),
    ]);
    const [request] = heard;
    expect(request).not.toHaveProperty('x-api-key');
    expect(request).not.toHaveProperty('x-other-hop');
    expect(request?.[IDENTITY_HEADER]).not.toBe('forged');
  });
});
