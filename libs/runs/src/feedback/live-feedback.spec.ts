import { until } from '@fairlead/postgres/testing';
import { Client } from 'pg';
import { v4 as newId } from 'uuid';
import { type Answer, type Reading, startReading } from '@fairlead/experiments/testing';

let reading: Reading;
beforeAll(async () => {
  reading = await startReading();
});
afterAll(() => reading.stop());

const run = (members: object = {}) => ({ id: newId(), name: 'answer', end_time: '2026-01-01T00:00:01Z', ...members });
type Run = ReturnType<typeof run>;

/** Sends parts by their names, JSON unless they are text. */
function multipart(parts: Readonly<Record<string, unknown>>, tenant?: 'a' | 'b'): Promise<Answer> {
  const form = new FormData();
  for (const [name, value] of Object.entries(parts)) {
    form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return reading.post('/runs/multipart', form, tenant);
}
const post = (sent: Run) => ({ [`post.${sent.id}`]: sent });
const feedbackOn = ({ id }: Run, members: object = {}) => ({ trace_id: id, key: 'correct', score: 1, ...members });
const read = async (id: string, tenant?: 'a' | 'b') => (await reading.get(`/feedback/${id}`, tenant)).json;
const session = async (name: string) => (await reading.get(`/sessions?name=${name}`)).json[0];

describe('Feedback among the parts of a request', () => {
  it('is kept whole, with the run of the same request, and counted in the statistics', async () => {
    const sent = run({ session_name: 'with feedback' });
    const id = newId();
    const opaque = { value: { big: 'x' }, comment: 'why', correction: { a: 1 }, extra: { error: true } };
    const feedback_source = { type: 'model', metadata: { __run: { run_id: newId() } } };
    const feedback = feedbackOn(sent, {
      id,
      ...opaque,
      score: true,
      run_id: null,
      session_id: null,
      feedback_source,
    });
    expect((await multipart({ [`feedback.${id}`]: feedback, ...post(sent) })).status).toBe(202);
    expect(await read(id)).toMatchObject({
      ...opaque,
      id,
      run_id: sent.id,
      score: true,
      feedback_source,
      session_id: (await session('with feedback')).id,
    });
    expect((await session('with feedback')).feedback_stats).toMatchObject({ correct: { n: 1, avg: 1 } });
    expect((await reading.get(`/runs/${sent.id}`)).json.feedback_stats).toMatchObject({ correct: { n: 1 } });
  });

  it('takes few statements and commits, however much of it there is', async () => {
    const sent = run({ session_name: 'much feedback' });
    const parts = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, () => [`feedback.${newId()}`, feedbackOn(sent)]));
    await multipart({ ...post(sent), ...parts(1) });
    const { id } = await session('much feedback');
    const statements = jest.spyOn(Client.prototype, 'query');
    expect((await multipart(parts(400))).status).toBe(202);
    expect((await session('much feedback')).feedback_stats).toMatchObject({ correct: { n: 401 } });
    expect(statements.mock.calls.length).toBeLessThan(200);
    statements.mockRestore();
    const { rows } = await reading.pool.query(
      `select count(distinct xmin::text)::int as commits from feedback where session_id = $1`,
      [id],
    );
    expect(rows[0].commits).toBeLessThan(20);
  });

  it('goes to a run that is known, and to a session', async () => {
    const sent = run({ session_name: 'known' });
    await reading.post('/runs', sent);
    const { id: session_id } = await session('known');
    const [onRun, named, onSession] = [newId(), newId(), newId()];
    const parts = {
      [`feedback.${onRun}`]: feedbackOn(sent),
      [`feedback.${named}`]: feedbackOn(sent, { session_id }),
      [`feedback.${onSession}`]: { key: 'overall', score: 0.5, session_id },
    };
    expect((await multipart(parts)).status).toBe(202);
    for (const id of [onRun, named]) expect(await read(id)).toMatchObject({ run_id: sent.id, session_id });
    expect(await read(onSession)).toMatchObject({ run_id: null, session_id });
    expect((await session('known')).session_feedback_stats).toMatchObject({ overall: { n: 1 } });
  });

  it('waits for its run, whichever request brings that and however, and once', async () => {
    const [first, second] = [run({ session_name: 'late one' }), run({ session_name: 'late two' })];
    const ids = [newId(), newId(), newId()];
    await multipart({ [`feedback.${ids[0]}`]: feedbackOn(first), [`feedback.${ids[1]}`]: feedbackOn(second) });
    expect((await multipart({ [`feedback.${ids[0]}`]: feedbackOn(first) })).status).toBe(202);
    expect((await reading.get(`/feedback/${ids[0]}`)).status).toBe(404);
    expect((await reading.post('/runs', first)).status).toBe(202);
    expect((await multipart(post(second))).status).toBe(202);
    expect(await read(ids[0]!)).toMatchObject({ run_id: first.id, session_id: (await session('late one')).id });
    expect(await read(ids[1]!)).toMatchObject({ run_id: second.id });
    for (const name of ['late one', 'late two']) {
      expect((await session(name)).feedback_stats).toMatchObject({ correct: { n: 1 } });
    }
    expect((await reading.pool.query('select 1 from awaited_feedback')).rowCount).toBe(0);
  });

  it('waits for its run as one of 10,000 of its workspace at most, however many come at the same time', async () => {
    const tenant = reading.tenants.b;
    await reading.pool.query(
      `insert into awaited_feedback (tenant_id, run_id, id, data)
       select $1, gen_random_uuid(), gen_random_uuid(), '{}' from generate_series(1, 9990)`,
      [tenant],
    );
    const send = () => multipart({ ...one(), ...one() }, 'b');
    const one = () => ({ [`feedback.${newId()}`]: feedbackOn(run()) });
    const answers = await Promise.all(Array.from({ length: 20 }, send));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(5);
    expect(answers.find(({ status }) => status !== 202)).toMatchObject({
      status: 409,
      json: { detail: 'More than 10000 feedbacks would wait for their runs: name their sessions.' },
    });
    await reading.pool.query('delete from awaited_feedback where tenant_id = $1', [tenant]);
  });

  it('is recorded as added once its run is there, as feedback on a known run is', async () => {
    const late = run({ session_name: 'told' });
    const id = newId();
    await multipart({ [`feedback.${id}`]: feedbackOn(late, { comment: 'why' }) });
    expect((await reading.post('/runs', late)).status).toBe(202);
    const stream = `experiment-${(await session('told')).id}`;
    const added = async () => (await reading.store.read(stream)).filter(({ type }) => type === 'FeedbackAdded');
    await until(async () => (await added()).length > 0);
    const head = await reading.store.head();
    expect(await reading.followers.passed(head, ['experiments-view', 'awaited-feedback'], 60_000)).toBe(true);
    expect(await added()).toMatchObject([
      {
        data: { id, run_id: late.id, comment: '"why"' },
        metadata: { tenant: reading.tenants.a, actor: 'system:feedback' },
      },
    ]);
    expect((await session('told')).feedback_stats).toMatchObject({ correct: { n: 1, avg: 1 } });
    expect((await reading.pool.query('select 1 from untold_feedback where id = $1', [id])).rowCount).toBe(0);
  });

  it('does not wait for a run whose session was deleted before the run was stored', async () => {
    const late = run({ session_name: 'short-lived' });
    await reading.post('/runs', run({ session_name: 'short-lived' }));
    const { id } = await session('short-lived');
    await multipart({ [`feedback.${newId()}`]: feedbackOn(late) });
    await reading.followers.passed(await reading.store.head(), undefined, 60_000);
    const waiting = async () => {
      const { rows } = await reading.pool.query<{ awaited: number; untold: number }>(
        `select (select count(*)::int from awaited_feedback where run_id = $1) as awaited,
           (select count(*)::int from untold_feedback where run_id = $1) as untold`,
        [late.id],
      );
      return rows[0];
    };
    const head = await reading.store.head();
    expect(await reading.followers.passed(head, ['experiments-view', 'awaited-feedback'], 60_000)).toBe(true);
    expect(await waiting()).toEqual({ awaited: 1, untold: 1 });
    await reading.send('DELETE', `/sessions/${id}`);
    const runs = [{ id: late.id, name: 'late' }];
    const event = { type: 'RunsReceived', data: { runs } };
    const { position } = await reading.store.append(`experiment-${id}`, 'any', [event], { tenant: reading.tenants.a });
    expect(await reading.followers.passed(position, ['experiments-view', 'awaited-feedback'], 60_000)).toBe(true);
    expect(await waiting()).toEqual({ awaited: 0, untold: 0 });
  });

  it('waits no longer when its workspace is removed', async () => {
    const [kept, gone] = [run(), run()];
    await multipart({ [`feedback.${newId()}`]: feedbackOn(kept) });
    await multipart({ [`feedback.${newId()}`]: feedbackOn(gone) }, 'b');
    const removed = { type: 'TenantRemoved', data: {} };
    const { position } = await reading.store.append(`tenant-${reading.tenants.b}`, 'any', [removed], {});
    expect(await reading.followers.passed(position, ['experiments-view', 'awaited-feedback'], 60_000)).toBe(true);
    for (const table of ['awaited_feedback', 'untold_feedback']) {
      const query = `select run_id from ${table} where run_id = any($1::uuid[])`;
      const { rows } = await reading.pool.query(query, [[kept.id, gone.id]]);
      expect(rows).toEqual([{ run_id: kept.id }]);
    }
  });

  it('never reaches a run of another workspace, neither one that is there nor one that comes', async () => {
    const [known, coming] = [run({ session_name: 'mine' }), run({ session_name: 'mine' })];
    await reading.post('/runs', known);
    const ids = [newId(), newId()];
    const parts = { [`feedback.${ids[0]}`]: feedbackOn(known), [`feedback.${ids[1]}`]: feedbackOn(coming) };
    expect((await multipart(parts, 'b')).status).toBe(202);
    await reading.post('/runs', coming);
    for (const id of ids) {
      expect((await reading.get(`/feedback/${id}`)).status).toBe(404);
      expect((await reading.get(`/feedback/${id}`, 'b')).status).toBe(404);
    }
    expect((await session('mine')).feedback_stats).toEqual({});
    const { id } = await session('mine');
    const foreign = await multipart({ [`feedback.${newId()}`]: feedbackOn(run(), { session_id: id }) }, 'b');
    expect(foreign).toMatchObject({ status: 400, json: { detail: expect.stringContaining(`no session ${id}`) } });
    const compared = feedbackOn(known, { comparative_experiment_id: newId() });
    expect((await multipart({ [`feedback.${newId()}`]: compared })).status).toBe(400);
  });

  it('leaves the others of its request when it is refused', async () => {
    const other = run({ session_name: 'elsewhere' });
    await reading.post('/runs', other);
    const { id: session_id } = await session('elsewhere');
    const refused: [(sent: Run) => unknown, number][] = [
      [(sent) => feedbackOn(sent, { key: '' }), 422],
      [(sent) => feedbackOn(sent, { id: newId() }), 422],
      [() => ({ key: 'about nothing' }), 422],
      [() => '{', 422],
      [(sent) => feedbackOn(sent, { session_id }), 400],
      [(sent) => feedbackOn(sent, { comment: 'x'.repeat(1_000_001) }), 413],
    ];
    for (const [feedback, status] of refused) {
      const [sent, id, good] = [run({ session_name: 'with bad feedback' }), newId(), newId()];
      const bad = { [`feedback.${id}`]: feedback(sent) };
      const answer = await multipart({ ...post(sent), ...bad, [`feedback.${good}`]: feedbackOn(sent) });
      const loc = expect.arrayContaining(['body', `feedback.${id}`]) as unknown;
      expect(answer).toMatchObject({ status: 202, json: { refused: [{ id, loc, msg: expect.any(String) }] } });
      expect((await reading.get(`/runs/${sent.id}`)).status).toBe(200);
      expect((await reading.get(`/feedback/${id}`)).status).toBe(404);
      expect(await read(good)).toMatchObject({ run_id: sent.id });
      expect(await multipart(bad)).toMatchObject({ status, json: { refused: [{ id }] } });
    }
  });
});

describe('What is sent and not kept', () => {
  it('is named in the answer, also in batches and in single runs', async () => {
    const odd = { manifest: { a: 1 }, 'né"w': 2, empty: null, none: [] };
    const sent = run({ session_name: 'odd', ...odd });
    const warning = '299 - "Not kept: manifest, n??w"';
    expect((await multipart(post(sent))).headers.warning).toBe(warning);
    expect((await reading.post('/runs', sent)).headers.warning).toBe(warning);
    expect((await reading.post('/runs/batch', { patch: [sent] })).headers.warning).toBe(warning);
    expect((await reading.send('PATCH', `/runs/${sent.id}`, odd)).headers.warning).toBe(warning);
    expect((await reading.post('/runs', run({ session_name: 'odd' }))).headers.warning).toBeUndefined();
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, nth) => [`unknown-${nth}`, 1]));
    expect(String((await reading.post('/runs', run(many))).headers.warning).length).toBeLessThan(1000);
    expect((await multipart({ 'note.1': 'x' })).status).toBe(422);
  });

  it('is named for feedback too, on its own and among parts', async () => {
    const sent = run({ session_name: 'odd feedback' });
    await reading.post('/runs', sent);
    const known = {
      feedback_source: { type: 'api', metadata: { a: 1 } },
      extra: { a: 1 },
      comment: 'why',
      id: newId(),
    };
    const odd = { feedback_group_id: newId(), error: true, unheard: { a: 1 }, empty: [], correction: null };
    const feedback_source = { type: 'model', user_id: newId() };
    const warning = '299 - "Not kept: feedback_group_id, error, unheard, feedback_source.user_id"';
    expect((await reading.post('/feedback', feedbackOn(sent, known))).headers.warning).toBeUndefined();
    for (const id of [newId(), known.id])
      expect((await reading.post('/feedback', feedbackOn(sent, { ...odd, id, feedback_source }))).headers.warning).toBe(
        warning,
      );
    const [plain, other] = [newId(), newId()];
    const part = (members: object) => feedbackOn(sent, members);
    expect((await multipart({ [`feedback.${plain}`]: part({ comment: 'why' }) })).headers.warning).toBeUndefined();
    const answer = await multipart({ [`feedback.${other}`]: part({ ...odd, feedback_source }) });
    expect([answer.status, answer.headers.warning]).toEqual([202, warning]);
    expect(await read(other)).toMatchObject({ feedback_source: { type: 'model' }, key: 'correct' });
  });

  it('is not how a run was made', async () => {
    const sent = run({ session_name: 'made' });
    const serialized = '{"lc":1,"big":12345678901234567890}';
    const { headers } = await multipart({ ...post(sent), [`post.${sent.id}.serialized`]: serialized });
    expect(headers.warning).toBeUndefined();
    expect((await reading.get(`/runs/${sent.id}`)).text).toContain(`"serialized":${serialized}`);
  });
});
