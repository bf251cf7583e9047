import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AuthorizationServer, startAuthorizationServer } from '../testing/authorization-server';
import { TestService } from '../testing/service';
import { Visitor } from '../testing/visitor';

let service: TestService;
let server: AuthorizationServer;
let odd: Server;
let oddUrl: string;
/** Responses of the odd server, by path. */
let pages: Record<string, { status?: number; body?: unknown; headers?: Record<string, string> }>;
let asked: string[];

beforeAll(async () => {
  service = await TestService.start();
  server = await startAuthorizationServer([]);
  odd = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const { status = 200, body, headers = {} } = pages[request.url!] ?? { status: 404 };
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body ?? {}));
  });
  await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve));
  oddUrl = `http://127.0.0.1:${(odd.address() as AddressInfo).port}`;
});

beforeEach(() => {
  pages = {};
  asked = [];
});

afterAll(async () => {
  await new Promise((resolve) => odd?.close(resolve));
  await server?.stop();
  await service?.stop();
});

const discover = (provider_id: string, mcp_server_url: string) =>
  service.send('POST', '/v2/auth/providers/mcp-discover', { body: { provider_id, name: 'Files', mcp_server_url } });

it('finds the authorisation server of an MCP server, registers a client, and the sign-in works', async () => {
  const { status, json, text } = await discover('files', `${server.url}/mcp/files`);
  expect(status).toBe(200);
  expect(json).toMatchObject({
    ...{ provider_id: 'files', name: 'Files', mcp_server_url: `${server.url}/mcp/files`, is_dynamic_client: true },
    ...{ auth_url: `${server.url}/auth`, token_url: `${server.url}/token`, client_id: expect.stringMatching(/.+/) },
    ...{ uses_pkce: true, code_challenge_method: 'S256', token_endpoint_auth_method: 'client_secret_post' },
  });
  expect(text).not.toContain('client_secret"');
  const body = { provider: 'files', user_id: 'ada', scopes: ['files:read'] };
  const begun = (await service.send('POST', '/v2/auth/authenticate', { body })).json;
  const opened = await fetch(begun.url, { redirect: 'manual' });
  expect(new URL(opened.headers.get('location')!).searchParams.get('resource')).toBe(`${server.url}/mcp/files`);
  expect((await new Visitor().signIn(begun.url)).text).toContain('Files is connected');
  expect((await service.send('POST', '/v2/auth/authenticate', { body })).json).toMatchObject({
    status: 'completed',
    metadata: { scopes: ['files:read'] },
  });
  expect(await discover('files', `${server.url}/mcp/files`)).toMatchObject({ status: 409 });
});

it('takes the origin for the authorisation server when no metadata of the resource is published', async () => {
  expect((await discover('origin', `${server.url}/no/metadata`)).json).toMatchObject({
    token_url: `${server.url}/token`,
    mcp_server_url: `${server.url}/no/metadata`,
  });
});

it('goes to the authorisation server that the metadata of the resource names', async () => {
  pages['/.well-known/oauth-protected-resource'] = { body: { resource: oddUrl, authorization_servers: [server.url] } };
  expect((await discover('elsewhere', `${oddUrl}/mcp`)).json).toMatchObject({
    token_url: `${server.url}/token`,
    mcp_server_url: `${oddUrl}/mcp`,
  });
});

it('says plainly that a server offers no discovery', async () => {
  const { status, json } = await discover('none', `${oddUrl}/mcp`);
  expect({ status, json }).toEqual({
    status: 400,
    json: {
      detail: `mcp_server_url: no metadata of an authorisation server was found: ${asked
        .map((line) => `${line.replace(' /', ` ${oddUrl}/`)} was answered 404`)
        .join('; ')}.`,
    },
  });
  expect(asked).toEqual([
    'GET /mcp',
    'GET /.well-known/oauth-protected-resource/mcp',
    'GET /.well-known/oauth-protected-resource',
    'GET /.well-known/oauth-authorization-server',
    'GET /.well-known/openid-configuration',
  ]);
});

const metadata = (change: object = {}) => ({
  ...{ issuer: oddUrl, authorization_endpoint: `${oddUrl}/authorize`, token_endpoint: `${oddUrl}/token` },
  ...{ registration_endpoint: `${oddUrl}/register`, response_types_supported: ['code'] },
  ...change,
});

it.each([
  ['no registration', { registration_endpoint: undefined }, 400],
  ['no authentication that is known here', { token_endpoint_auth_methods_supported: ['private_key_jwt'] }, 400],
  ['another issuer', { issuer: 'https://evil.example' }, 400],
  ['a token endpoint that may not be called', { token_endpoint: 'https://169.254.169.254/token' }, 400],
  ['an authorisation endpoint that may not be called', { authorization_endpoint: 'http://plain.example/' }, 400],
  ['a registration endpoint that may not be called', { registration_endpoint: 'http://10.0.0.1/register' }, 502],
])('adds nothing for a server with %s', async (_, change, expected) => {
  pages['/.well-known/oauth-authorization-server'] = { body: metadata(change) };
  const { status, json } = await discover('odd', `${oddUrl}/mcp`);
  expect({ status, detail: typeof json.detail }).toEqual({ status: expected, detail: 'string' });
  expect((await service.send('GET', '/v2/auth/providers/odd')).status).toBe(404);
  expect(asked).not.toContain('POST /register');
});

it('follows no metadata to a host that may not be called, and no redirect', async () => {
  const authorization_servers = ['https://169.254.169.254'];
  pages['/.well-known/oauth-protected-resource'] = { body: { resource: oddUrl, authorization_servers } };
  expect(await discover('odd', `${oddUrl}/mcp`)).toMatchObject({
    status: 400,
    json: { detail: 'The authorisation server of mcp_server_url names a host that may not be called.' },
  });
  for (const url of ['http://mcp.example', 'https://inside.example/mcp', 'https://[::1]/mcp']) {
    const { status, json } = await discover('odd', url);
    expect(status).toBe(400);
    expect(json.detail).toContain('mcp_server_url');
  }
  pages['/mcp'] = { status: 401, headers: { 'www-authenticate': 'Bearer resource_metadata="http://10.0.0.1/x"' } };
  expect((await discover('odd', `${oddUrl}/mcp`)).status).toBe(502);
  pages = { '/mcp': { status: 302, headers: { location: `${server.url}/mcp/files` } } };
  expect((await discover('odd', `${oddUrl}/mcp`)).status).toBe(400);
});

it('registers at no host that may not be called, although it is there', async () => {
  const inside = createServer((request, response) => {
    asked.push(`inside ${request.url}`);
    response.end('{}');
  });
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.2', resolve));
  const { port } = inside.address() as AddressInfo;
  pages['/.well-known/oauth-authorization-server'] = {
    body: metadata({ registration_endpoint: `http://127.0.0.2:${port}/register` }),
  };
  const { status } = await discover('odd', `${oddUrl}/mcp`);
  await new Promise((resolve) => inside.close(resolve));
  expect(status).toBe(502);
  expect(asked).toContain('GET /.well-known/oauth-authorization-server');
  expect(asked).not.toContain('inside /register');
});

it('does not repeat what a server answered to the registration', async () => {
  pages['/.well-known/oauth-authorization-server'] = { body: metadata() };
  pages['/register'] = { status: 400, body: { error: 'invalid_client_metadata', error_description: 'a secret' } };
  const { status, json } = await discover('odd', `${oddUrl}/mcp`);
  expect({ status, json }).toEqual({
    status: 502,
    json: {
      detail: `mcp_server_url: POST ${oddUrl}/register was answered 400 with the error invalid_client_metadata.`,
    },
  });
  pages['/register'] = { status: 201, body: { client_id: 7 } };
  expect(await discover('odd', `${oddUrl}/mcp`)).toMatchObject({
    status: 502,
    json: { detail: expect.stringContaining('/register was answered 201, but not with a client') },
  });
});

describe('Redirects', () => {
  const to = (location: string, status = 302) => ({ status, headers: { location } });
  const failed = (asked: string, answered: string) => expect.stringContaining(`${asked} was answered ${answered}`);

  it.each([301, 302, 303, 307, 308])(
    'of metadata with the status %i are followed three times on one host',
    async (status) => {
      const resource = '/.well-known/oauth-protected-resource';
      const server = '/.well-known/oauth-authorization-server';
      pages = {
        '/mcp': to('/mcp/', status),
        [`${resource}/mcp`]: to('/one', status),
        '/one': to(`${oddUrl}/two?page=2`, status),
        '/two?page=2': to('three', status),
        '/three': { body: { resource: `${oddUrl}/mcp`, authorization_servers: [oddUrl] } },
        [server]: to(`${server}/`, status),
        [`${server}/`]: { body: metadata() },
        '/register': { status: 201, body: { client_id: 'found', client_secret: 'x', client_secret_expires_at: 0 } },
      };
      expect(await discover(`behind-${status}`, `${oddUrl}/mcp`)).toMatchObject({
        status: 200,
        json: { client_id: 'found', mcp_server_url: `${oddUrl}/mcp`, auth_url: `${oddUrl}/authorize` },
      });
    },
  );

  it('are not followed a fourth time, in a circle, or to another scheme, host or port', async () => {
    const at = '/.well-known/oauth-authorization-server';
    pages = { [at]: to('/1'), '/1': to('/2'), '/2': to('/3'), '/3': to('/4'), '/4': { body: metadata() } };
    const long = await discover('odd', `${oddUrl}/mcp`);
    expect(long).toMatchObject({
      status: 400,
      json: {
        detail: failed(`GET ${oddUrl}/3`, '302, a redirect that is not followed because there were 3 before it'),
      },
    });
    expect(asked).not.toContain('GET /4');
    pages = { [at]: to(at) };
    expect((await discover('odd', `${oddUrl}/mcp`)).status).toBe(400);
    const { port } = new URL(oddUrl);
    for (const origin of [
      server.url,
      `https://127.0.0.1:${port}`,
      `http://127.0.0.2:${port}`,
      'http://169.254.169.254',
    ]) {
      pages = { [at]: to(`${origin}${at}?secret=1`) };
      const { status, json } = await discover('odd', `${oddUrl}/mcp`);
      expect({ status, detail: json.detail }).toEqual({
        status: 400,
        detail: failed(
          `GET ${oddUrl}${at}`,
          `302, a redirect that is not followed because it leads to ${origin}, another`,
        ),
      });
      expect(json.detail).not.toContain('secret');
    }
  });

  it('take no credentials along, and their address is checked', async () => {
    pages = { '/mcp': to(`http://me:word@${new URL(oddUrl).host}/mcp/`) };
    const { status, json } = await discover('odd', `${oddUrl}/mcp`);
    expect({ status, detail: json.detail }).toEqual({
      status: 502,
      detail: failed(`GET ${oddUrl}/mcp/`, 'by nobody, because the address may not be called'),
    });
    expect(asked).toEqual(['GET /mcp']);
  });

  it('of a registration are not followed', async () => {
    pages['/.well-known/oauth-authorization-server'] = { body: metadata() };
    pages['/register'] = to('/register/', 307);
    expect(await discover('odd', `${oddUrl}/mcp`)).toMatchObject({
      status: 502,
      json: { detail: failed(`POST ${oddUrl}/register`, '307, a redirect that is not followed because only a GET') },
    });
    expect(asked).not.toContain('POST /register/');
  });
});

it.each([
  [
    'another issuer',
    { body: { ...{ issuer: 'https://evil.example' } } },
    400,
    '200, but not with metadata of this issuer',
  ],
  ['a page', { body: 'text' }, 400, '200, but not with metadata of this issuer'],
  ['an overload', { status: 503 }, 502, '503'],
])('says that the authorisation server answered with %s', async (_, page, expected, answered) => {
  pages['/.well-known/oauth-authorization-server'] = page;
  const { status, json } = await discover('odd', `${oddUrl}/mcp`);
  expect(status).toBe(expected);
  expect(json.detail).toContain(`GET ${oddUrl}/.well-known/oauth-authorization-server was answered ${answered}`);
});
