import { generateKeyPairSync } from 'node:crypto';
import { Followers } from '@fairlead/eventing';
import { Pool } from 'pg';
import { CodeHostServer } from '../testing/code-host.server';
import { TestService } from '../testing/service';

const URL = '/v1/integrations';
const SECRET = 'glpat-never-shown-again';
const gitlab = { name: 'our GitLab', provider: 'gitlab', credentials: { token: SECRET } };
const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
const app = { app_id: 7, installation_id: 42, private_key: pem.toString() };

let service: TestService;

beforeAll(async () => {
  service = await TestService.start({ fresh: 60_000 });
});

afterAll(async () => {
  await service?.stop();
});

it('adds, shows, lists, changes and removes an integration', async () => {
  const added = await service.send('POST', URL, { body: { ...gitlab, webhook_secret: 'sixteen letters.' } });
  expect([added.status, added.headers.etag]).toEqual([201, '"1"']);
  const id = added.json.id as string;
  expect(added.json).toEqual({
    id,
    name: 'our GitLab',
    provider: 'gitlab',
    base_url: 'https://gitlab.com',
    auth: 'token',
    app_id: null,
    installation_id: null,
    reports: [],
    webhook_configured: true,
    created_at: expect.any(String),
    updated_at: added.json.created_at,
  });
  expect((await service.send('GET', `${URL}/${id}`, { as: 'reader' })).json).toEqual(added.json);
  expect((await service.send('GET', URL)).json.resources[0]).toEqual(added.json);
  const headers = { 'if-match': '"1"' };
  const changed = await service.send('PATCH', `${URL}/${id}`, { body: { name: 'renamed' }, headers });
  expect([changed.status, changed.json.name, changed.headers.etag]).toEqual([200, 'renamed', '"2"']);
  expect((await service.send('PATCH', `${URL}/${id}`, { body: { name: 'x' }, headers })).status).toBe(412);
  expect((await service.send('DELETE', `${URL}/${id}`)).status).toBe(204);
  const gone = await service.send('GET', `${URL}/${id}`);
  expect([gone.status, gone.json]).toEqual([404, { detail: `Integration ID ${id} not found.` }]);
  expect((await service.send('DELETE', `${URL}/${id}`)).status).toBe(404);
  expect((await service.send('GET', URL)).json.resources).not.toContainEqual(expect.objectContaining({ id }));
});

it('pages its list', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.unshift(await service.add({ ...gitlab, name: `paged ${n}` }));
  const first = await service.send('GET', `${URL}?limit=2`);
  expect(first.json.resources.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
  expect([first.json.offset, first.headers.link]).toEqual([2, `<${URL}?limit=2&offset=2>; rel="next"`]);
});

it('shows an App in the listing that clients choose from', async () => {
  const id = await service.add({ name: 'app', provider: 'github', credentials: app });
  const { json } = await service.send('GET', `${URL}/codehost/install`, { as: 'reader' });
  expect(json).toContainEqual({ id, installation_id: 42, name: 'app' });
});

it('lists nothing of another tenant', async () => {
  const id = await service.add({ ...gitlab, name: 'ours' });
  const own = await service.send('GET', `${URL}?limit=1`);
  expect(own.json.resources).toMatchObject([{ id }]);
  expect((await service.send('GET', URL, { as: 'stranger' })).json.resources).toEqual([]);
  expect((await service.send('GET', `${URL}/codehost/install`, { as: 'stranger' })).json).toEqual([]);
});

it('gives the whole listing to choose from, however long it is', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 21; n++) ids.push(await service.add({ ...gitlab, name: `many ${n}` }));
  const { json } = await service.send('GET', `${URL}/codehost/install`);
  expect(json.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(ids));
});

it.each([
  { credentials: { token: ['canary'] } },
  { credentials: { app_id: 'x', private_key: ['canary'] } },
  { credentials: 'canary' },
  { name: 1, credentials: { tokken: 'canary', token: 'canary' }, webhook_secret: 'canary' },
])('never echoes a secret in an error: %j', async (wrong) => {
  const { status, text } = await service.send('POST', URL, { body: { ...gitlab, ...wrong } });
  expect([status, text]).toEqual([422, expect.not.stringContaining('canary')]);
});

it('never lets a credential out, not in answers, logs, events or tables', async () => {
  const id = await service.add({ ...gitlab, webhook_secret: `${SECRET}-hook` });
  await service.send('PATCH', `${URL}/${id}`, { body: { credentials: { token: `${SECRET}-2` } } });
  const refused = await service.send('POST', URL, {
    body: { provider: 'gitlab', credentials: { token: `${SECRET} with a space` }, webhook_secret: 'short' },
  });
  expect([refused.status, refused.text]).toEqual([422, expect.not.stringContaining(SECRET)]);
  expect(refused.text).toContain('[redacted]');
  const { rows } = await service.app
    .get(Pool)
    .query<{ text: string }>(
      `select (select string_agg(e::text, '') from events e) || (select string_agg(i::text, '') from integrations i) as text`,
    );
  expect(rows[0]?.text).toContain(id);
  for (const text of [rows[0]?.text, service.log.join('\n')]) expect(text).not.toContain(SECRET);
});

it('forgets the credentials of a removed integration', async () => {
  const id = await service.add(gitlab);
  await service.send('DELETE', `${URL}/${id}`);
  await service.app.get(Followers).passed(await service.store.head(), undefined, 60_000);
  const { rows } = await service.app.get(Pool).query('select 1 from data_keys where subject = $1', [id]);
  expect(rows).toEqual([]);
});

it.each([
  [{ credentials: {} }, /^credentials must hold either/],
  [{ credentials: { token: 'a', app_id: 1 } }, /^credentials must hold either/],
  [{ credentials: { app_id: 1, installation_id: 2 } }, /^credentials must hold either/],
  [{ credentials: app }, /^credentials.app_id is not allowed/],
  [{ provider: 'github', credentials: { ...app, private_key: 'no key' } }, /^credentials.private_key must be/],
  [{ provider: 'forgejo' }, /^base_url is required/],
  [{ base_url: 'http://gitlab.example' }, /^base_url must be an https URL/],
  [{ base_url: 'https://user:word@gitlab.example' }, /^base_url must not hold credentials/],
  [{ base_url: 'https://[::ffff:10.0.0.1]/' }, /^base_url names a host that may not be called/],
  [{ base_url: 'https://metadata.google.internal/' }, /^base_url names a host/],
])('refuses %j', async (difference, detail) => {
  const answer = await service.send('POST', URL, { body: { ...gitlab, ...difference } });
  expect([answer.status, answer.json.detail]).toEqual([400, expect.stringMatching(detail)]);
});

it.each(['ssh://git@gitlab.example', 'gitlab.example'])('does not take %s for a base_url', async (base_url) => {
  const answer = await service.send('POST', URL, { body: { ...gitlab, base_url } });
  expect([answer.status, answer.json.detail]).toMatchObject([422, [{ loc: ['body', 'base_url'], input: base_url }]]);
});

it('refuses to point stored credentials at another host, or at one that may not be called', async () => {
  const id = await service.add(gitlab);
  const moved = await service.send('PATCH', `${URL}/${id}`, { body: { base_url: 'https://collector.example' } });
  expect([moved.status, moved.json.detail]).toEqual([400, expect.stringMatching(/^credentials must be sent/)]);
  const inward = { base_url: 'https://10.0.0.1', credentials: { token: 'a' } };
  expect((await service.send('PATCH', `${URL}/${id}`, { body: inward })).status).toBe(400);
});

it('adds once for one Idempotency-Key', async () => {
  const headers = { 'idempotency-key': 'the-same' };
  const first = await service.send('POST', URL, { body: gitlab, headers });
  const second = await service.send('POST', URL, { body: gitlab, headers });
  expect(second.json).toEqual(first.json);
  expect(second.headers['idempotent-replayed']).toBe('true');
});

it('needs the right scope', async () => {
  expect((await service.send('POST', URL, { as: 'reader', body: gitlab })).status).toBe(403);
  expect((await service.send('GET', URL, { as: 'nobody' })).status).toBe(401);
});

it('answers a list from memory for a short while', async () => {
  const host = await CodeHostServer.start('gitea');
  const credentials = { token: 'gitea-good' };
  const id = await service.add({ provider: 'gitea', base_url: host.origin, credentials });
  const first = await service.send('GET', `${URL}/codehost/${id}/repos`);
  const second = await service.send('GET', `${URL}/codehost/${id}/repos`);
  await host.stop();
  expect(second.json).toEqual(first.json);
  expect([host.asked.length, second.headers.age]).toEqual([1, expect.stringMatching(/^\d+$/)]);
});
