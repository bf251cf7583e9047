import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { type Kind, pathOf, type Reached, reachedAt, requestHeaders, responseHeaders } from './app-headers.client';

const KEY = `fl_${'1'.repeat(22)}_${'2'.repeat(27)}_${'3'.repeat(6)}`;
const REACHED: Reached = { proto: 'https', host: 'agents.example', prefix: '/apps/support', for: '192.0.2.7' };

const sent = (headers: object, kind: Kind = 'api') => requestHeaders({ headers } as IncomingMessage, kind, REACHED);
const answered = (headers: object, statusCode = 200, reached = REACHED) =>
  responseHeaders({ headers, statusCode } as IncomingMessage, 'api', reached);

describe('a key', () => {
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  it.each([
    KEY,
    `Bearer ${KEY}`,
    `bearer  ${KEY} `,
    `Token ${KEY}`,
    `ApiKey key=${KEY}`,
    `Bearer fp_${'a'.repeat(43)}`,
    basic(`user:${KEY}`),
    basic(`${KEY}:`),
  ])('does not reach a program in Authorization: %s', (authorization) => {
    for (const kind of ['api', 'pages'] as const) {
      expect(sent({ 'x-api-key': KEY, authorization }, kind)).not.toHaveProperty('authorization');
      expect(sent({ 'x-api-key': KEY, authorization }, kind)).not.toHaveProperty('x-api-key');
    }
  });

  it('of any form does not reach a program in the header by which its sender was known', () => {
    expect(sent({ authorization: 'Bearer of-the-operator' })).not.toHaveProperty('authorization');
    expect(sent({ 'x-api-key': 'of-the-operator' })).not.toHaveProperty('x-api-key');
  });

  it.each(['Bearer eyJhbGciOiJub25lIn0.e30.', 'Bearer sk-proj-1', basic('user:password'), 'Digest username="a"'])(
    'of the program itself reaches it: %s',
    (authorization) => expect(sent({ 'x-api-key': KEY, authorization })).toMatchObject({ authorization }),
  );
});

it.each([
  ['/apps/support', '/'],
  ['/apps/support?a=1', '/?a=1'],
  ['/apps/support/apps/support/a', '/apps/support/a'],
  ['/app-pages/support/a/b?c', '/a/b?c'],
  // A program that knows its prefix names it in the links of its pages.
  ['/app-pages/support/apps/support/openapi.json?a', '/openapi.json?a'],
  ['/app-pages/support/apps/support', '/'],
  ['/app-pages/support/apps/supporter/a', '/apps/supporter/a'],
  ['/app-pages/support/apps/other/a', '/apps/other/a'],
])('%s is %s for the program', (url, path) => expect(pathOf(url)).toBe(path));

describe('where a request comes from', () => {
  it('is said by the server, whatever its client says', () => {
    const lies = {
      ...{ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'ftp', 'x-forwarded-host': 'evil', forwarded: 'for=1' },
      ...{ 'x-forwarded-prefix': '/evil', 'x-forwarded-port': '1', 'x-forwarded-ssl': 'on', 'x-real-ip': '127.0.0.1' },
      ...{ 'x-original-url': '/admin', 'x-rewrite-url': '/admin', 'cf-connecting-ip': '127.0.0.1' },
    };
    expect(sent({ ...lies, accept: '*/*' })).toEqual({
      ...{ accept: '*/*', 'x-forwarded-for': '192.0.2.7', 'x-forwarded-proto': 'https' },
      ...{ 'x-forwarded-host': 'agents.example', 'x-forwarded-prefix': '/apps/support' },
    });
  });

  const request = (more: object) =>
    ({
      ...{ url: '/apps/support/a?b', headers: {}, ip: '192.0.2.7', protocol: 'http', host: 'here:4600' },
      ...more,
    }) as FastifyRequest;

  it('is what the request shows, or the setting PUBLIC_URL', () => {
    const shown = { proto: 'http', host: 'here:4600', prefix: '/apps/support', for: '192.0.2.7' };
    const lies = { headers: { 'x-forwarded-prefix': '/evil' } };
    expect(reachedAt(request(lies), 'api', undefined)).toEqual(shown);
    expect(reachedAt(request({ url: '/app-pages/support/a' }), 'pages', undefined)).toEqual({ ...shown, prefix: '' });
    const known = { proto: 'https', host: 'agents.example', prefix: '/fairlead/apps/support', for: '192.0.2.7' };
    expect(reachedAt(request(lies), 'api', 'https://agents.example/fairlead/')).toEqual(known);
  });

  it('is what a trusted proxy says', () => {
    const proxied = request({
      ...{ ip: '198.51.100.1', ips: ['10.0.0.1', '198.51.100.1'], protocol: 'https', host: 'front.example' },
      headers: { 'x-forwarded-prefix': '/tools/' },
    });
    expect(reachedAt(proxied, 'api', 'https://agents.example')).toEqual({
      ...{ proto: 'https', host: 'front.example', prefix: '/tools/apps/support', for: '198.51.100.1, 10.0.0.1' },
    });
  });
});

describe('a redirect', () => {
  it.each([
    ['/login', '/apps/support/login'],
    ['/', '/apps/support/'],
    ['/supportive', '/apps/support/supportive'],
    ['/apps/support/login?next=/', '/apps/support/login?next=/'],
    ['/apps/supportive', '/apps/support/apps/supportive'],
    ['https://agents.example/items/', 'https://agents.example/apps/support/items/'],
    ['https://agents.example', 'https://agents.example/apps/support/'],
    ['https://elsewhere.example/items/', 'https://elsewhere.example/items/'],
    ['//elsewhere.example/', '//elsewhere.example/'],
    ['items/', 'items/'],
    ['?page=2', '?page=2'],
  ])('to %s leads to %s', (location, expected) => {
    expect(answered({ location }, 307)).toMatchObject({ location: expected });
  });

  it('is no Location of another response', () => {
    expect(answered({ location: '/threads/1/runs/2' }, 200)).toMatchObject({ location: '/threads/1/runs/2' });
  });
});

describe('a response', () => {
  it.each([
    ['a=1', 'a=1; Path=/apps/support'],
    ['a=1; Path=/; HttpOnly', 'a=1; HttpOnly; Path=/apps/support'],
    ['a=1; path=/admin; Domain=.example', 'a=1; Path=/apps/support/admin'],
    ['a=1; Path=/apps/support/x; Path=/', 'a=1; Path=/apps/support'],
    ['a=1; Path=/apps/supportive', 'a=1; Path=/apps/support/apps/supportive'],
  ])('sets the cookie %s as %s', (cookie, expected) => {
    expect(answered({ 'set-cookie': [cookie] })['set-cookie']).toEqual([expected]);
  });

  it('says nothing for the whole address, or to a proxy in front', () => {
    const names = ['service-worker-allowed', 'clear-site-data', 'strict-transport-security', 'alt-svc', 'nel'];
    const more = ['report-to', 'accept-ch', 'critical-ch', 'origin-agent-cluster', 'x-accel-redirect', 'x-sendfile'];
    const headers = Object.fromEntries([...names, ...more].map((name) => [name, '/']));
    expect(answered(headers)).toEqual({ 'content-security-policy': expect.stringMatching(/^sandbox /) });
  });
});
