import { once, setMaxListeners } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { withTimeLimit } from '@fairlead/schema';
import { checkTarget, checkUrl, guardedFetch } from './outbound';
import { isPublicAddress } from './outbound-address';
import { OutboundFailure, OutboundRefused } from './outbound-errors';
import { OutboundPolicy, parseOutboundAllow } from './outbound-policy';
import type { Resolve } from './outbound-resolver';

const PUBLIC = '93.184.216.34';
const resolving =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

let server: Server;
let port: number;
let asked: string[];

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const { pathname } = new URL(request.url ?? '/', 'http://here');
    if (pathname === '/moved') response.writeHead(302, { location: '/elsewhere' }).end();
    else if (pathname === '/large') response.end(Buffer.alloc(3000));
    else if (pathname === '/endless') {
      const timer = setInterval(() => response.write(Buffer.alloc(500)), 5);
      response.on('close', () => clearInterval(timer));
    } else if (pathname === '/stalled') response.write('a');
    else if (pathname === '/cut') {
      response.write('a');
      setImmediate(() => response.destroy());
    } else if (pathname !== '/silent') response.end('here');
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  port = (server.address() as AddressInfo).port;
});

beforeEach(() => {
  asked = [];
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Networks of which no address may be called, as base and number of fixed bits. */
const FORBIDDEN_IPV4: [number, string][] = [
  [8, '0.0.0.0'],
  [8, '10.0.0.0'],
  [10, '100.64.0.0'],
  [8, '127.0.0.0'],
  [16, '169.254.0.0'],
  [12, '172.16.0.0'],
  [24, '192.0.0.0'],
  [16, '192.168.0.0'],
  [15, '198.18.0.0'],
  [4, '224.0.0.0'],
  [4, '240.0.0.0'],
  [32, '169.254.169.254'],
  [32, '100.100.100.200'],
  [32, '168.63.129.16'],
];

const number = (dotted: string) => dotted.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
const dotted = (value: number) => [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
const hex = (value: number) => value.toString(16).padStart(8, '0');

const privateIPv4 = fc
  .tuple(fc.constantFrom(...FORBIDDEN_IPV4), fc.nat({ max: 2 ** 31 - 1 }))
  .map(([[bits, base], random]) => number(base) + (random % 2 ** (32 - bits)));

/** Ways to write one IPv4 address that some parser takes. */
const spellings: ((value: number) => string)[] = [
  dotted,
  (value) => String(value),
  (value) => `0x${hex(value)}`,
  (value) => `0${value.toString(8)}`,
  (value) => dotted(value).replaceAll(/\d+/g, (part) => `0x${Number(part).toString(16)}`),
  (value) => dotted(value).replaceAll(/\d+/g, (part) => `0${Number(part).toString(8)}`),
  (value) => `${Math.floor(value / 2 ** 24)}.${value % 2 ** 24}`,
  (value) => `${dotted(value)}.`,
  (value) => dotted(value).replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
  (value) => dotted(value).replaceAll('.', '。'),
  (value) => dotted(value).replaceAll(/\d/g, (digit) => `%3${digit}`),
  (value) => `[::ffff:${dotted(value)}]`,
  (value) => `[::${dotted(value)}]`,
  (value) => `[0:0:0:0:0:FFFF:${hex(value).slice(0, 4)}:${hex(value).slice(4)}]`,
  (value) => `[2002:${hex(value).slice(0, 4)}:${hex(value).slice(4)}::1]`,
  (value) => `[64:ff9b::${dotted(value)}]`,
  (value) => `[64:ff9b:1::${dotted(value)}]`,
  (value) => `[2001:0:${hex(value).slice(0, 4)}:${hex(value).slice(4)}::]`,
];

const forbiddenHost = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(privateIPv4, fc.constantFrom(...spellings)).map(([value, spell]) => spell(value)) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('fc', 'fd', 'fe8', 'fea', 'fec', 'ff0', '4', '8'), fc.nat({ max: 0xffff }))
      .map(([prefix, end]) => `[${prefix.padEnd(4, '0')}::${end.toString(16)}]`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...['[::]', '[::1]', 'localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'printer.local', 'vault.internal'],
      ...['metadata', 'metadata.google.internal', 'router.lan', 'nas.home.arpa', '[fd00:ec2::254]', '[3fff::1]'],
    ),
  },
);

const hostileUrl = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(forbiddenHost, fc.constantFrom('', ':443', ':80', ':8080'), fc.constantFrom('', '/', '/a?b=c'))
      .map(([host, at, rest]) => `https://${host}${at}${rest}`),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          ...[
            'https://code.example@HOST/',
            'https://code.example:443@HOST/',
            'https://user:word@HOST/',
            'http://HOST/',
          ],
          ...['https:\\\\HOST\\a', 'https://HOST\\@code.example/', 'https:HOST', 'https:///HOST', '//HOST/', 'HOST'],
          ...[
            'https://code.example#@HOST/',
            'ftp://HOST/',
            'file:///etc/passwd?HOST',
            'gopher://HOST/',
            ' https://HOST',
          ],
          ...['ht\ttps://HOST/', 'https://\nHOST/', 'https://HOST/a b', 'https://code.example\t@HOST/', 'data:HOST'],
          ...[
            'https://[HOST]/',
            'https://HOST%00.code.example/',
            'https://code.example\u200b@HOST',
            'javascript://HOST',
          ],
        ),
        forbiddenHost,
      )
      .map(([pattern, host]) => pattern.replace('HOST', () => host)),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
);

describe('checkUrl', () => {
  const policy = new OutboundPolicy();

  it('refuses every hostile URL, naming the member', () => {
    const property = fc.property(hostileUrl, (url) => {
      expect(() => checkUrl(url, policy, 'base_url')).toThrow(/^base_url (must|names)/);
    });
    fc.assert(property, { numRuns: 5000 });
  });

  it.each([
    'https://code.example',
    'https://code.example:8443/team/agent.git?x=1',
    `https://${PUBLIC}/`,
    'https://münchen.example/',
  ])('accepts %s', (url) => {
    expect(checkUrl(url, policy).href).toContain(new URL(url).host);
  });

  it.each([
    ['https://user@code.example/', 'must not hold credentials'],
    ['https://user:word@code.example/', 'must not hold credentials'],
    ['https://@code.example/', 'must not hold credentials'],
    ['https://code.example/#top', 'must not hold a fragment'],
    ['https://code.example/a b', 'must be an absolute https URL'],
    ['https://code.example\\team', 'must be an absolute https URL'],
    ['ftp://code.example/', 'must be an absolute https URL'],
    ['//code.example/', 'must be an absolute https URL'],
    ['http://code.example/', 'must be an https URL'],
    [`https://${number(PUBLIC)}/`, 'must spell an IPv4 address as four decimal numbers'],
    [`https://0x${hex(number(PUBLIC))}/`, 'must spell an IPv4 address as four decimal numbers'],
    ['https://93.184.55330/', 'must spell an IPv4 address as four decimal numbers'],
    ['https://code/', 'names a host that may not be called'],
    ['https://code.internal/', 'names a host that may not be called'],
    [`https://code.example/${'x'.repeat(2028)}`, 'must not be longer than 2048 characters'],
  ])('refuses %s although its host is public: it %s', (url, reason) => {
    expect(() => checkUrl(url, policy, 'base_url')).toThrow(`base_url ${reason}.`);
  });

  it('accepts a name of another script however often it is asked', () => {
    for (let n = 0; n < 20_000; n++) expect(() => checkUrl('https://münchen.example/', policy)).not.toThrow();
  });

  it('accepts plain http only where the operator named the host or allowed it for all', () => {
    expect(() => checkUrl('http://code.example/', policy)).toThrow(OutboundRefused);
    expect(checkUrl('http://code.example/', new OutboundPolicy([], {}, true)).protocol).toBe('http:');
    const named = new OutboundPolicy(parseOutboundAllow('git.corp, 10.1.0.0/16, build:8080, fd12::/16,::1'));
    const accepted = [
      'http://git.corp/',
      'https://git.corp:99/',
      'http://10.1.2.3/',
      'http://build:8080/',
      'http://[::1]/',
    ];
    for (const url of accepted) expect(checkUrl(url, named).href).toBe(url);
    for (const url of ['http://build:8081/', 'https://10.2.0.1/', 'https://other.corp.internal/'])
      expect(() => checkUrl(url, named)).toThrow(OutboundRefused);
  });
});

it('knows the addresses of the public internet', () => {
  for (const address of ['8.8.8.8', '2606:4700::1111', '64:ff9b::808:808']) expect(isPublicAddress(address)).toBe(true);
  for (const address of ['fe80::1%eth0', '64:ff9b::7f00:1', 'nonsense', ''])
    expect(isPublicAddress(address)).toBe(false);
});

it.each(['a/b', '10.0.0.0/40', 'a:b', 'https://a', 'a@b', 'a b'])('refuses %j as an entry of the list', (entry) => {
  expect(() => parseOutboundAllow(`good.example,${entry}`)).toThrow(`holds ${JSON.stringify(entry)}`);
});

describe('a URL that is stored', () => {
  it('may not resolve to a private address, not even besides a public one', async () => {
    for (const address of ['127.0.0.1', '::ffff:10.0.0.1', 'fd00::1', '169.254.169.254']) {
      const policy = new OutboundPolicy([], {}, false, resolving(PUBLIC, address));
      await expect(checkTarget('https://code.example/', policy, 'w', 'repo_url')).rejects.toThrow(
        'repo_url names a host that may not be called.',
      );
    }
  });

  it('may have a host that cannot be resolved at the moment', async () => {
    const policy = new OutboundPolicy([], {}, false, () => Promise.reject(new Error('no answer')));
    await expect(checkTarget('https://code.example/', policy, 'w')).resolves.toMatchObject({ host: 'code.example' });
    const silent = new OutboundPolicy([], { connect: 20 }, false, () => new Promise(() => undefined));
    await expect(checkTarget('https://code.example/', silent, 'w')).resolves.toMatchObject({ host: 'code.example' });
  });
});

describe('guardedFetch', () => {
  const fault = (promise: Promise<unknown>) => promise.catch((error: unknown) => (error as OutboundFailure).fault);
  const here = (
    options: Partial<{ connect: number; headers: number; body: number; bytes: number; whole: number }> = {},
  ) => new OutboundPolicy(parseOutboundAllow('127.0.0.1'), options);

  it('is not fooled by a resolver that changes its mind', async () => {
    let calls = 0;
    const rebinding: Resolve = async () => [{ address: calls++ % 2 === 0 ? PUBLIC : '127.0.0.1', family: 4 }];
    const policy = new OutboundPolicy([], {}, true, rebinding);
    await checkTarget(`http://code.example:${port}/`, policy, 'w');
    expect(await fault(guardedFetch(`http://code.example:${port}/`, {}, policy, 'w'))).toBe('refused');
    const both = new OutboundPolicy([], {}, true, resolving(PUBLIC, '127.0.0.1'));
    expect(await fault(guardedFetch(`http://code.example:${port}/`, {}, both, 'w'))).toBe('refused');
    expect(asked).toEqual([]);
  });

  it('connects to the address that was checked and asks the resolver once', async () => {
    let calls = 0;
    const rebinding: Resolve = async () => [{ address: calls++ === 0 ? '127.0.0.2' : '127.0.0.1', family: 4 }];
    const policy = new OutboundPolicy(parseOutboundAllow('127.0.0.2/32'), {}, true, rebinding);
    const answer = await guardedFetch(`http://code.example:${port}/`, {}, policy, 'w');
    expect(await answer.text()).toBe('here');
    expect(calls).toBe(1);
  });

  it('refuses what checkUrl refuses', async () => {
    expect(await fault(guardedFetch(`http://127.0.0.1:${port}/`, {}, new OutboundPolicy(), 'w'))).toBe('refused');
    expect(await fault(guardedFetch(`https://localhost:${port}/`, {}, new OutboundPolicy(), 'w'))).toBe('refused');
    expect(asked).toEqual([]);
  });

  it('follows no redirect', async () => {
    const answer = await guardedFetch(`http://127.0.0.1:${port}/moved`, { redirect: 'follow' }, here(), 'w');
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/elsewhere']);
    expect(asked).toEqual(['/moved']);
  });

  it('reads no more than the limit', async () => {
    const policy = here({ bytes: 2000 });
    expect(await fault(guardedFetch(`http://127.0.0.1:${port}/large`, {}, policy, 'w'))).toBe('too large');
    const endless = await guardedFetch(`http://127.0.0.1:${port}/endless`, {}, policy, 'w');
    expect(await fault(endless.text())).toBe('too large');
    const own = await guardedFetch(`http://127.0.0.1:${port}/large`, {}, policy, 'w', { bytes: 3000 });
    expect((await own.arrayBuffer()).byteLength).toBe(3000);
  });

  it('gives up on a server that is silent, stalls, is not there or hangs up', async () => {
    const hasty = here({ headers: 100 });
    expect(await fault(guardedFetch(`http://127.0.0.1:${port}/silent`, {}, hasty, 'w'))).toBe('timeout');
    const policy = here({ body: 1000 });
    const stalled = await guardedFetch(`http://127.0.0.1:${port}/stalled`, {}, policy, 'w');
    expect(await fault(stalled.text())).toBe('timeout');
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port: nobody } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    expect(await fault(guardedFetch(`http://127.0.0.1:${nobody}/`, {}, policy, 'w'))).toBe('unreachable');
    const cut = await guardedFetch(`http://127.0.0.1:${port}/cut`, {}, here(), 'w');
    expect(await fault(cut.text())).toBe('unreachable');
  });

  it('does not let calls of one workspace that get no answer delay another workspace, nor its own for ever', async () => {
    const policy = here();
    const stop = new AbortController();
    const { signal } = stop;
    setMaxListeners(0, signal);
    const silent = Array.from({ length: 130 }, () =>
      fault(guardedFetch(`http://127.0.0.1:${port}/silent`, { signal }, policy, 'hostile')),
    );
    const answer = await guardedFetch(`http://127.0.0.1:${port}/`, {}, policy, 'w');
    expect(await answer.text()).toBe('here');
    expect(asked.filter((path) => path === '/silent').length).toBeLessThanOrEqual(100);
    stop.abort();
    await Promise.all(silent);
    expect(await (await guardedFetch(`http://127.0.0.1:${port}/`, {}, policy, 'hostile')).text()).toBe('here');
  });

  it('ends an answer that is read too slowly, or not at all, and gives its place back', async () => {
    const policy = here({ body: 60_000 });
    const get = (path: string) => guardedFetch(`http://127.0.0.1:${port}${path}`, {}, policy, 'w', { whole: 1500 });
    const unread = await get('/endless');
    for (let n = 0; n < 120; n++) await get('/stalled');
    expect(await fault(unread.text())).toBe('timeout');
  });

  it('leaves an abort by the caller as it is', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(guardedFetch(`http://127.0.0.1:${port}/`, { signal }, here(), 'w')).rejects.toBe(signal.reason);
    const silent = withTimeLimit(30, [], (late) =>
      guardedFetch(`http://127.0.0.1:${port}/silent`, { signal: late }, here(), 'w'),
    );
    expect(await fault(silent)).toBe('timeout');
  });
});
