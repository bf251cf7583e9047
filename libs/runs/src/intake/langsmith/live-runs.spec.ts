import { serviceCaller } from '@fairlead/eventing';
import { v4 as newId } from 'uuid';
import { SessionCommands } from '../../session/sessions.commands';
import { startReading } from '@fairlead/evaluation/testing';
import { type Reading, rows } from '@fairlead/experiments/testing';
import { until } from '@fairlead/postgres/testing';

let reading: Reading;
beforeAll(async () => {
  reading = await startReading();
});
afterAll(() => reading.stop());

const start_time = '2026-01-01T00:00:00.000001Z';
const end_time = '2026-01-01T00:00:00.500001Z';
const run = (members: object = {}) => ({
  id: newId(),
  name: 'answer',
  run_type: 'chain',
  start_time,
  inputs: { q: 1 },
  ...members,
});
const read = async (id: string, tenant?: 'a' | 'b') => (await reading.get(`/runs/${id}`, tenant)).json;
const session = async (name: string) => (await reading.get(`/sessions?name=${name}`)).json[0];

describe('A run that is sent while it happens', () => {
  it('is pending, then ends; its session is made and has its statistics', async () => {
    const sent = run({ session_name: 'live-one', tags: ['x'] });
    expect(await reading.post('/runs', sent)).toMatchObject({ status: 202 });
    expect(await read(sent.id)).toMatchObject({ status: 'pending', inputs: { q: 1 }, outputs: null, tags: ['x'] });
    const end = `{"end_time":"${end_time}","outputs":{"big":12345678901234567890,"nul":"\\u0000"}}`;
    expect(await reading.send('PATCH', `/runs/${sent.id}`, end)).toMatchObject({ status: 202 });
    expect((await reading.get(`/runs/${sent.id}`)).text).toContain(
      '"outputs":{"big":12345678901234567890,"nul":"\\u0000"}',
    );
    expect(await read(sent.id)).toMatchObject({
      status: 'success',
      name: 'answer',
      end_time: '2026-01-01T00:00:00.500001+00:00',
    });
    expect(await session('live-one')).toMatchObject({ run_count: 1, latency_p50: 0.5, error_rate: 0 });
  });

  it('may come in batches, with the runs below it', async () => {
    const root = run({ session_name: 'live-two', end_time });
    const child = run({
      session_name: 'live-two',
      parent_run_id: root.id,
      trace_id: root.id,
      dotted_order: `1Z${root.id}.2Z${newId()}`,
    });
    const batch = { post: [root, child], patch: [{ id: child.id, error: 'it broke', end_time }] };
    expect((await reading.post('/runs/batch', batch)).status).toBe(202);
    expect(await read(child.id)).toMatchObject({
      status: 'error',
      error: 'it broke',
      parent_run_ids: [root.id],
      trace_id: root.id,
    });
    expect(await session('live-two')).toMatchObject({ run_count: 1, error_rate: 0 });
    const query = async (body: object) =>
      (await reading.post('/runs/query', body)).json.runs.map(({ id }: { id: string }) => id);
    expect(new Set(await query({ trace: root.id }))).toEqual(new Set([root.id, child.id]));
    expect(await query({ parent_run: root.id })).toEqual([child.id]);
    const { id } = await session('live-two');
    expect(await query({ session: [id], is_root: true })).toEqual([root.id]);
    expect(await query({ session: [id], is_root: false })).toEqual([child.id]);
  });

  it('know the runs below them, and are found by what the root or any run of their trace is', async () => {
    const session_id = await reading.insert('sessions', rows.session(reading.tenants.a));
    const root = run({ session_id, end_time, name: 'root' });
    const order = `1Z${root.id}`;
    const below = (parent: string, place: string, members: object) =>
      run({ session_id, end_time, parent_run_id: parent, trace_id: root.id, dotted_order: place, ...members });
    const middle = below(root.id, `${order}.2Zm`, { name: 'middle', run_type: 'tool' });
    const leaf = below(middle.id, `${order}.2Zm.3Zl`, { name: 'leaf', run_type: 'llm' });
    const alone = run({ session_id, end_time, name: 'alone' });
    await reading.post('/runs/batch', { post: [root, middle, leaf, alone] });
    // Another tenant may say that its run is of this trace; it is not.
    const foreign = run({ session_name: 'foreign', end_time, parent_run_id: root.id, trace_id: root.id, name: 'spy' });
    expect((await reading.post('/runs', foreign, 'b')).status).toBe(202);
    const children = async ({ id }: { id: string }) => {
      const { child_run_ids: all, direct_child_run_ids: direct } = await read(id);
      return [new Set(all), direct];
    };
    expect(await children(root)).toEqual([new Set([middle.id, leaf.id]), [middle.id]]);
    expect(await children(middle)).toEqual([new Set([leaf.id]), [leaf.id]]);
    expect(await children(leaf)).toEqual([new Set(), []]);
    const names = async (body: object, as: 'a' | 'b' = 'a') => {
      const { json } = await reading.post('/runs/query', body, as);
      return json.runs.map(({ name }: { name: string }) => name).toSorted();
    };
    const session = [session_id];
    expect(await names({ session, trace_filter: 'eq(name, "root")' })).toEqual(['leaf', 'middle', 'root']);
    expect(await names({ session, trace_filter: 'eq(name, "root")', filter: 'eq(run_type, "llm")' })).toEqual(['leaf']);
    expect(await names({ session, tree_filter: 'eq(name, "leaf")', is_root: true })).toEqual(['root']);
    expect(await names({ session, tree_filter: 'eq(name, "alone")' })).toEqual(['alone']);
    expect(await names({ session, tree_filter: 'eq(name, "spy")' })).toEqual([]);
    expect(await names({ id: [foreign.id], trace_filter: 'eq(name, "root")' }, 'b')).toEqual([]);
    const second = { project_ids: session, selects: ['NAME'], tree_filter: 'eq(name, "leaf")', is_root: true };
    expect((await reading.post('/v2/runs/query', second)).json.items).toEqual([{ name: 'root' }]);
    expect((await reading.post('/runs/query', { session, tree_filter: 'nothing()' })).status).toBe(400);
  });

  it('took no time when its clock went back, and else as long as its times say', async () => {
    const session_id = await reading.insert('sessions', rows.session(reading.tenants.a));
    const start_time = '2026-01-01T00:00:00.000003Z';
    const back = run({ session_id, start_time, end_time: '2026-01-01T00:00:00.000001Z' });
    const forth = run({ session_id, start_time, end_time: '2026-01-01T00:00:00.023002Z' });
    const open = run({ session_id, start_time });
    await reading.post('/runs/batch', { post: [back, open] });
    const latency = { latency_p50: 0, latency_p99: 0 };
    expect((await reading.get(`/sessions/${session_id}`)).json).toMatchObject({ run_count: 2, ...latency });
    expect((await reading.post('/runs/stats', { session: [session_id] })).json).toMatchObject(latency);
    await reading.post('/runs', forth);
    const selects = ['ID', 'LATENCY_SECONDS'];
    const { items } = (await reading.post('/v2/runs/query', { project_ids: [session_id], selects })).json;
    expect(
      new Map(items.map((item: { id: string; latency_seconds?: number }) => [item.id, item.latency_seconds])),
    ).toEqual(
      new Map([
        [back.id, 0],
        [forth.id, 0.022999],
        [open.id, undefined],
      ]),
    );
    const filter = 'gte(latency, 0)';
    expect((await reading.post('/runs/query', { session: [session_id], filter })).json.runs).toHaveLength(2);
  });

  it('belongs to its tenant, and another tenant may use the same id', async () => {
    const sent = run({ session_name: 'live-three' });
    await reading.post('/runs', sent);
    expect((await reading.send('PATCH', `/runs/${sent.id}`, { error: 'x' }, 'b')).status).toBe(404);
    const { id } = await session('live-three');
    expect((await reading.post('/runs', run({ session_id: id }), 'b')).status).toBe(404);
    expect((await reading.get(`/runs/${sent.id}`, 'b')).status).toBe(404);
    expect((await reading.post('/runs', { ...sent, name: 'theirs' }, 'b')).status).toBe(202);
    expect((await reading.get(`/runs/${sent.id}`, 'b')).json).toMatchObject({ name: 'theirs' });
    expect(await read(sent.id)).toMatchObject({ error: null, name: sent.name });
  });

  it('leaves an uploaded experiment as it is', async () => {
    const a = reading.tenants.a;
    const id = await reading.insert('sessions', {
      ...rows.session(a),
      name: 'finished',
      payload_sha256: 'of its body',
    });
    const uploaded = await reading.insert('runs', rows.run(a, id));
    const answers = [
      await reading.send('PATCH', `/runs/${uploaded}`, { error: 'x' }),
      await reading.post('/runs', run({ session_id: id })),
      await reading.post('/runs', run({ session_name: 'finished' })),
      await reading.post('/runs/batch', { patch: [{ id: uploaded, name: 'other' }] }),
    ];
    const detail = "The experiment 'finished' was uploaded: its runs stay as they are, and it takes no others.";
    for (const answer of answers) expect(answer).toMatchObject({ status: 409, json: { detail } });
    expect((await read(uploaded)).name).not.toBe('other');
    expect((await reading.post('/feedback', { run_id: uploaded, key: 'later', score: 1 })).status).toBe(200);
  });

  it.each([
    ['names one session too many', (name: string) => ({ session_name: `${name}-more` }), 100, 'more than 100 sessions'],
    ['names a session that is not there', () => ({ session_id: newId() }), 2, 'not found'],
    ['is too large to be stored', () => ({ error: 'x'.repeat(25 << 20) }), 2, 'at most 20971520'],
    ['is not valid', () => ({ inputs: 3 }), 2, 'valid dictionary'],
  ])('leaves the others of its batch when it %s', async (_, members, count, reason) => {
    const name = `refused-${newId()}`;
    const good = Array.from({ length: count }, (_, n) => run({ session_name: `${name}-${n}` }));
    const bad = run({ session_name: `${name}-0`, ...members(name) });
    const answer = await reading.post('/runs/batch', { post: [...good, bad] });
    expect(answer).toMatchObject({
      status: 202,
      json: {
        refused: [
          { id: bad.id, loc: expect.arrayContaining(['body', 'post', count]), msg: expect.stringContaining(reason) },
        ],
      },
    });
    // A hundred new sessions take longer than a request waits for them while the machine is busy.
    const stored = await until(
      () => reading.post('/runs/query', { id: good.map(({ id }) => id), limit: 100 }),
      ({ status }) => status !== 503,
    );
    expect(stored.json.runs).toHaveLength(count);
    expect((await reading.get(`/runs/${bad.id}`)).status).toBe(404);
  });

  it('has an empty name, and a kind of its own, as they were sent', async () => {
    const { id } = run();
    const sent = { ...run({ session_name: 'as-sent', end_time }), id, name: '', run_type: 'My Agent' };
    expect(await reading.post('/runs/batch', { post: [sent] })).toMatchObject({ status: 202, json: {} });
    expect(await read(id)).toMatchObject({ name: '', run_type: 'My Agent' });
    const found = async (path: string, body: object) => (await reading.post(path, body)).json;
    const { id: session_id } = await session('as-sent');
    const only = { session: [session_id], run_type: 'My Agent' };
    expect((await found('/runs/query', only)).runs).toMatchObject([{ id, name: '' }]);
    expect((await found('/runs/query', { ...only, run_type: 'chain' })).runs).toEqual([]);
    expect(await found('/runs/stats', only)).toMatchObject({ run_count: 1 });
    const filter = 'and(eq(name, ""), eq(run_type, "My Agent"))';
    expect((await found('/runs/query', { session: [session_id], filter })).runs).toHaveLength(1);
    const selects = ['NAME', 'RUN_TYPE'];
    for (const run_type of [undefined, 'My Agent'])
      expect((await found('/v2/runs/query', { project_ids: [session_id], selects, run_type })).items).toEqual([
        { name: '', run_type: 'My Agent' },
      ]);
    expect((await reading.send('PATCH', `/runs/${id}`, { name: null, run_type: 'tool' })).status).toBe(202);
    expect(await read(id)).toMatchObject({ name: '', run_type: 'tool' });
    expect((await found('/v2/runs/query', { project_ids: [session_id], selects, run_type: 'TOOL' })).items).toEqual([
      { name: '', run_type: 'TOOL' },
    ]);
    for (const wrong of [{ run_type: 'x'.repeat(201) }, { name: 'x'.repeat(10_001) }])
      expect((await reading.post('/runs', run(wrong))).status).toBe(422);
  });

  it('goes into one session with others that name it at the same time', async () => {
    const name = `raced-${newId()}`;
    const runs = Array.from({ length: 6 }, () => run({ session_name: name, end_time }));
    const answers = await Promise.all(runs.map((sent) => reading.post('/runs/batch', { post: [sent] })));
    expect(answers.map(({ status }) => status)).toEqual(runs.map(() => 202));
    expect(await session(name)).toMatchObject({ run_count: 6 });
  });

  it('goes into the session for which a crash has left the name reserved', async () => {
    const name = `left-${newId()}`;
    const [sessions, tenant] = [new SessionCommands(reading.store), reading.tenants.a];
    const id = await sessions.idFor(tenant, name);
    await sessions.reserveName(serviceCaller({ tenant }), name, id);
    const [sent, other] = [run({ session_name: name, end_time }), run({ session_name: `${name}-beside`, end_time })];
    expect(await reading.post('/runs/batch', { post: [sent, other] })).toMatchObject({ status: 202, json: {} });
    expect(await read(sent.id)).toMatchObject({ session_id: id });
    expect(await session(name)).toMatchObject({ id, run_count: 1 });
    expect(await session(`${name}-beside`)).toMatchObject({ run_count: 1 });
  });

  it.each([
    ['a crash has left the name with a renamed session', true],
    ['an upload has the name and takes long', false],
  ])('is asked for again, and nothing is stored, when %s', async (_, isRenamed) => {
    const [name, id] = [`left-${newId()}`, newId()];
    const caller = serviceCaller({ tenant: reading.tenants.a });
    if (isRenamed) await reading.post('/sessions', { id, name: `renamed-${id}` });
    await new SessionCommands(reading.store).reserveName(caller, name, id);
    const [sent, other] = [run({ session_name: name, end_time }), run({ session_name: `${name}-beside`, end_time })];
    const answer = await reading.post('/runs/batch', { post: [sent, other] });
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '20' } });
    for (const { id: unknown } of [sent, other]) expect((await reading.get(`/runs/${unknown}`)).status).toBe(404);
  });

  it('takes a change without a place when the view is behind, also when a later change has one', async () => {
    const name = `behind-${newId()}`;
    await reading.post('/sessions', { name });
    const sent = run({ session_name: name });
    const lock = await reading.pool.connect();
    await lock.query('begin');
    await lock.query('lock table runs in share row exclusive mode');
    expect((await reading.post('/runs', sent)).status).toBe(202);
    const patch = [{ inputs: 3 }, { outputs: { a: 1 } }, { name: 'later', session_name: `${name}-other` }];
    const answer = reading.post('/runs/batch', { patch: patch.map((change) => ({ id: sent.id, ...change })) });
    await lock.query('rollback');
    lock.release();
    expect((await answer).json).toMatchObject({ refused: [{ id: sent.id, loc: ['body', 'patch', 0, 'inputs'] }] });
    expect((await answer).json.refused).toHaveLength(1);
    const { id } = await session(name);
    expect(await read(sent.id)).toMatchObject({ session_id: id, name: 'later', outputs: { a: 1 } });
    expect(await session(`${name}-other`)).toBeUndefined();
  });

  it('takes a change that names no session of the workspace, or an upload, when the view is behind', async () => {
    const { json } = await reading.post('/sessions', { name: `behind-${newId()}` });
    const dataset = await reading.insert('datasets', rows.dataset(reading.tenants.a));
    const payload_sha256 = 'a'.repeat(64);
    const upload = rows.session(reading.tenants.a, { reference_dataset_id: dataset, payload_sha256 });
    await reading.insert('sessions', upload);
    const runs = [run({ session_id: json.id }), run({ session_id: json.id })] as const;
    const lock = await reading.pool.connect();
    await lock.query('begin');
    await lock.query('lock table runs in share row exclusive mode');
    expect((await reading.post('/runs/batch', { post: runs })).status).toBe(202);
    const answers = [newId(), upload.id].map((session_id, nth) =>
      reading.post('/runs/batch', { patch: [{ id: runs[nth]!.id, session_id, outputs: { a: 1 } }] }),
    );
    await lock.query('rollback');
    lock.release();
    expect((await Promise.all(answers)).map(({ status, json: body }) => [status, body])).toEqual([
      [202, {}],
      [202, {}],
    ]);
    for (const { id } of runs) expect(await read(id)).toMatchObject({ session_id: json.id, outputs: { a: 1 } });
  });

  it('is stored once, with what both requests say, when two send it to two sessions at once', async () => {
    const [first, second] = [
      await reading.post('/sessions', { name: 'one' }),
      await reading.post('/sessions', { name: 'two' }),
    ];
    const id = newId();
    const received = (session: string, members: object) =>
      reading.store.append(
        `experiment-${session}`,
        'any',
        [{ type: 'RunsReceived', data: { runs: [{ id, ...members }] } }],
        { tenant: reading.tenants.a },
      );
    // Neither of them knew of the other when it was recorded.
    await received(first.json.id, { name: 'of one', start_time, inputs: '{"q":1}' });
    const attachments = [{ name: 'note', type: 'text/plain', sha256: 'a'.repeat(64), bytes: 1 }];
    const { position } = await received(second.json.id, { end_time, outputs: '{"a":2}', attachments });
    expect(await reading.followers.passed(position, undefined, 60_000)).toBe(true);
    const stored = await read(id);
    expect(stored).toMatchObject({ session_id: first.json.id, name: 'of one', inputs: { q: 1 }, outputs: { a: 2 } });
    expect(Object.keys(stored.s3_urls)).toEqual(['attachment.note']);
    expect(await session('one')).toMatchObject({ run_count: 1, latency_p50: 0.5 });
    expect(await session('two')).toMatchObject({ run_count: 0 });
  });

  it('is checked', async () => {
    expect((await reading.post('/runs', { name: 'no id' })).status).toBe(422);
    expect((await reading.post('/runs/batch', { post: [{ id: newId(), inputs: 3 }] })).json.detail[0].loc).toEqual([
      'body',
      'post',
      0,
      'inputs',
    ]);
    expect((await reading.post('/runs', '{"id":')).status).toBe(422);
    expect((await reading.post('/runs/batch', {})).status).toBe(202);
  });
});

it('takes feedback that comes before its run, when that names its session', async () => {
  const a = reading.tenants.a;
  const id = await reading.insert('sessions', rows.session(a));
  const sent = run({ session_id: id, end_time });
  const feedback = { run_id: sent.id, key: 'early', score: 1 };
  expect((await reading.post('/feedback', feedback)).status).toBe(404);
  expect((await reading.post('/feedback', { ...feedback, session_id: id }, 'b')).status).toBe(404);
  expect((await reading.post('/feedback', { ...feedback, session_id: id })).status).toBe(200);
  await reading.post('/runs', sent);
  expect(await read(sent.id)).toMatchObject({ feedback_stats: { early: { n: 1, avg: 1 } } });
  expect((await reading.get(`/sessions/${id}`)).json.feedback_stats).toMatchObject({ early: { n: 1 } });
});
