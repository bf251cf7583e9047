import { hash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OutboundPolicy, parseOutboundAllow } from '@fairlead/outbound';
import { AuthProvidersOptions } from './auth-providers.options';
import { OAuthClient } from './oauth.client';
import type { Provider } from './provider';

let server: Server;
let provider: Provider;
let sent: { headers: IncomingHttpHeaders; body: URLSearchParams };
let answer: { status: number; body: string };

const clientWith = (limits: object) =>
  new OAuthClient(
    new AuthProvidersOptions(new OutboundPolicy(parseOutboundAllow('127.0.0.1'), { bytes: 10_000, ...limits })),
  );
const client = clientWith({});
const hasty = clientWith({ headers: 300 });
const redirect = { redirectUri: 'https://fairlead.example/v2/auth/callback/odd', state: 'state' };
const exchange = (change: Partial<Provider> = {}, secret?: string, verifier?: string) =>
  (answer.status === 0 ? hasty : client).exchange(
    { ...provider, ...change },
    secret,
    { code: 'code' },
    { ...redirect, verifier },
  );

beforeAll(async () => {
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (bytes: Buffer) => (text += bytes.toString()));
    request.on('end', () => {
      sent = { headers: request.headers, body: new URLSearchParams(text) };
      if (answer.status === 0) return;
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  provider = {
    ...{ id: 'id', tenant_id: 'tenant', organization_id: 'organization', provider_id: 'odd', name: 'Odd' },
    ...{
      client_id: 'client',
      client_secret: null,
      auth_url: `${url}/auth?access_type=offline`,
      token_url: `${url}/token`,
    },
    ...{ uses_pkce: false, code_challenge_method: 'S256', provider_type: null, mcp_server_url: null, resource: null },
    ...{ issuer: null, token_endpoint_auth_method: 'client_secret_post', is_dynamic_client: false },
    ...{ created_at: '', updated_at: '', removed: false },
  };
});

beforeEach(() => {
  answer = { status: 200, body: '{"access_token":"a","token_type":"Bearer"}' };
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

it('keeps the parameters of auth_url and adds its own', async () => {
  const url = new URL(await client.authorizationUrl(provider, ['a', 'b'], redirect));
  expect(Object.fromEntries(url.searchParams)).toEqual({
    ...{ access_type: 'offline', client_id: 'client', response_type: 'code', scope: 'a b', state: 'state' },
    redirect_uri: redirect.redirectUri,
  });
});

it('sends an S256 challenge whatever the record says of PKCE', async () => {
  const verifier = 'v'.repeat(43);
  const plain = { ...provider, uses_pkce: false, code_challenge_method: 'plain' } as const;
  const url = new URL(await client.authorizationUrl(plain, [], { ...redirect, verifier }));
  expect(url.searchParams.get('code_challenge')).toBe(hash('sha256', verifier, 'base64url'));
  expect(url.searchParams.get('code_challenge_method')).toBe('S256');
  expect(url.searchParams.has('scope')).toBe(false);
  await exchange(plain, undefined, verifier);
  expect(sent.body.get('code_verifier')).toBe(verifier);
});

it('authenticates as the record says, and without a secret by its client id alone', async () => {
  await exchange({}, 's:/%');
  expect(Object.fromEntries(sent.body)).toMatchObject({ client_id: 'client', client_secret: 's:/%' });
  await exchange({ token_endpoint_auth_method: 'client_secret_basic' }, 's:/%');
  const basic = Buffer.from(sent.headers.authorization!.slice('Basic '.length), 'base64').toString();
  expect(basic.split(':').map(decodeURIComponent)).toEqual(['client', 's:/%']);
  expect(sent.body.has('client_secret')).toBe(false);
  for (const change of [{ token_endpoint_auth_method: 'none' as const }, {}]) {
    await exchange(change, change.token_endpoint_auth_method && 'unused');
    expect([sent.headers.authorization, sent.body.get('client_secret'), sent.body.get('client_id')]).toEqual([
      ...[undefined, null],
      'client',
    ]);
  }
});

it('reads scopes however they are separated, and takes types of token that are no standard', async () => {
  answer.body = '{"access_token":"a","token_type":"bot","scope":"repo,user:email","expires_in":"60"}';
  expect(await exchange()).toMatchObject({ access_token: 'a', scopes: ['repo', 'user:email'] });
  answer.body = '{"access_token":"a"}';
  expect(await exchange()).toMatchObject({ expires_at: null });
  answer.body = '{"access_token":"a","token_type":"Bearer","id_token":"not.a.token"}';
  expect(await exchange()).toMatchObject({ access_token: 'a' });
});

it.each([
  ['an error', 400, '{"error":"invalid_client"}', 'refused', 'answered invalid_client'],
  ['an error that came as a success', 200, '{"ok":false,"error":"bad_code"}', 'refused', 'answered bad_code'],
  ['an error that is no code', 400, '{"error":"<b>secret</b>"}', 'refused', 'answered an error'],
  ['no token', 200, '{}', 'failed', 'no usable answer'],
  ['no JSON', 200, 'access_token=a', 'failed', 'no usable answer'],
  ['a redirect', 302, '', 'failed', 'no usable answer'],
  ['a failure', 500, 'secret', 'failed', 'no usable answer'],
  ['too much', 200, `{"access_token":"${'a'.repeat(20_000)}"}`, 'failed', 'no usable answer'],
  ['nothing', 0, '', 'slow', 'took too long'],
])('tells what is wrong with %s and repeats nothing of it', async (_, status, body, fault, message) => {
  answer = { status, body };
  const error = await exchange({}, 'secret').catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'ProviderFailed', fault, message: expect.stringContaining(message) });
  expect(String(error)).not.toContain('secret');
  expect((error as Error).cause).toBeUndefined();
});

it('calls no host that may not be called, whatever the record says', async () => {
  const error = exchange({ token_url: 'http://169.254.169.254/token' });
  await expect(error).rejects.toMatchObject({ fault: 'failed', message: expect.stringContaining('may not be called') });
});

it('compares the issuer of an answer with the one that was discovered', async () => {
  const known = { ...provider, issuer: 'https://login.example' };
  const returned = (iss: string) => client.exchange(known, undefined, { code: 'code', iss }, redirect);
  await expect(returned('https://evil.example')).rejects.toMatchObject({ fault: 'failed' });
  await expect(returned('https://login.example')).resolves.toMatchObject({ access_token: 'a' });
  const unknown = client.exchange(provider, undefined, { code: 'code', iss: 'https://any.example' }, redirect);
  await expect(unknown).resolves.toMatchObject({ access_token: 'a' });
});
