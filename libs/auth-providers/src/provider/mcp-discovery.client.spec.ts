import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AuthorizationServer, startAuthorizationServer } from '../testing/authorization-server';
import { TestService } from '../testing/service';
import { Visitor } from '../testing/visitor';

let service: TestService;
let server: AuthorizationServer;
let odd: Server;
let oddUrl: string;
/** What the odd server answers by path. */
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
    json: { detail: 'mcp_server_url: no metadata of an authorisation server was found.' },
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
    json: { detail: 'The authorisation server answered invalid_client_metadata.' },
  });
  pages['/register'] = { status: 201, body: { client_id: 7 } };
  expect((await discover('odd', `${oddUrl}/mcp`)).status).toBe(502);
});
