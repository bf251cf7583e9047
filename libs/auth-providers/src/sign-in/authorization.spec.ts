import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AuthorizationServer, type ServerClient, startAuthorizationServer } from '../testing/authorization-server';
import { TestService } from '../testing/service';
import { Visitor } from '../testing/visitor';

let service: TestService;
let server: AuthorizationServer;
/** Ids of the providers by their provider_id. */
const ids: Record<string, string> = {};

const METHODS = ['none', 'client_secret_basic', 'client_secret_post'];
/** Characters that need encoding in one place or another. */
const SECRET = 'the secret+of/the%client:&=';

beforeAll(async () => {
  service = await TestService.start();
  const client = (client_id: string, method: string) => ({
    client_id,
    token_endpoint_auth_method: method,
    ...(method !== 'none' && { client_secret: SECRET }),
  });
  const clients = [
    ...METHODS.flatMap((method) => [client(method, method), client(`pkce-${method}`, method)]),
    ...['short', 'gone'].map((id) => client(id, 'client_secret_post')),
  ];
  const registered: ServerClient[] = [];
  for (const one of clients) {
    const { client_id, client_secret, token_endpoint_auth_method } = one;
    const body = {
      ...{
        provider_id: client_id,
        name: `Provider ${client_id}`,
        client_id,
        client_secret,
        token_endpoint_auth_method,
      },
      auth_url: 'https://login.example/auth',
      token_url: 'https://login.example/token',
      uses_pkce: client_id.startsWith('pkce'),
    };
    const { status, text, json } = await service.send('POST', '/v2/auth/providers', { body });
    if (status !== 200) throw new Error(text);
    ids[client_id] = json.id;
    // The former address too, as a client that was registered long ago has it.
    const redirect_uris = [json.id, client_id].map((id) => `${service.url}/v2/auth/callback/${id}`);
    registered.push({ ...one, redirect_uris });
  }
  server = await startAuthorizationServer(registered);
  for (const { client_id, client_secret } of clients) {
    const body = { auth_url: `${server.url}/auth?prompt=consent`, token_url: `${server.url}/token`, client_secret };
    const { status, text } = await service.send('PATCH', `/v2/auth/providers/${client_id}`, { body });
    if (status !== 200) throw new Error(text);
  }
});

afterAll(async () => {
  await server?.stop();
  await service?.stop();
});

let users = 0;
/** A user of the test's own, so that tests do not see each other's tokens. */
const newUser = () => `user-${++users}`;

const authenticate = (provider: string, user_id: string, more: object = {}, on = service) =>
  on.send('POST', '/v2/auth/authenticate', { body: { provider, user_id, scopes: ['openid', 'files:read'], ...more } });
const wait = (id: string, timeout = 10) => service.send('GET', `/v2/auth/wait/${id}?timeout=${timeout}`);

/** Opens the address of a sign-in and goes as far as back to the service, which is not asked yet. */
async function returnOf(url: string, visitor = new Visitor()): Promise<{ url: string; headers: { cookie: string } }> {
  const returned = (await visitor.signIn(url, `${service.url}/v2/auth/callback`)).url;
  return { url: returned, headers: visitor.headers(returned) };
}

/** Where the address of a sign-in sends a browser. */
async function opened(url: string): Promise<URL> {
  const answer = await fetch(url, { redirect: 'manual' });
  expect(answer.status).toBe(302);
  return new URL(answer.headers.get('location')!);
}

async function signedIn(
  provider: string,
  user: string,
  more: object = {},
): Promise<{ token: string; token_id: string }> {
  const { json } = await authenticate(provider, user, more);
  const shown = await new Visitor().signIn(json.url);
  if (shown.status !== 200) throw new Error(`${shown.status}: ${shown.text}`);
  const answer = (await authenticate(provider, user, { ...more, force_new: false })).json;
  return { token: answer.token, token_id: answer.metadata.token_id };
}

describe('a sign-in', () => {
  it.each(METHODS.flatMap((method) => [method, `pkce-${method}`]))('with %s ends with a token', async (provider) => {
    const user = newUser();
    const first = await authenticate(provider, user);
    expect(first).toMatchObject({ status: 200, json: { status: 'pending', token: null, user_id: user } });
    const { url, auth_id } = first.json;
    expect((await opened(url)).searchParams.get('code_challenge_method')).toBe('S256');
    const waiting = wait(auth_id);

    const shown = await new Visitor().signIn(url);
    expect(shown.status).toBe(200);
    expect(shown.text).toContain(`Provider ${provider} is connected.`);

    const waited = (await waiting).json;
    expect(waited).toEqual({ status: 'completed', token: expect.stringMatching(/.{20,}/) });
    const again = await authenticate(provider, user);
    expect(again.json).toMatchObject({
      ...{ status: 'completed', token: waited.token, url: null, auth_id: null, user_id: user },
      metadata: { scopes: ['openid', 'files:read'], expires_at: expect.stringMatching(/Z$/) },
    });
    expect(again.headers.get('cache-control')).toBe('no-store');
    const introspected = await fetch(`${server.url}/me`, { headers: { authorization: `Bearer ${waited.token}` } });
    expect(await introspected.json()).toEqual({ sub: 'ada' });
  });

  it('can be finished by a client that takes the return itself', async () => {
    const { url, auth_id } = (await authenticate('client_secret_post', newUser())).json;
    const returned = new URL((await returnOf(url)).url);
    const body = { code: returned.searchParams.get('code'), state: returned.searchParams.get('state') };
    const callback = '/v2/auth/callback/client_secret_post';
    expect((await service.send('POST', callback, { body, as: 'stranger' })).status).toBe(404);
    expect((await service.send('POST', callback, { body, as: 'reader' })).status).toBe(403);
    expect(await service.send('POST', callback, { body })).toMatchObject({
      status: 200,
      json: { status: 'completed', auth_id },
    });
    expect((await wait(auth_id)).json.status).toBe('completed');
  });

  it('works once, for the provider that it was begun for', async () => {
    const { url } = (await authenticate('none', newUser())).json;
    const { url: returned, headers } = await returnOf(url);
    for (const other of [ids.client_secret_post!, 'client_secret_post', 'none']) {
      expect((await fetch(returned.replace(ids.none!, other), { headers })).status).toBe(400);
    }
    expect((await fetch(returned, { method: 'HEAD', headers })).status).toBe(200);
    expect((await fetch(returned, { headers: { ...headers, accept: 'text/html' } })).status).toBe(200);
    const repeated = await fetch(returned, { headers });
    expect(repeated.status).toBe(400);
    expect((await fetch(url, { redirect: 'manual' })).status).toBe(400);
    expect(await repeated.json()).toEqual({ detail: expect.stringContaining('was finished before') });
  });

  it('ends in the browser in which its address was opened', async () => {
    const { url, auth_id } = (await authenticate('none', newUser())).json;
    const { url: returned, headers } = await returnOf(url);
    const another = new Visitor();
    await returnOf((await authenticate('none', newUser())).json.url, another);
    for (const other of [{}, { cookie: 'a=b' }, another.headers(returned)]) {
      const answer = await fetch(returned, { headers: other });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toEqual({ detail: expect.stringContaining('in another browser') });
    }
    expect((await wait(auth_id, 0)).json.status).toBe('pending');
    expect((await fetch(returned, { headers })).status).toBe(200);
  });

  it('sets a cookie that no script and no other site can use, for ten minutes', async () => {
    const { url } = (await authenticate('none', newUser())).json;
    const answer = await fetch(url, { redirect: 'manual' });
    expect(answer.headers.get('set-cookie')).toMatch(
      /^fairlead_sign_in_[0-9a-f]{16}=[\w-]{43}; Path=\/v2\/auth\/callback; Max-Age=600; HttpOnly; SameSite=Lax$/,
    );
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const page = await fetch(`${service.url}/v2/auth/start?state=unknown`, { headers: { accept: 'text/html' } });
    expect([page.status, await page.text()]).toEqual([400, expect.stringContaining('start it again')]);
  });

  it('takes in one of many returns that come at once', async () => {
    const { url } = (await authenticate('none', newUser())).json;
    const { url: returned, headers } = await returnOf(url);
    const answers = await Promise.all(Array.from({ length: 6 }, () => fetch(returned, { headers })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400, 400]);
  });

  it('is too late after ten minutes', async () => {
    const { url, auth_id } = (await authenticate('none', newUser())).json;
    const { url: returned, headers } = await returnOf(url);
    const { pool } = service.database;
    const { rows } = await pool.query(`select expires_at - now() as left from oauth_authorizations where id = $1`, [
      auth_id,
    ]);
    expect(rows[0].left.minutes).toBe(9);
    await pool.query('update oauth_authorizations set expires_at = now() where id = $1', [auth_id]);
    expect((await fetch(returned, { headers })).status).toBe(400);
    expect((await wait(auth_id)).json).toMatchObject({ status: 'not_found', token: null });
  });

  it('needs the PKCE verifier that was made for it', async () => {
    const provider = 'pkce-client_secret_post';
    const mine = (await authenticate(provider, newUser())).json;
    const other = (await authenticate(provider, newUser())).json;
    const visitor = new Visitor();
    await visitor.open(mine.url, server.url);
    const stolen = new URL((await returnOf(other.url, visitor)).url);
    stolen.searchParams.set('state', new URL(mine.url).searchParams.get('state')!);
    const answer = await fetch(stolen, { headers: visitor.headers(stolen.href) });
    expect(answer.status).toBe(502);
    expect(await answer.json()).toEqual({ detail: `OAuth provider '${provider}' answered invalid_grant.` });
    expect((await wait(mine.auth_id)).json).toMatchObject({ status: 'not_found', detail: expect.any(String) });
  });

  it('tells a person who refuses what happened, without the words of the provider', async () => {
    const { url, auth_id } = (await authenticate('none', newUser())).json;
    const state = new URL(url).searchParams.get('state')!;
    const query = new URLSearchParams({
      state,
      error: 'access_denied',
      error_description: '<script>alert(1)</script>',
      iss: server.url,
    });
    const callback = `${service.url}/v2/auth/callback/${ids.none}?${query.toString()}`;
    const visitor = new Visitor();
    await visitor.open(url, server.url);
    const shown = await visitor.open(callback);
    expect(shown.status).toBe(400);
    expect(shown.text).toContain('answered access_denied');
    expect(shown.text).not.toContain('script');
    expect((await wait(auth_id)).json).toEqual({
      ...{ status: 'not_found', token: null },
      detail: "OAuth provider 'none' answered access_denied.",
    });
  });

  it('begins at a provider of the tenant only', async () => {
    expect(await authenticate('unknown', newUser())).toMatchObject({
      status: 404,
      json: { detail: "OAuth provider 'unknown' not found" },
    });
    const body = { provider: 'none', scopes: [] };
    expect((await service.send('POST', '/v2/auth/authenticate', { body, as: 'stranger' })).status).toBe(404);
    expect((await service.send('POST', '/v2/auth/authenticate', { body, as: 'reader' })).status).toBe(403);
    const { status, json } = await authenticate('none', newUser(), { scopes: ['two words'] });
    expect({ status, loc: json.detail[0].loc }).toEqual({ status: 422, loc: ['body', 'scopes', 0] });
  });
});

describe('a provider that passes for another', () => {
  /** An attacker's server: sends browsers on to the victim's provider, and writes down the codes that it is given. */
  async function attack(as: 'writer' | 'stranger', target: 'id' | 'provider_id', provider_id: string) {
    if (as === 'stranger') await service.send('DELETE', `/v2/auth/providers/${provider_id}`, { as });
    const codes: string[] = [];
    let redirectUri = '';
    const evil = createServer((request, response) => {
      const url = new URL(request.url!, 'http://evil.example');
      if (url.pathname === '/auth') {
        const on = new URL(`${server.url}/auth?response_type=code&scope=openid%20files:read&prompt=consent`);
        on.searchParams.set('client_id', 'none');
        on.searchParams.set('redirect_uri', redirectUri);
        on.searchParams.set('state', url.searchParams.get('state')!);
        response.writeHead(302, { location: on.href }).end();
        return;
      }
      let body = '';
      request.on('data', (bytes: Buffer) => (body += bytes.toString()));
      request.on('end', () => {
        codes.push(new URLSearchParams(body).get('code') ?? '');
        response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}');
      });
    });
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
    try {
      const base = `http://127.0.0.1:${(evil.address() as AddressInfo).port}`;
      const body = {
        provider_id,
        name: 'Evil',
        client_id: 'evil',
        auth_url: `${base}/auth`,
        token_url: `${base}/token`,
      };
      const added = await service.send('POST', '/v2/auth/providers', { as, body });
      expect(added.status).toBe(200);
      redirectUri = `${service.url}/v2/auth/callback/${target === 'id' ? ids.none : 'none'}`;
      const asked = { provider: added.json.id, user_id: newUser(), scopes: [] };
      const { url, auth_id } = (await service.send('POST', '/v2/auth/authenticate', { as, body: asked })).json;
      const visitor = new Visitor();
      const shown = await visitor.signIn(url);
      const waited = await service.send('GET', `/v2/auth/wait/${auth_id}?timeout=0`, { as });
      return { shown, codes, status: waited.json.status, path: new URL(shown.url).pathname };
    } finally {
      evil.close();
      evil.closeAllConnections();
    }
  }

  it.each([
    ['another workspace', 'stranger', 'id', 'none'],
    ['another workspace, at the former address', 'stranger', 'provider_id', 'none'],
    ['the same workspace', 'writer', 'id', 'evil-1'],
    ['the same workspace, at the former address', 'writer', 'provider_id', 'evil-2'],
  ] as const)('gets no code of it: in %s', async (_, as, target, provider_id) => {
    const { shown, codes, status, path } = await attack(as, target, provider_id);
    // The victim did sign in at the honest provider, which sent the code to its own address.
    expect(path).toBe(`/v2/auth/callback/${target === 'id' ? ids.none : 'none'}`);
    expect(new URL(shown.url).searchParams.get('code')).toMatch(/.{10,}/);
    expect(shown.status).toBe(400);
    expect(codes).toEqual([]);
    expect(status).toBe('pending');
  });

  it('is found out by its issuer, once the metadata of the right one are known', async () => {
    await signedIn('client_secret_basic', newUser());
    const learned = await service.store.read(`oauthProvider-${ids.client_secret_basic}`);
    expect(learned.at(-1)).toMatchObject({
      type: 'OAuthProviderChanged',
      data: { issuer: server.url, iss_required: true },
    });
    for (const iss of [undefined, 'https://evil.example', `${server.url}/`]) {
      const { url, auth_id } = (await authenticate('client_secret_basic', newUser())).json;
      const { url: returned, headers } = await returnOf(url);
      const changed = new URL(returned);
      expect(changed.searchParams.get('iss')).toBe(server.url);
      if (iss === undefined) changed.searchParams.delete('iss');
      else changed.searchParams.set('iss', iss);
      const answer = await fetch(changed, { headers });
      expect([answer.status, await answer.json()]).toEqual([
        400,
        { detail: "Another server answered than OAuth provider 'client_secret_basic'." },
      ]);
      expect((await wait(auth_id, 0)).json.status).toBe('not_found');
    }
  });

  it('is not believed to be whom its answers name', async () => {
    // With another address, the issuer is unknown again.
    const body = { auth_url: `${server.url}/auth?prompt=consent&again=1` };
    expect((await service.send('PATCH', '/v2/auth/providers/pkce-none', { body })).status).toBe(200);
    const { url } = (await authenticate('pkce-none', newUser())).json;
    const { url: returned, headers } = await returnOf(url);
    const changed = new URL(returned);
    changed.searchParams.set('iss', `${server.url}/other`);
    expect((await fetch(changed, { headers })).status).toBe(200);
    const events = (await service.store.read(`oauthProvider-${ids['pkce-none']}`)) as unknown as {
      data: { issuer?: string };
    }[];
    expect(events.map(({ data }) => data.issuer)).not.toContain(`${server.url}/other`);
  });
});

describe('waiting', () => {
  it('answers pending at once without a timeout, and timeout after one', async () => {
    const { auth_id } = (await authenticate('none', newUser())).json;
    expect((await wait(auth_id, 0)).json).toEqual({ status: 'pending', token: null });
    expect((await wait(auth_id, 1)).json).toEqual({ status: 'timeout', token: null });
  });

  it("does not know other tenants' sign-ins, nor what is no id", async () => {
    const { auth_id } = (await authenticate('none', newUser())).json;
    const unknown = { status: 200, json: { status: 'not_found', token: null } };
    expect(await service.send('GET', `/v2/auth/wait/${auth_id}`, { as: 'stranger' })).toMatchObject(unknown);
    for (const id of ['nonsense', '019a0000-0000-7000-8000-000000000000'])
      expect(await wait(id)).toMatchObject(unknown);
    expect((await service.send('GET', `/v2/auth/wait/${auth_id}`, { as: 'reader' })).status).toBe(403);
  });
});

describe('a token', () => {
  it('is asked for again when more scopes are wanted, and keeps those that it had', async () => {
    const user = newUser();
    const before = await signedIn('none', user);
    const more = await authenticate('none', user, { scopes: ['files:write'] });
    expect(more.json).toMatchObject({ status: 'pending', metadata: { token_id: before.token_id } });
    expect((await opened(more.json.url)).searchParams.get('scope')).toBe('openid files:read files:write');
    await new Visitor().signIn(more.json.url);
    const after = await authenticate('none', user, { scopes: ['files:write', 'files:read'] });
    expect(after.json).toMatchObject({ status: 'completed', metadata: { token_id: before.token_id } });
    expect(after.json.token).not.toBe(before.token);
  });

  it('is one of several for a second account; the default goes first', async () => {
    const user = newUser();
    const first = await signedIn('none', user);
    const second = await signedIn('none', user, { force_new: true });
    expect(second.token_id).not.toBe(first.token_id);
    const list = async () =>
      (await service.send('GET', `/v2/auth/tokens?provider_id=none&user_id=${user}`, { as: 'reader' })).json as {
        id: string;
        is_default: boolean;
      }[];
    expect((await list()).map(({ id, is_default }) => [id, is_default])).toEqual([
      [second.token_id, true],
      [first.token_id, false],
    ]);
    const metadata = { provider_account_label: 'ada@work', is_default: true };
    const patched = await service.send('PATCH', `/v2/auth/tokens/${first.token_id}/metadata`, { body: metadata });
    expect(patched).toMatchObject({ status: 200, json: { id: first.token_id, ...metadata } });
    expect((await list()).map(({ is_default }) => is_default)).toEqual([true, false]);
    expect((await authenticate('none', user)).json.token).toBe(first.token);
    expect((await authenticate('none', user, { token_id: second.token_id })).json.token).toBe(second.token);
    expect((await authenticate('none', newUser(), { token_id: second.token_id })).status).toBe(404);
  });

  it('is listed without itself, exists, and can be removed', async () => {
    const user = newUser();
    const { token, token_id } = await signedIn('client_secret_basic', user);
    const query = `provider_id=client_secret_basic&user_id=${user}`;
    const { json, text } = await service.send('GET', `/v2/auth/tokens?${query}`, { as: 'reader' });
    expect(json).toEqual([
      {
        ...{ id: token_id, provider_id: 'client_secret_basic', user_id: user, provider_account_label: null },
        ...{ scopes: ['openid', 'files:read'], is_default: true, expires_at: expect.stringMatching(/Z$/) },
        ...{ created_at: expect.stringMatching(/Z$/), updated_at: expect.stringMatching(/Z$/) },
      },
    ]);
    expect(text).not.toContain(token);
    const exists = async () => (await service.send('GET', `/v2/auth/tokens/exists?${query}`, { as: 'reader' })).json;
    expect(await exists()).toEqual({ has_token: true });
    expect((await service.send('GET', '/v2/auth/tokens', { as: 'stranger' })).json).toEqual([]);
    for (const method of ['DELETE', 'PATCH']) {
      const path = `/v2/auth/tokens/${token_id}${method === 'PATCH' ? '/metadata' : ''}`;
      const { status, json } = await service.send(method, path, { as: 'stranger', body: {} });
      expect({ status, json }).toEqual({ status: 404, json: { detail: `OAuth token ID ${token_id} not found.` } });
    }
    expect((await service.send('DELETE', `/v2/auth/tokens/${token_id}`)).status).toBe(204);
    expect((await service.send('DELETE', `/v2/auth/tokens/${token_id}`)).status).toBe(404);
    expect(await exists()).toEqual({ has_token: false });
    expect((await authenticate('client_secret_basic', user)).json.status).toBe('pending');
  });

  it('goes with all others of its provider and user', async () => {
    const [user, other] = [newUser(), newUser()];
    const { token_id } = await signedIn('none', user);
    await signedIn('none', other);
    const removed = await service.send('DELETE', `/v2/auth/tokens?provider_id=none&user_id=${user}`);
    expect(removed).toMatchObject({ status: 200, json: { deleted: [token_id] } });
    expect((await authenticate('none', other)).json.status).toBe('completed');
    expect((await service.send('DELETE', '/v2/auth/tokens')).status).toBe(422);
    expect((await service.send('DELETE', '/v2/auth/tokens?provider_id=unknown')).status).toBe(404);
  });

  it('connects with the agent that it was given for', async () => {
    const user = newUser();
    const { token_id } = await signedIn('none', user);
    const agent = { agent_id: `agent of ${user}` };
    const asked = await authenticate('none', user, agent);
    expect(asked.json).toMatchObject({ status: 'connection_required', token: null, metadata: { token_id } });
    const path = `/v2/auth/agents/${encodeURIComponent(agent.agent_id)}/connections`;
    const body = { oauth_token_id: token_id };
    expect((await service.send('POST', path, { body, as: 'stranger' })).status).toBe(404);
    const connected = await service.send('POST', path, { body });
    const record = { ...agent, oauth_token_id: token_id, provider_id: 'none', created_by: 'writer' };
    expect(connected).toMatchObject({ status: 201, json: record });
    expect((await service.send('POST', path, { body })).json.id).toBe(connected.json.id);
    expect((await service.send('GET', path, { as: 'reader' })).json).toEqual({ data: [connected.json] });
    expect((await service.send('GET', path, { as: 'stranger' })).json).toEqual({ data: [] });
    expect((await authenticate('none', user, agent)).json.status).toBe('completed');
    const connection = `${path}/${connected.json.id}`;
    expect((await service.send('DELETE', connection, { as: 'stranger' })).status).toBe(404);
    expect((await service.send('DELETE', connection)).status).toBe(204);
    expect((await service.send('DELETE', connection)).status).toBe(404);
    expect((await authenticate('none', user, agent)).json.status).toBe('connection_required');
    const fresh = newUser();
    await signedIn('none', fresh, { agent_id: 'another' });
    expect((await authenticate('none', fresh, { agent_id: 'another' })).json.status).toBe('completed');
  });
});

describe('a refresh', () => {
  const events = async (token_id: string) =>
    (await service.store.read(`oauthToken-${token_id}`)) as unknown as { type: string; data: { expires_at: string } }[];
  const realNow = Date.now.bind(Date);
  /** Sets the clock of this process ahead, so that the token has `left` milliseconds. */
  async function until(token_id: string, left: number): Promise<void> {
    const end = Date.parse((await events(token_id)).findLast(({ data }) => data.expires_at)!.data.expires_at);
    const ahead = end - left - realNow();
    jest.spyOn(Date, 'now').mockImplementation(() => realNow() + ahead);
  }
  afterEach(() => jest.restoreAllMocks());

  it('comes before the end, once however many ask on however many replicas', async () => {
    const user = newUser();
    const first = await signedIn('short', user);
    expect((await authenticate('short', user)).json.token).toBe(first.token);
    const replica = await service.replica();
    try {
      await until(first.token_id, 50_000);
      const before = await server.counts();
      const asked = Array.from({ length: 20 }, (_, index) =>
        authenticate('short', user, {}, index % 2 === 0 ? service : replica),
      );
      const answers = (await Promise.all(asked)).map(({ json }) => json);
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill('completed'));
      expect(new Set(answers.map(({ token }) => token)).size).toBe(1);
      expect(answers[0].token).not.toBe(first.token);
      const after = await server.counts();
      expect(after).toEqual({ ...before, refresh_token: before.refresh_token + 1 });
    } finally {
      await replica.stop({ keepDatabase: true });
    }
  });

  it('that fails leaves the token as long as it lasts, then it is a bad gateway', async () => {
    const user = newUser();
    const { token, token_id } = await signedIn('short', user);
    const tokenUrl = (token_url: string) => service.send('PATCH', '/v2/auth/providers/short', { body: { token_url } });
    expect((await tokenUrl(`${server.url}/broken`)).status).toBe(200);
    try {
      await until(token_id, 50_000);
      expect((await authenticate('short', user)).json).toMatchObject({ status: 'completed', token });
      await until(token_id, 0);
      const { status, json } = await authenticate('short', user);
      expect({ status, json }).toEqual({ status: 502, json: { detail: expect.stringContaining("provider 'short'") } });
      expect(JSON.stringify(json)).not.toContain('secret of the provider');
    } finally {
      await tokenUrl(`${server.url}/token`);
    }
    expect((await authenticate('short', user)).json.status).toBe('completed');
  });

  it('that is refused for good asks the person again, for the same token', async () => {
    const user = newUser();
    const { token_id } = await signedIn('short', user);
    await fetch(`${server.url}/withdraw`);
    await until(token_id, 0);
    const { json } = await authenticate('short', user);
    expect(json).toMatchObject({ status: 'token_expired', token: null, metadata: { token_id } });
    expect((await events(token_id)).map(({ type }) => type)).toContain('OAuthTokenRefreshRefused');
    await new Visitor().signIn(json.url);
    expect((await authenticate('short', user)).json).toMatchObject({ status: 'completed', metadata: { token_id } });
  });
});

describe('what is secret', () => {
  it('is in no event, table or log: tokens, codes, states, client secrets', async () => {
    const user = newUser();
    const { url, auth_id } = (await authenticate('pkce-none', user)).json;
    const { url: back, headers } = await returnOf(url);
    const returned = new URL(back);
    await fetch(returned, { headers });
    const { token } = (await wait(auth_id)).json;
    await service.settle();
    const kept = `${await service.stored()}\n${service.log.join('\n')}`;
    for (const text of [token, returned.searchParams.get('code'), returned.searchParams.get('state'), SECRET]) {
      expect(text.length).toBeGreaterThan(20);
      expect(kept).not.toContain(text);
    }
    expect(kept).toContain('OAuthTokenGranted');
  });

  it('is given out only on record', async () => {
    const { token_id } = await signedIn('none', newUser());
    const reads = await service.store.read(`oauthTokenAccess-${token_id}`);
    expect(reads).toMatchObject([{ type: 'OAuthTokenRead', metadata: { actor: 'writer' } }]);
  });

  it('goes for good with its token and with its provider', async () => {
    const { pool } = service.database;
    const keys = async (...subjects: string[]) =>
      (await pool.query('select from data_keys where subject = any($1)', [subjects])).rowCount;
    const one = await signedIn('none', newUser());
    expect(await keys(one.token_id)).toBe(1);
    await service.send('DELETE', `/v2/auth/tokens/${one.token_id}`);
    await service.settle();
    expect(await keys(one.token_id)).toBe(0);

    const user = newUser();
    const two = await signedIn('gone', user);
    const provider = (await service.send('GET', '/v2/auth/providers/gone')).json;
    const { auth_id } = (await authenticate('gone', newUser())).json;
    expect(await keys(two.token_id, provider.id)).toBe(2);
    await service.send('DELETE', `/v2/auth/providers/${provider.id}`);
    await service.settle();
    expect(await keys(two.token_id, provider.id)).toBe(0);
    expect((await service.send('GET', `/v2/auth/tokens?user_id=${user}`)).json).toEqual([]);
    expect((await service.send('DELETE', `/v2/auth/tokens/${two.token_id}`)).status).toBe(404);
    expect((await wait(auth_id, 0)).json.status).toBe('pending');
  });
});
