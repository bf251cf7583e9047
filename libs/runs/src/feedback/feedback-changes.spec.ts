import { transaction } from '@fairlead/postgres';
import { v4 as newId } from 'uuid';
import { type Reading, rows, startReading } from '@fairlead/experiments/testing';
import { applyFeedbackChanges } from './feedback-changes.projection';

let reading: Reading;
let session: string;
let run: string;
beforeAll(async () => (reading = await startReading()));
beforeEach(async () => {
  session = (await reading.post('/sessions', { name: `scored ${newId()}` })).json.id;
  run = await reading.insert('runs', rows.run(reading.tenants.a, session));
});
afterAll(() => reading.stop());

const given = async (members: object): Promise<string> =>
  (await reading.post('/feedback', { run_id: run, key: 'correct', ...members })).json.id;
const types = async () => (await reading.store.read(`experiment-${session}`)).map(({ type }) => type);
const statistics = async () => (await reading.get(`/sessions/${session}?include_stats=true`)).json.feedback_stats;

it('changes what is sent, keeps the rest, and the statistics follow', async () => {
  const id = await given({ score: true, comment: 'first', value: 'yes' });
  const changed = await reading.send('PATCH', `/feedback/${id}`, { score: 0.25, correction: { a: 1 }, value: null });
  expect(changed).toMatchObject({ status: 200, json: { id, score: 0.25, comment: 'first', value: 'yes' } });
  const read = await reading.get(`/feedback/${id}`);
  expect(read.text).toBe(changed.text);
  expect(read.json).toMatchObject({ score: 0.25, correction: { a: 1 }, comment: 'first', run_id: run });
  expect(read.json.modified_at > read.json.created_at).toBe(true);
  expect(await statistics()).toMatchObject({ correct: { n: 1, avg: 0.25 } });
  expect(await types()).toEqual(['SessionCreated', 'FeedbackAdded', 'FeedbackChanged']);
  await reading.send('PATCH', `/feedback/${id}`, {});
  expect(await types()).toHaveLength(3);
});

it('deletes for good: the id is not used again', async () => {
  const id = await given({ score: 1 });
  expect(await reading.send('DELETE', `/feedback/${id}`)).toMatchObject({ status: 200, json: {} });
  expect((await reading.get(`/feedback/${id}`)).status).toBe(404);
  expect((await reading.send('DELETE', `/feedback/${id}`)).json).toEqual({ detail: `Feedback ID ${id} not found.` });
  expect(await statistics()).toEqual({});
  expect(await reading.post('/feedback', { id, run_id: run, key: 'correct', score: 1 })).toMatchObject({
    status: 409,
    json: { detail: `Feedback ID ${id} was deleted and cannot be used again.` },
  });
});

it('refuses what is wrong, and the feedback of another workspace', async () => {
  const id = await given({ score: 1 });
  expect((await reading.send('PATCH', `/feedback/${id}`, { score: 'high' })).status).toBe(422);
  expect((await reading.send('PATCH', `/feedback/${id}`, { score: 0 }, 'b')).status).toBe(404);
  expect((await reading.send('DELETE', `/feedback/${id}`, undefined, 'b')).status).toBe(404);
  expect((await reading.get(`/feedback/${id}`)).json.score).toBe(1);
});

it('is remembered for rows that are stored anew', async () => {
  const [kept, gone] = [await given({ score: 1 }), await given({ score: 1 })];
  await reading.send('PATCH', `/feedback/${kept}`, { score: 0.5 });
  await reading.send('PATCH', `/feedback/${kept}`, { comment: 'later' });
  await reading.send('DELETE', `/feedback/${gone}`);
  await reading.get(`/feedback/${kept}`);
  await reading.pool.query('delete from feedback where session_id = $1', [session]);
  const row = rows.feedback(reading.tenants.a, session, { run_id: run, score: 1 });
  for (const id of [kept, gone]) await reading.insert('feedback', { ...row, id });
  await transaction(reading.pool, (tx) => applyFeedbackChanges(tx, reading.tenants.a, session));
  expect((await reading.get(`/feedback/${kept}`)).json).toMatchObject({ score: 0.5, comment: 'later' });
  expect((await reading.get(`/feedback/${gone}`)).status).toBe(404);
});

it('keeps configurations of keys, which say how scores are read', async () => {
  const [key, config] = [`key ${newId()}`, { type: 'continuous', min: 0, max: 10 }];
  const wanted = { feedback_key: key, feedback_config: config, is_lower_score_better: true };
  const made = await reading.post('/feedback-configs', wanted);
  expect(made).toMatchObject({ status: 200, json: { ...wanted, tenant_id: reading.tenants.a } });
  expect((await reading.post('/feedback-configs', wanted)).json).toMatchObject(wanted);
  expect((await reading.post('/feedback-configs', { ...wanted, is_lower_score_better: false })).status).toBe(400);
  const listed = async (search = '') => (await reading.get(`/feedback-configs?${search}`)).json as object[];
  expect(await listed(`key=${encodeURIComponent(key)}`)).toEqual([made.json]);
  expect(await listed('key=another')).toEqual([]);
  expect(await listed(`name_contains=${encodeURIComponent(key.toUpperCase())}`)).toHaveLength(1);
  const changed = await reading.send('PATCH', '/feedback-configs', { feedback_key: key, is_lower_score_better: false });
  expect(changed.json).toMatchObject({ feedback_config: config, is_lower_score_better: false });
  expect(await listed()).toEqual([changed.json]);
  expect((await reading.send('PATCH', '/feedback-configs', { feedback_key: key }, 'b')).status).toBe(404);
  expect((await reading.send('DELETE', `/feedback-configs?feedback_key=${encodeURIComponent(key)}`)).status).toBe(200);
  expect(await listed()).toEqual([]);
});

it('takes a configuration back that an upload has replaced', async () => {
  const wanted = { feedback_key: `key ${newId()}`, feedback_config: { type: 'continuous', min: 0, max: 10 } };
  await reading.post('/feedback-configs', wanted);
  await reading.pool.query('update feedback_configs set config = $3 where tenant_id = $1 and key = $2', [
    ...[reading.tenants.a, wanted.feedback_key, '{"type":"freeform"}'],
  ]);
  const { json } = await reading.send('PATCH', '/feedback-configs', wanted);
  expect(json.feedback_config).toEqual(wanted.feedback_config);
  const search = `/feedback-configs?key=${encodeURIComponent(wanted.feedback_key)}`;
  expect((await reading.get(search)).json).toEqual([json]);
});

it('answers where a person can look at a run', async () => {
  const { tenants } = reading;
  const path = `/o/${tenants.a}/projects/p/${session}/r/${run}`;
  const url = (id: string, trace: string) => `/api/v2/runs/${id}/url?project_id=${session}&trace_id=${trace}`;
  const answer = await reading.get(url(run, run));
  expect(answer.json.url).toMatch(new RegExp(`^http://[^/]+${path}\\?trace_id=${run}$`));
  expect((await reading.get(`/runs/${run}`)).json.app_path).toBe(path);
  expect((await reading.get(url(run, newId()))).status).toBe(404);
  expect((await reading.get(url(run, run), 'b')).status).toBe(404);
});
