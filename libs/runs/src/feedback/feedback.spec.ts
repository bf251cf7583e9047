import { v4 as newId } from 'uuid';
import { startReading } from '@fairlead/evaluation/testing';
import { type Answer, HOSTILE, type Reading, rows } from '@fairlead/experiments/testing';

let reading: Reading;
let a: string;
let session: string;
let run: string;
beforeAll(async () => {
  reading = await startReading();
  a = reading.tenants.a;
});
beforeEach(async () => {
  session = (await reading.post('/sessions', { name: `scored ${newId()}` })).json.id;
  run = await reading.insert('runs', rows.run(a, session, { start_time: '2026-03-04T05:06:07.000008Z' }));
});
afterAll(() => reading.stop());

const insert = (row = {}) => reading.insert('feedback', rows.feedback(a, session, row));
const keys = async (search: string): Promise<string[]> => {
  const answer: Answer = await reading.get(`/feedback?session=${session}&${search}`);
  expect(answer).toMatchObject({ status: 200 });
  return (answer.json as { key: string }[]).map(({ key }) => key);
};

const MEMBERS = [
  ...['created_at', 'modified_at', 'key', 'score', 'value', 'comment', 'correction', 'feedback_group_id'],
  ...[
    'comparative_experiment_id',
    'run_id',
    'session_id',
    'id',
    'trace_id',
    'start_time',
    'is_root',
    'feedback_source',
  ],
  ...['extra', 'feedback_thread_id'],
];

it('gives one feedback with every member, opaque ones byte for byte', async () => {
  const opaque = {
    value: HOSTILE,
    comment: '"\\u0000 \\ud800"',
    correction: HOSTILE,
    source_metadata: HOSTILE,
    extra: HOSTILE,
  };
  const id = await insert({ run_id: run, score: 0.5, ...opaque });
  const answer = await reading.get(`/api/v1/feedback/${id}`);
  expect(Object.keys(answer.json)).toEqual(MEMBERS);
  for (const member of ['value', 'correction', 'extra', 'metadata'])
    expect(answer.text).toContain(`"${member}":${HOSTILE},"`);
  expect(answer.text).toContain('"comment":"\\u0000 \\ud800",');
  expect(answer.json).toMatchObject({
    id,
    run_id: run,
    trace_id: run,
    session_id: session,
    is_root: true,
    score: 0.5,
    start_time: '2026-03-04T05:06:07.000008+00:00',
    feedback_source: { type: 'api', user_id: null },
  });
  expect((await reading.get(`/feedback/${id}`, 'b')).json).toEqual({ detail: `Feedback ID ${id} not found.` });
  expect((await reading.get(`/feedback?run=${run}`, 'b')).json).toEqual([]);
});

it('refers to comparative experiments of the workspace alone', async () => {
  const scored = async (comparative_experiment_id: string) =>
    reading.post('/feedback', { run_id: run, key: 'better', score: 1, comparative_experiment_id });
  const dataset = newId();
  const theirs = newId();
  const data = { dataset_id: dataset, experiment_ids: [], name: null, description: null, extra: null };
  const created = { ...data, created_at: '2026-01-01T00:00:00Z', modified_at: '2026-01-01T00:00:00Z' };
  const event = { type: 'ComparativeExperimentCreated', data: created };
  await reading.store.append(`comparativeExperiment-${theirs}`, 0, [event], { tenant: reading.tenants.b });
  for (const id of [theirs, newId()]) {
    expect(await scored(id)).toMatchObject({
      status: 404,
      json: { detail: `Comparative experiment ID ${id} not found.` },
    });
  }
});

it('has run_id and trace_id also when it is about a session', async () => {
  const id = await insert();
  expect((await reading.get(`/feedback/${id}`)).json).toMatchObject({
    run_id: null,
    trace_id: null,
    is_root: false,
    start_time: null,
  });
});

it('lists feedback by every member of the query, newest first', async () => {
  const at = (day: number) => `2026-01-0${day}T00:00:00Z`;
  await insert({ key: 'one', run_id: run, score: 1, created_at: at(1) });
  await insert({ key: 'two', comment: '"c"', source_type: 'model', created_at: at(2) });
  await insert({ key: 'a,b', run_id: run, score: 0, source_type: 'app', created_at: at(3) });
  expect(await keys('')).toEqual(['a,b', 'two', 'one']);
  expect(await keys('key=one&key=two')).toEqual(['two', 'one']);
  expect(await keys('key=a,b')).toEqual(['a,b']);
  expect(await keys(`run=${run}`)).toEqual(['a,b', 'one']);
  expect(await keys(`run=${newId()}`)).toEqual([]);
  expect(await keys('source=model&source=app')).toEqual(['a,b', 'two']);
  expect(await keys('has_comment=true')).toEqual(['two']);
  expect(await keys('has_score=false')).toEqual(['two']);
  expect(await keys('level=session')).toEqual(['two']);
  expect(await keys('level=run')).toEqual(['a,b', 'one']);
  expect(await keys('min_created_at=2026-01-02&max_created_at=2026-01-02T00:00:00')).toEqual(['two']);
  expect(await keys('limit=1&offset=1')).toEqual(['two']);
  expect(await keys('offset=3')).toEqual([]);
  expect(await keys(`user=${newId()}`)).toEqual([]);
  expect(await keys(`comparative_experiment_id=${newId()}`)).toEqual([]);
  const everywhere = await reading.get('/feedback?key=two');
  expect(everywhere.json.map((one: { session_id: string }) => one.session_id)).toContain(session);
  expect((await reading.get('/feedback?source=x&limit=0')).json.detail).toMatchObject([
    { loc: ['query', 'source', 0] },
    { loc: ['query', 'limit'] },
  ]);
});

describe('feedback that is added', () => {
  it('is answered, read back and counted in the statistics of its run and session', async () => {
    const before = Date.now();
    const added = await reading.post('/feedback', {
      run_id: run,
      key: 'quality',
      score: true,
      value: 'good',
      comment: 'well done',
      correction: { better: 1 },
      feedback_source: { type: 'model', metadata: { m: 1 } },
      feedback_config: { type: 'continuous', min: 0, max: 1 },
      created_at: '2026-01-01T00:00:00',
    });
    expect(added.status).toBe(200);
    expect(Object.keys(added.json)).toEqual(MEMBERS);
    expect(added.json).toMatchObject({
      run_id: run,
      session_id: session,
      score: true,
      value: 'good',
      feedback_source: { type: 'model' },
    });
    const { created_at: created, modified_at: modified, ...rest } = added.json;
    expect(created).toBe('2026-01-01T00:00:00.000000+00:00');
    // What is not said defaults to the time of the request, one by one.
    expect(Date.parse(modified)).toBeGreaterThanOrEqual(before);
    expect((await reading.get(`/feedback/${added.json.id}`)).json).toMatchObject(rest);
    await reading.post('/feedback', { session_id: session, key: 'overall', score: 0.25 });
    const statistics = { n: 1, avg: 1, stdev: 0, min: 1, max: 1, values: { good: 1 } };
    expect((await reading.get(`/runs/${run}`)).json.feedback_stats).toEqual({ quality: statistics });
    expect((await reading.get(`/sessions/${session}`)).json).toMatchObject({
      feedback_stats: { quality: statistics },
      session_feedback_stats: { overall: { n: 1, avg: 0.25 } },
    });
    const { rows: configs } = await reading.pool.query<{ config: string }>(
      'select config from feedback_configs where key = $1',
      ['quality'],
    );
    expect(configs).toEqual([{ config: '{"type":"continuous","min":0,"max":1}' }]);
  });

  it.each([
    'true',
    'false',
    '1e300',
    '0.10',
    '1.0',
    '-0.0',
    '1E-7',
    '1e-400',
    '0.1234567890123456789',
    '9007199254740992',
    '-9007199254740993',
    `1${'0'.repeat(30)}`,
    '0.5',
    '1',
  ])('gives the score %s back as it was sent', async (score) => {
    const added = await reading.post('/feedback', `{"run_id":"${run}","key":"exact","score":${score}}`);
    expect(added.status).toBe(200);
    expect(added.text).toContain(`"score":${score},`);
    expect((await reading.get(`/feedback/${added.json.id}`)).text).toContain(`"score":${score},`);
  });

  it('comes from the API unless it says otherwise, with the times that it says', async () => {
    const { json } = await reading.post('/feedback', { run_id: run, key: 'plain' });
    expect(json).toMatchObject({ feedback_source: { type: 'api' }, score: null, modified_at: json.created_at });
    const created_at = '2026-01-01T00:00:00Z';
    const modified_at = '2026-01-02T00:00:00Z';
    const dated = (await reading.post('/feedback', { run_id: run, key: 'dated', created_at, modified_at })).json;
    expect([dated.created_at, dated.modified_at].map((time) => Date.parse(time))).toEqual(
      [created_at, modified_at].map((time) => Date.parse(time)),
    );
  });

  it('keeps opaque members as they were sent', async () => {
    const value = '{"one": 1.0, "big":12345678901234567890, "nul":"\\u0000", "twice":1, "twice":2}';
    const body = `{"run_id":"${run}","key":"raw","value": ${value},"comment":"\\u0041\\ud800","correction":${value}}`;
    const added = await reading.post('/feedback', body);
    const read = await reading.get(`/feedback/${added.json.id}`);
    for (const { text } of [added, read]) {
      expect(text).toContain(`"value":${value},"comment":"\\u0041\\ud800","correction":${value},"`);
    }
  });

  it('is stored once when it is sent again with the same id', async () => {
    const feedback = { id: newId(), run_id: run, key: 'again', score: 1 };
    const answers = await Promise.all([reading.post('/feedback', feedback), reading.post('/feedback', feedback)]);
    const third = await reading.post('/feedback', feedback);
    for (const answer of [...answers, third]) expect(answer).toMatchObject({ status: 200, json: { id: feedback.id } });
    expect(await keys('key=again')).toEqual(['again']);
    const events = await reading.store.read(`experiment-${session}`);
    expect(events.filter(({ type }) => type === 'FeedbackAdded')).toHaveLength(1);
  });

  it('is refused for runs and sessions of others, and without one', async () => {
    expect((await reading.post('/feedback', { run_id: run, key: 'k' }, 'b')).json).toEqual({
      detail: `Run ID ${run} not found.`,
    });
    expect((await reading.post('/feedback', { session_id: session, key: 'k' }, 'b')).status).toBe(404);
    expect((await reading.post('/feedback', { key: 'k' })).status).toBe(400);
    expect((await reading.post('/feedback', { key: 'k', run_id: run, session_id: newId() })).status).toBe(400);
    const theirs = (await reading.post('/sessions', { name: `theirs ${newId()}` }, 'b')).json.id;
    const id = await reading.insert('feedback', rows.feedback(reading.tenants.b, theirs));
    expect((await reading.post('/feedback', { id, run_id: run, key: 'mine' })).json).toMatchObject({ id, run_id: run });
    expect((await reading.get(`/feedback/${id}`)).json).toMatchObject({ key: 'mine', session_id: session });
    expect((await reading.get(`/feedback/${id}`, 'b')).json).toMatchObject({ session_id: theirs });
    expect(
      (await reading.post('/feedback', { run_id: run, key: 'x'.repeat(181), score: 'high' })).json.detail,
    ).toMatchObject([
      { type: 'string_too_long', loc: ['body', 'key'] },
      { loc: ['body', 'score', 'float'] },
      { loc: ['body', 'score', 'int'] },
      { loc: ['body', 'score', 'bool'] },
    ]);
  });
});
