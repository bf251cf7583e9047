import { streamName } from '@fairlead/eventing';
import { TestService } from '../testing/service';

let service: TestService;
const SECRET = 'the-client-secret-nobody-may-see';
const wanted = {
  provider_id: 'github',
  name: 'GitHub',
  client_id: 'client',
  client_secret: SECRET,
  auth_url: 'https://github.example/login/oauth/authorize',
  token_url: 'https://github.example/login/oauth/access_token',
};
const PROVIDERS = '/v2/auth/providers';

beforeAll(async () => {
  service = await TestService.start();
});

afterEach(async () => {
  const { json } = await service.send('GET', PROVIDERS);
  for (const { id } of json) await service.send('DELETE', `${PROVIDERS}/${id}`);
});

afterAll(() => service.stop());

const add = (change: object = {}, sent: object = {}) =>
  service.send('POST', PROVIDERS, { body: { ...wanted, ...change }, ...sent });

it('adds a provider with the defaults and answers its record', async () => {
  const { status, json, headers } = await add();
  expect(status).toBe(200);
  expect(headers.get('etag')).toBe('"1"');
  expect(json).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    organization_id: expect.any(String),
    provider_id: 'github',
    name: 'GitHub',
    client_id: 'client',
    auth_url: wanted.auth_url,
    token_url: wanted.token_url,
    uses_pkce: false,
    code_challenge_method: null,
    provider_type: null,
    mcp_server_url: null,
    token_endpoint_auth_method: 'client_secret_post',
    is_dynamic_client: false,
    created_at: expect.stringMatching(/Z$/),
    updated_at: expect.stringMatching(/Z$/),
  });
});

it('needs no client_secret', async () => {
  const { status, json } = await add({ client_secret: undefined, token_endpoint_auth_method: 'none' });
  expect([status, json.token_endpoint_auth_method]).toEqual([200, 'none']);
});

it('chooses S256 when PKCE is used and no method is named', async () => {
  expect((await add({ uses_pkce: true })).json.code_challenge_method).toBe('S256');
  expect((await add({ provider_id: 'b', uses_pkce: true, code_challenge_method: 'plain' })).json).toMatchObject({
    code_challenge_method: 'plain',
  });
});

it('needs provider_id, name, client_id, auth_url and token_url, and never echoes the secret', async () => {
  const { status, json, text } = await service.send('POST', PROVIDERS, { body: { client_secret: SECRET } });
  expect(status).toBe(422);
  expect(json.detail.map(({ type, loc }: { type: string; loc: string[] }) => [type, ...loc])).toEqual(
    ['provider_id', 'name', 'client_id', 'auth_url', 'token_url'].map((member) => ['missing', 'body', member]),
  );
  expect(text).not.toContain(SECRET);
  expect((await add({ client_secret: [SECRET] })).text).not.toContain(SECRET);
});

it.each([
  ['provider_id', 'a b'],
  ['provider_id', '..'],
  ['code_challenge_method', 'S512'],
  ['token_endpoint_auth_method', 'private_key_jwt'],
  ['provider_type', 'github'],
])('refuses the %s %j', async (member, value) => {
  const { status, json } = await add({ [member]: value });
  expect({ status, loc: json.detail[0].loc }).toEqual({ status: 422, loc: ['body', member] });
});

it.each([
  'http://github.example/authorize',
  'https://127.0.0.2/authorize',
  'https://169.254.169.254/latest',
  'https://inside.example/authorize',
  'https://user:password@github.example/authorize',
  'https://localhost/authorize',
])('refuses %s as a URL, in POST and in PATCH', async (url) => {
  await add();
  for (const member of ['auth_url', 'token_url']) {
    const posted = await add({ provider_id: 'other', [member]: url });
    expect(posted.status).toBe(400);
    expect(posted.json.detail).toContain(member);
    expect((await service.send('PATCH', `${PROVIDERS}/github`, { body: { [member]: url } })).status).toBe(400);
  }
  expect((await service.send('GET', PROVIDERS)).json).toHaveLength(1);
});

it.each(['ftp://github.example', 'javascript:alert(1)', 'nonsense'])('does not take %s for a URL', async (url) => {
  await add();
  for (const member of ['auth_url', 'token_url']) {
    const posted = await add({ provider_id: 'other', [member]: url });
    expect([posted.status, posted.json.detail]).toMatchObject([422, [{ loc: ['body', member], input: url }]]);
    expect((await service.send('PATCH', `${PROVIDERS}/github`, { body: { [member]: url } })).status).toBe(422);
  }
  const mcp = { provider_id: 'other', name: 'other', mcp_server_url: url };
  expect((await service.send('POST', `${PROVIDERS}/mcp-discover`, { body: mcp })).status).toBe(422);
});

it('answers a second provider of the same provider_id with 409, but another tenant may use the name', async () => {
  await add();
  const { status, json, headers } = await add({ name: 'again' });
  expect({ status, json }).toEqual({ status: 409, json: { detail: "OAuth provider 'github' already exists." } });
  expect(headers.get('x-should-retry')).toBe('false');
  expect((await add({}, { as: 'stranger' })).status).toBe(200);
  await service.send('DELETE', `${PROVIDERS}/github`, { as: 'stranger' });
});

it('makes one provider of many that are added at once', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => add({ provider_id: 'race' })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 409)]);
});

it('is found by provider_id and by id, by its own tenant only', async () => {
  const { json } = await add();
  for (const ref of ['github', json.id, json.id.toUpperCase()]) {
    expect((await service.send('GET', `${PROVIDERS}/${ref}`, { as: 'reader' })).json).toEqual(json);
    const other = await service.send('GET', `${PROVIDERS}/${ref}`, { as: 'stranger' });
    expect(other).toMatchObject({ status: 404, json: { detail: `OAuth provider '${ref}' not found` } });
  }
  expect((await service.send('GET', PROVIDERS, { as: 'stranger' })).json).toEqual([]);
});

it('lists providers as a bare array, the oldest first', async () => {
  await add();
  await add({ provider_id: 'gitlab' });
  const { status, json } = await service.send('GET', PROVIDERS, { as: 'reader' });
  expect(status).toBe(200);
  expect(json.map(({ provider_id }: { provider_id: string }) => provider_id)).toEqual(['github', 'gitlab']);
});

it('changes what a PATCH names; null and equal values change nothing', async () => {
  const added = (await add()).json;
  const patch = (body: object, headers?: Record<string, string>) =>
    service.send('PATCH', `${PROVIDERS}/github`, { body, headers });
  const changed = await patch({ name: 'GitHub.com', uses_pkce: true });
  expect(changed).toMatchObject({ status: 200, json: { name: 'GitHub.com', code_challenge_method: 'S256' } });
  expect(changed.headers.get('etag')).toBe('"2"');
  const same = await patch({ name: 'GitHub.com', client_id: null, client_secret: SECRET, provider_id: 'github' });
  expect(same.json).toEqual(changed.json);
  expect(same.headers.get('etag')).toBe('"2"');
  for (const [member, value] of Object.entries({
    provider_id: 'other',
    is_dynamic_client: true,
    mcp_server_url: 'x',
  })) {
    expect(await patch({ [member]: value })).toMatchObject({
      status: 400,
      json: { detail: `${member} cannot be changed after creation.` },
    });
  }
  expect((await patch({ name: 'x' }, { 'if-match': '"1"' })).status).toBe(412);
  expect((await patch({ name: 'x' }, { 'if-match': '"2"' })).json).toMatchObject({ id: added.id, name: 'x' });
  expect((await patch({ token_url: 'https://evil.example/token' })).status).toBe(400);
  const missing = await service.send('PATCH', `${PROVIDERS}/gone`, { body: { name: 'x' } });
  expect(missing).toMatchObject({ status: 404, json: { detail: "OAuth provider 'gone' not found" } });
});

it('frees the provider_id when it is removed', async () => {
  const { id } = (await add()).json;
  expect((await service.send('DELETE', `${PROVIDERS}/github`, { as: 'stranger' })).status).toBe(404);
  expect((await service.send('DELETE', `${PROVIDERS}/github`)).status).toBe(200);
  for (const ref of ['github', id]) expect((await service.send('GET', `${PROVIDERS}/${ref}`)).status).toBe(404);
  expect((await service.send('DELETE', `${PROVIDERS}/github`)).status).toBe(404);
  expect((await add()).json.id).not.toBe(id);
});

it('leaves the provider_id free when a removal stopped before the name was released', async () => {
  const { id } = (await add()).json;
  const removed = { type: 'OAuthProviderRemoved', data: {} };
  await service.store.append(streamName('oauthProvider', id), 1, [removed], {});
  expect((await add()).json.id).not.toBe(id);
  expect((await add()).status).toBe(409);
});

it('answers a repeated POST with the first answer', async () => {
  const headers = { 'idempotency-key': 'add-github' };
  const first = await add({}, { headers });
  const second = await add({}, { headers });
  expect(second.json).toEqual(first.json);
  expect(second.headers.get('idempotent-replayed')).toBe('true');
});

it('lets readers read only', async () => {
  await add();
  expect((await add({ provider_id: 'b' }, { as: 'reader' })).status).toBe(403);
  for (const method of ['PATCH', 'DELETE']) {
    expect((await service.send(method, `${PROVIDERS}/github`, { as: 'reader', body: {} })).status).toBe(403);
  }
  expect((await service.send('GET', PROVIDERS, { as: 'nobody' })).status).toBe(401);
});

it('keeps the secret out of answers, events, tables and logs', async () => {
  const answers = [await add(), await service.send('GET', `${PROVIDERS}/github`), await service.send('GET', PROVIDERS)];
  await service.send('PATCH', `${PROVIDERS}/github`, { body: { client_secret: `${SECRET}-2` } });
  await service.settle();
  for (const text of [...answers.map(({ text }) => text), await service.stored(), service.log.join('\n')]) {
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(Buffer.from(SECRET).toString('base64').slice(0, 30));
  }
});
