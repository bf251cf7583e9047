import { Followers } from '@fairlead/eventing';
import { Pool } from 'pg';
import { TestService } from './testing/service';

const MASKED = /^https:\/\/hooks\.example\/\*{8}[0-9a-f]{8}$/;
const wanted = { url: 'https://hooks.example/in', event_types: ['deployment.*', 'revision.activated'] };

let service: TestService;

beforeAll(async () => {
  service = await TestService.start({ mostPerTenant: 12 });
});

afterAll(async () => {
  await service?.stop();
});

it('adds, shows, lists, changes and removes a webhook', async () => {
  const added = await service.send('POST', '', { body: { ...wanted, description: 'ours' } });
  expect([added.status, added.headers.etag]).toEqual([201, '"1"']);
  const { secret, ...record } = added.json;
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(record).toEqual({
    id: expect.any(String),
    ...{ ...wanted, url: expect.stringMatching(MASKED) },
    description: 'ours',
    format: 'standard',
    enabled: true,
    disabled_reason: null,
    disabled_at: null,
    failing_since: null,
    paused_until: null,
    previous_secret_until: null,
    created_at: expect.any(String),
    updated_at: record.created_at,
  });
  const path = `/${record.id}`;
  expect((await service.send('GET', path, { as: 'reader' })).json).toEqual(record);
  expect((await service.send('GET', '')).json.resources).toContainEqual(record);
  const headers = { 'if-match': '"1"' };
  const changed = await service.send('PATCH', path, { body: { event_types: ['*'], enabled: false }, headers });
  expect([changed.status, changed.headers.etag]).toEqual([200, '"2"']);
  expect(changed.json).toMatchObject({ event_types: ['*'], enabled: false, disabled_reason: 'requested' });
  expect((await service.send('PATCH', path, { body: { description: 'x' }, headers })).status).toBe(412);
  expect((await service.send('DELETE', path)).status).toBe(204);
  const gone = await service.send('GET', path);
  expect([gone.status, gone.json]).toEqual([404, { detail: `Webhook ID ${record.id} not found.` }]);
  expect((await service.send('GET', '')).text).not.toContain(record.id);
});

it('shows a masked address, which changes nothing when it is sent back', async () => {
  const { id } = await service.add(wanted.url);
  const path = `/${id}`;
  const { url } = (await service.send('GET', path)).json;
  expect(url).toMatch(MASKED);
  const kept = await service.send('PATCH', path, { body: { url, description: 'sent back' } });
  expect(kept.json).toMatchObject({ url, description: 'sent back' });
  const whole = await service.send('GET', `${path}?include_secrets=true`, { as: 'auditor' });
  expect([whole.json.url, whole.headers['cache-control']]).toEqual([wanted.url, 'no-store']);
  const read = { type: 'SecretsRead', data: { version: 2, names: ['url'] } };
  expect(await service.store.read(`secretAccess-${id}`)).toEqual([expect.objectContaining(read)]);
  expect((await service.send('GET', `${path}?include_secrets=true`, { as: 'stranger' })).status).toBe(404);
  const forbidden = await service.send('GET', `${path}?include_secrets=true`);
  expect([forbidden.status, forbidden.json]).toEqual([403, { detail: 'Forbidden' }]);
  const moved = await service.send('PATCH', path, { body: { url: `${wanted.url}/else` } });
  expect(moved.json.url).toMatch(MASKED);
  expect(moved.json.url).not.toBe(url);
  const stale = await service.send('PATCH', path, { body: { url } });
  expect([stale.status, stale.json.detail[0].loc]).toEqual([422, ['body', 'url']]);
  expect((await service.send('POST', '', { body: { ...wanted, url } })).status).toBe(422);
});

it('shows an address without path and query as it is', async () => {
  for (const url of ['https://hooks.example', 'https://hooks.example/']) {
    const { id } = await service.add(url);
    expect((await service.send('GET', `/${id}`)).json.url).toBe(url);
  }
});

it('pages its list', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.unshift((await service.add(wanted.url, { enabled: false })).id);
  const first = await service.send('GET', '?limit=2');
  expect(first.json.resources.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
  expect(first.headers.link).toBe('</v1/webhooks?limit=2&offset=2>; rel="next"');
});

it('shows nothing to another tenant', async () => {
  const { id } = await service.add(wanted.url);
  const rest = ['', '/deliveries', `/deliveries/${id}`, '/test', `/deliveries/${id}/redeliver`, '/rotate-secret'];
  for (const path of rest) {
    const method = /test|redeliver|rotate/.test(path) ? 'POST' : 'GET';
    const { status, json } = await service.send(method, `/${id}${path}`, { as: 'stranger' });
    expect([status, json]).toEqual([404, { detail: `Webhook ID ${id} not found.` }]);
  }
  expect((await service.send('DELETE', `/${id}`, { as: 'stranger' })).status).toBe(404);
  expect((await service.send('GET', '', { as: 'stranger' })).json.resources).toEqual([]);
});

it('adds and rotates once for one Idempotency-Key, and tells the same secret again', async () => {
  const headers = { 'idempotency-key': 'the-same' };
  const first = await service.send('POST', '', { body: wanted, headers });
  const second = await service.send('POST', '', { body: wanted, headers });
  expect(second.json).toEqual(first.json);
  expect(second.headers['idempotent-replayed']).toBe('true');
  const path = `/${first.json.id}/rotate-secret`;
  const again = { 'idempotency-key': 'another' };
  const rotated = await service.send('POST', path, { headers: again });
  expect(rotated.json.secret).not.toBe(first.json.secret);
  expect(Date.parse(rotated.json.previous_secret_until) - Date.parse(rotated.json.updated_at)).toBe(24 * 3_600_000);
  expect((await service.send('POST', path, { headers: again })).json).toEqual(rotated.json);
});

it('never lets a secret out, not in other answers, logs, events or tables', async () => {
  const { id, secret } = await service.add(wanted.url);
  const { json: rotated } = await service.send('POST', `/${id}/rotate-secret`, {
    headers: { 'idempotency-key': 'kept' },
  });
  const answers = await Promise.all([`/${id}`, ''].map((path) => service.send('GET', path)));
  const tables = ['events', 'webhooks', 'webhook_deliveries', 'idempotency_keys', 'data_keys'];
  const columns = tables.map((table) => `coalesce((select string_agg(t::text, '') from ${table} t), '')`);
  const { rows } = await service.database.pool.query<{ text: string }>(`select ${columns.join(' || ')} as text`);
  expect(rows[0]!.text).toContain(id);
  for (const text of [rows[0]!.text, service.log.join('\n'), ...answers.map((answer) => answer.text)]) {
    for (const one of [secret, rotated.secret]) expect(text).not.toContain(one.slice('whsec_'.length));
  }
});

it('forgets the secrets of a removed webhook', async () => {
  const { id } = await service.add(wanted.url);
  await service.send('DELETE', `/${id}`);
  await service.app.get(Followers).passed(await service.store.head(), undefined, 60_000);
  const { rows } = await service.app.get(Pool).query('select 1 from data_keys where subject = $1', [id]);
  expect(rows).toEqual([]);
});

it.each([
  [{ url: 'http://hooks.example/in' }, /^url must be an https URL/],
  [{ url: 'https://user:word@hooks.example' }, /^url must not hold credentials/],
  [{ url: 'https://10.0.0.1/' }, /^url names a host that may not be called/],
  [{ url: 'https://metadata.google.internal/' }, /^url names a host/],
])('refuses %j', async (difference, detail) => {
  const answer = await service.send('POST', '', { body: { ...wanted, ...difference } });
  expect([answer.status, answer.json.detail]).toEqual([400, expect.stringMatching(detail)]);
});

it.each([
  [{ url: 'ftp://hooks.example' }, ['body', 'url']],
  [{ event_types: [] }, ['body', 'event_types']],
  [{ event_types: ['deployment.*', 'deployment.exploded'] }, ['body', 'event_types', 1]],
  [{ event_types: ['webhook.test'] }, ['body', 'event_types', 0]],
  [{ description: 'x'.repeat(501) }, ['body', 'description']],
])('does not take %j', async (difference, loc) => {
  const answer = await service.send('POST', '', { body: { ...wanted, ...difference } });
  expect([answer.status, answer.json.detail[0].loc]).toEqual([422, loc]);
});

it('takes no query parameter that it does not know', async () => {
  const { id } = await service.add(wanted.url);
  const { status, json } = await service.send('GET', '?limit=x&limt=5&ofset=');
  expect([status, json.detail.map(({ type, loc }: { type: string; loc: string[] }) => [type, ...loc])]).toEqual([
    422,
    [
      ['int_parsing', 'query', 'limit'],
      ['extra_forbidden', 'query', 'limt'],
      ['extra_forbidden', 'query', 'ofset'],
    ],
  ]);
  expect((await service.send('GET', `/${id}?include=all`)).json.detail).toEqual([
    { type: 'extra_forbidden', loc: ['query', 'include'], msg: 'Extra inputs are not permitted', input: 'all' },
  ]);
});

it('refuses to point an existing webhook at a host that may not be called', async () => {
  const { id } = await service.add(wanted.url);
  const inward = await service.send('PATCH', `/${id}`, { body: { url: 'https://192.168.0.1/' } });
  expect([inward.status, inward.json.detail]).toEqual([400, 'url names a host that may not be called.']);
});

it('needs the right scope', async () => {
  expect((await service.send('POST', '', { as: 'reader', body: wanted })).status).toBe(403);
  expect((await service.send('GET', '', { as: 'nobody' })).status).toBe(401);
});

it('limits how many a workspace has, however many are added at once, and gives a removed one’s place back', async () => {
  const as = 'stranger';
  const adding = Array.from({ length: 40 }, () => service.send('POST', '', { as, body: wanted }));
  const answers = await Promise.all(adding);
  const added = answers.filter(({ status }) => status === 201);
  expect([added.length, answers.length]).toEqual([12, 40]);
  expect(answers.find(({ status }) => status !== 201)).toMatchObject({
    status: 409,
    json: { detail: 'This workspace has 12 webhooks, as many as it may have (setting QUOTA_WEBHOOKS).' },
  });
  expect((await service.send('GET', '?limit=100', { as })).json.resources).toHaveLength(12);
  await service.send('DELETE', `/${added[0]!.json.id}`, { as });
  const again = await Promise.all([1, 2, 3].map(() => service.send('POST', '', { as, body: wanted })));
  expect(again.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  expect((await service.send('POST', '', { body: wanted })).status).toBe(201);
});
