import { v4 as newId } from 'uuid';
import { HOSTILE, type Reading, rows, startReading } from '../testing/reading';

let reading: Reading;
let a: string;
beforeAll(async () => {
  reading = await startReading();
  a = reading.tenants.a;
});
afterAll(() => reading.stop());

const insert = (row = {}, tenant = a) => reading.insert('sessions', rows.session(tenant, row));
const names = async (search: string, tenant?: 'a' | 'b') => {
  const answer = await reading.get(`/sessions?${search}`, tenant);
  expect(answer).toMatchObject({ status: 200 });
  return (answer.json as { name: string }[]).map(({ name }) => name);
};

const PLAIN = [
  ...['start_time', 'end_time', 'extra', 'name', 'description', 'default_dataset_id', 'reference_dataset_id'],
  ...['trace_tier', 'id'],
];
const MEMBERS = [
  ...PLAIN,
  ...['run_count', 'latency_p50', 'latency_p99', 'first_token_p50', 'first_token_p99', 'total_tokens', 'prompt_tokens'],
  ...['completion_tokens', 'total_cost', 'prompt_cost', 'completion_cost', 'tenant_id', 'last_run_start_time'],
  ...['last_run_start_time_live', 'feedback_stats', 'session_feedback_stats', 'run_facets', 'error_rate'],
  ...['streaming_rate', 'test_run_number'],
];

describe('a session', () => {
  const statistics = {
    run_count: 2,
    latency_p50: 0.5,
    latency_p99: 1.25,
    error_rate: 0.5,
    last_run_start_time: '2026-01-01T00:00:01.5Z',
    feedback_stats: '{"k":{"n":1}}',
    session_feedback_stats: '{}',
  };

  it('has every member of the schema, its extra byte for byte', async () => {
    const id = await insert({ extra: HOSTILE, ...statistics, test_run_number: 3 });
    const answer = await reading.get(`/api/v1/sessions/${id}?include_stats=true`);
    expect(Object.keys(answer.json)).toEqual(MEMBERS);
    expect(answer.text).toContain(`"extra":${HOSTILE},"`);
    expect(answer.json).toMatchObject({
      ...statistics,
      id,
      tenant_id: a,
      start_time: '2026-01-01T00:00:00.000000+00:00',
      last_run_start_time: '2026-01-01T00:00:01.500000+00:00',
      feedback_stats: { k: { n: 1 } },
      session_feedback_stats: {},
      total_cost: null,
      test_run_number: 3,
    });
  });

  it('has no statistics until its runs are persisted, in lists neither', async () => {
    const id = await insert({ ...statistics, persisted: false });
    const nothing = {
      run_count: null,
      latency_p50: null,
      feedback_stats: null,
      session_feedback_stats: null,
      error_rate: null,
    };
    expect((await reading.get(`/sessions/${id}`)).json).toMatchObject(nothing);
    await reading.pool.query('update sessions set persisted = true where id = $1', [id]);
    const one = await reading.get(`/sessions/${id}`);
    const list = await reading.get(`/sessions?id=${id}`);
    expect(list.json).toEqual([one.json]);
    expect(one.json.run_count).toBe(2);
  });

  it('is not found for another tenant', async () => {
    const id = await insert();
    const answer = await reading.get(`/sessions/${id}`, 'b');
    expect(answer).toMatchObject({ status: 404, json: { detail: `Session ID ${id} not found.` } });
    expect((await reading.get(`/sessions?id=${id}`, 'b')).json).toEqual([]);
    expect((await reading.get('/sessions/abc')).status).toBe(422);
  });
});

describe('sessions that a client has already', () => {
  it('are answered 304, one and in lists, until they change', async () => {
    const id = await insert({ name: `known ${newId()}` });
    for (const path of [`/sessions/${id}`, `/sessions?id=${id}`]) {
      const first = await reading.get(path);
      const tag = String(first.headers.etag);
      expect(tag).toMatch(/^W\/"/);
      for (const known of [tag, `"other", ${tag}`, '*']) {
        const again = await reading.get(path, 'a', { 'if-none-match': known });
        expect([again.status, again.text, again.headers.etag]).toEqual([304, '', tag]);
      }
      await reading.pool.query("update sessions set description = coalesce(description, '') || 'x' where id = $1", [
        id,
      ]);
      const changed = await reading.get(path, 'a', { 'if-none-match': tag });
      expect([changed.status, changed.headers.etag === tag]).toEqual([200, false]);
    }
    expect((await reading.get(`/sessions/${id}`, 'b', { 'if-none-match': '*' })).status).toBe(404);
  });
});

describe('a list of sessions', () => {
  it('tells its number when asked to', async () => {
    const dataset = await reading.insert('datasets', rows.dataset(a));
    for (let i = 0; i < 3; i++) await insert({ reference_dataset_id: dataset, name: `counted ${i} ${newId()}` });
    const total = async (search: string, tenant?: 'a' | 'b') =>
      (await reading.get(`/sessions?reference_dataset=${dataset}&${search}`, tenant)).headers['x-pagination-total'];
    expect(await total('')).toBeUndefined();
    expect(await total('count=true&limit=1')).toBe('3');
    expect(await total('count=true&offset=9&name_contains=counted%201')).toBe('1');
    expect(await total('count=true', 'b')).toBe('0');
  });

  it('is filtered, ordered and paged by every member', async () => {
    const dataset = await reading.insert('datasets', rows.dataset(reading.tenants.b));
    const b = (name: string, row: object) => insert({ name, ...row }, reading.tenants.b);
    const one = await b('Alpha 100%', {
      start_time: '2026-01-03T00:00:00Z',
      reference_dataset_id: dataset,
      metadata: '{"model":"x","tags":["p","q"],"dataset_version":"v1"}',
      latency_p50: 3,
      run_count: 1,
      feedback_stats: '{"k":{"avg":0.1},"odd\\u0000":{}}',
    });
    const two = await b('beta', {
      start_time: '2026-01-02T00:00:00Z',
      latency_p50: 1,
      run_count: 3,
      feedback_stats: '{"k":{"avg":0.9}}',
      session_feedback_stats: '{"k":{"avg":0.5}}',
    });
    await b('gamma', { start_time: '2026-01-01T00:00:00Z', metadata: '{"model":"y"}' });
    const found = (search: string) => names(search, 'b');
    expect(await found('')).toEqual(['Alpha 100%', 'beta', 'gamma']);
    expect(await found('name=beta')).toEqual(['beta']);
    expect(await found('name=')).toHaveLength(3);
    expect(await found('name_contains=PHA%20100%25')).toEqual(['Alpha 100%']);
    expect(await found('name_contains=_')).toEqual([]);
    expect(await found(`id=${one}&id=${two}`)).toEqual(['Alpha 100%', 'beta']);
    expect(await found(`reference_dataset=${dataset}`)).toEqual(['Alpha 100%']);
    expect(await found('reference_free=yes')).toEqual(['beta', 'gamma']);
    expect(await found('reference_free=0')).toEqual(['Alpha 100%']);
    expect(await found('dataset_version=v1')).toEqual(['Alpha 100%']);
    expect(await found(`metadata=${encodeURIComponent('{"tags":["q"],"model":"x"}')}`)).toEqual(['Alpha 100%']);
    expect(await found(`metadata=${encodeURIComponent('{"model":"\\u0000"}')}`)).toEqual([]);
    expect(await found('sort_by=name&sort_by_desc=false')).toEqual(['Alpha 100%', 'beta', 'gamma']);
    expect(await found('sort_by=start_time&sort_by_desc=false')).toEqual(['gamma', 'beta', 'Alpha 100%']);
    expect(await found('sort_by=latency_p50')).toEqual(['Alpha 100%', 'beta', 'gamma']);
    expect(await found('sort_by=runs_count&sort_by_desc=false&limit=2')).toEqual(['gamma', 'Alpha 100%']);
    expect(await found('sort_by=feedback&sort_by_feedback_key=k')).toEqual(['beta', 'Alpha 100%', 'gamma']);
    expect((await found('sort_by=feedback&sort_by_feedback_key=k&sort_by_feedback_source=session'))[0]).toBe('beta');
    expect(await found('limit=1&offset=1')).toEqual(['beta']);
    expect(await found('offset=9')).toEqual([]);
    expect(await found(`tag_value_id=${newId()}`)).toEqual([]);
    const filter = (text: string) => found(`filter=${encodeURIComponent(text)}`);
    expect(await filter('and(eq(metadata_key, "model"), eq(metadata_value, "y"))')).toEqual(['gamma']);
    expect(await filter('eq(extra.metadata.model, "y")')).toEqual(['gamma']);
    expect(await filter(`has(metadata, '{"model":"x"}')`)).toEqual(['Alpha 100%']);
    expect(await filter('gt(latency_p50, "2s")')).toEqual(['Alpha 100%']);
    expect((await reading.get('/sessions?filter=what')).status).toBe(400);
    expect((await reading.get('/sessions?metadata=[1]')).status).toBe(400);
    const deep = `{"a":${'['.repeat(4000)}${']'.repeat(4000)}}`;
    expect((await reading.get(`/sessions?metadata=${encodeURIComponent(deep)}`)).status).toBe(400);
    expect(await filter(`has(metadata, '${deep}')`)).toEqual([]);
    expect((await reading.get('/sessions?limit=101')).json.detail[0]).toMatchObject({
      type: 'less_than_equal',
      loc: ['query', 'limit'],
    });
    expect((await reading.get('/sessions?sort_by=x&reference_dataset=y')).json.detail).toMatchObject([
      { loc: ['query', 'reference_dataset', 0] },
      { loc: ['query', 'sort_by'] },
    ]);
  });
});

describe('a session that is written', () => {
  it('is created, found, changed and deleted, and its name is free again', async () => {
    const created = await reading.post('/sessions', {
      name: 'mine',
      extra: { metadata: { x: 1 } },
      end_time: '2026-01-01T00:00:00',
    });
    expect(created.status).toBe(200);
    expect(Object.keys(created.json)).toEqual([...PLAIN, 'tenant_id', 'last_run_start_time_live']);
    const { id } = created.json;
    expect(created.json).toMatchObject({
      name: 'mine',
      extra: { metadata: { x: 1 } },
      end_time: '2026-01-01T00:00:00+00:00',
    });
    expect((await reading.get(`/sessions/${id}`)).json).toMatchObject({
      name: 'mine',
      run_count: 0,
      trace_tier: 'longlived',
    });
    expect(await names('metadata=%7B%22x%22:1%7D')).toEqual(['mine']);

    const again = await reading.post('/sessions', { name: 'mine' });
    expect(again.status).toBe(409);
    expect(again.json.detail).toBe(`Session already exists. Its name is used by session ${id}.`);
    const upserted = await reading.post('/sessions?upsert=true', { name: 'mine', description: 'described' });
    expect(upserted.json).toMatchObject({ id, description: 'described' });
    expect((await reading.post('/sessions', { name: 'mine' }, 'b')).status).toBe(200);

    const patched = await reading.send('PATCH', `/sessions/${id}`, {
      name: 'yours',
      description: null,
      extra: { metadata: { y: 2 } },
    });
    expect(patched.json).toMatchObject({
      id,
      tenant_id: a,
      reference_dataset_id: null,
      name: 'yours',
      description: 'described',
      extra: { metadata: { y: 2 } },
    });
    expect(await names('metadata=%7B%22y%22:2%7D')).toEqual(['yours']);
    expect(await names('name=mine')).toEqual([]);
    const other = await reading.post('/sessions', { name: 'mine' });
    expect(other.status).toBe(200);
    expect((await reading.send('PATCH', `/sessions/${id}`, { name: 'mine' })).status).toBe(409);

    for (const method of ['PATCH', 'DELETE'] as const) {
      expect((await reading.send(method, `/sessions/${id}`, { name: 'theirs' }, 'b')).status).toBe(404);
    }
    expect(await reading.send('DELETE', `/sessions/${id}`)).toMatchObject({ status: 200 });
    expect((await reading.get(`/sessions/${id}`)).status).toBe(404);
    expect((await reading.send('DELETE', `/sessions/${id}`)).status).toBe(404);
    expect((await reading.post('/sessions', { name: 'yours' })).status).toBe(200);
    expect((await reading.post('/sessions', { name: 'once more', id })).status).toBe(409);
  });

  it('takes its runs and feedback with it when it is deleted', async () => {
    const { id } = (await reading.post('/sessions', { name: 'short-lived' })).json;
    const run = await reading.insert('runs', rows.run(a, id));
    const feedback = await reading.insert('feedback', rows.feedback(a, id, { run_id: run }));
    await reading.send('DELETE', `/sessions/${id}`);
    expect((await reading.get(`/runs/${run}`)).status).toBe(404);
    expect((await reading.get(`/feedback/${feedback}`)).status).toBe(404);
  });

  it('leaves its name free when its deletion stopped before the name was released', async () => {
    const { id } = (await reading.post('/sessions', { name: 'half-deleted' })).json;
    await reading.store.append(`experiment-${id}`, 1, [{ type: 'SessionDeleted', data: {} }], { tenant: a });
    const created = await reading.post('/sessions', { name: 'half-deleted' });
    expect(created).toMatchObject({ status: 200 });
    expect((await reading.post('/sessions', { name: 'half-deleted' })).json.detail).toContain(created.json.id);
  });

  it('keeps its extra as it was sent', async () => {
    const extra = '{"one": 1.0, "big":12345678901234567890, "twice":1, "twice":2, "huge":1e400, "nul":"\\u0000"}';
    const created = await reading.post('/sessions', `\ufeff{"name":"raw",\n"extra": ${extra} }`);
    expect(created.text).toContain(`"extra":${extra},"`);
    expect((await reading.get(`/sessions/${created.json.id}`)).text).toContain(`"extra":${extra},"`);
  });

  it('refuses datasets of another tenant and names that cannot be stored', async () => {
    const dataset = await reading.insert('datasets', rows.dataset(reading.tenants.b));
    const refused = await reading.post('/sessions', { name: 'x', reference_dataset_id: dataset });
    expect(refused).toMatchObject({ status: 404, json: { detail: `Dataset ID ${dataset} not found.` } });
    expect((await reading.post('/sessions', { name: '\u0000' })).status).toBe(422);
    expect((await reading.post('/sessions', { name: '' })).status).toBe(422);
    expect((await reading.post('/sessions', [])).status).toBe(422);
    expect((await reading.post('/sessions', { trace_tier: 'x', extra: 1 })).json.detail).toMatchObject([
      { loc: ['body', 'extra'] },
      { loc: ['body', 'trace_tier'] },
    ]);
  });
});
