import { EventStore, newId, Quotas } from '@fairlead/eventing';
import { SessionCommands } from '@fairlead/runs';
import { until } from '@fairlead/postgres/testing';
import { Client } from 'pg';
import { startUploading, type Uploading } from '../testing/uploading';
import { MonitorLooks } from './monitor-looks.store';
import { MonitorCommands } from './monitor.commands';
import { MonitorsWorker } from './monitors.worker';

let service: Uploading;
beforeAll(async () => {
  service = await startUploading();
});
afterAll(() => service?.stop());

const MINUTE_MS = 60_000;

async function ask(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  return service.send(method, path, body ? [JSON.stringify(body)] : [], headers);
}

/** Sends runs of a project that began some minutes ago, and returns its id and theirs. */
async function runs(name: string, given: readonly { minutes?: number; seconds?: number; [member: string]: unknown }[]) {
  const post = given.map(({ minutes = 1, seconds = 1, ...members }) => {
    const start = Date.now() - minutes * MINUTE_MS;
    const times = {
      start_time: new Date(start).toISOString(),
      end_time: new Date(start + seconds * 1000).toISOString(),
    };
    return { id: newId(), session_name: name, name: 'agent', run_type: 'chain', inputs: {}, ...times, ...members };
  });
  expect((await ask('POST', '/runs/batch', { post })).status).toBe(202);
  await service.settled();
  const [project] = (await service.get(`/api/v1/sessions?name=${encodeURIComponent(name)}`)).json as [{ id: string }];
  return { project: project.id, ids: post.map(({ id }) => id) };
}
const failing = (count: number, minutes?: number) =>
  Array.from({ length: count }, () => ({ error: 'it broke', minutes }));
const fine = (count: number, more: object = {}) => Array.from({ length: count }, () => ({ ...more }));

const wanted = (project_id: string, more: object = {}) => ({
  ...{ name: 'errors', project_id, measure: 'error_rate', alerts_when: 'above', threshold: 0.2 },
  ...{ looks: 1, min_runs: 5 },
  ...more,
});
async function create(project: string, more?: object): Promise<string> {
  const { status, json } = await ask('POST', '/v1/monitors', wanted(project, more));
  expect([status, json]).toEqual([201, expect.anything()]);
  return json.id as string;
}
const find = async (id: string) => (await service.get(`/v1/monitors/${id}`)).json;
const eventsOf = async (id: string) => (await service.store.read(`monitor-${id}`)).map(({ type }) => type);

interface Shown {
  readonly state_since: string;
  readonly alerting_since: string | null;
  readonly last_look: { readonly value: number; readonly runs: number };
}

/** Lets a monitor be looked at now, again and again, until it has what is expected. */
async function look(id: string, expected: object) {
  return until(async () => {
    await service.pool.query('update monitor_looks set due_at = now() where monitor_id = $1', [id]);
    service.app.get(MonitorLooks).wake();
    const now = await find(id);
    const isSo = Object.entries(expected).every(([name, value]) => now[name] === value);
    // What a look has found is stored after the event of the state.
    const isStored = now.last_look !== null && (now.last_look.problem !== null) === (now.state === 'failing');
    return isSo && isStored ? (now as Shown) : undefined;
  });
}

describe('Monitors over HTTP', () => {
  let project: string;
  beforeAll(async () => {
    ({ project } = await runs('of http', fine(1)));
  });

  it('are created with defaults, found, listed, changed and deleted', async () => {
    const { name, measure, alerts_when, threshold } = wanted(project);
    const sent = { name, project_id: project, measure, alerts_when, threshold, enabled: false };
    const { status, json, headers } = await ask('POST', '/v1/monitors', sent);
    expect([status, headers.etag]).toEqual([201, '"1"']);
    expect(json).toEqual({
      ...{ id: expect.any(String), ...sent, revision_id: null, feedback_key: null, recovery_threshold: null },
      ...{ window_minutes: 60, looks: 3, min_runs: 20, state: 'not_enough_evidence', reason: null },
      ...{ alerting_since: null, last_look: null, state_since: json.created_at, updated_at: json.created_at },
      created_at: expect.any(String),
    });
    expect(await find(json.id)).toEqual(json);
    const other = await create((await runs('another', fine(1))).project, { enabled: false });
    expect((await service.get(`/v1/monitors?project_id=${project}`)).json).toEqual({ resources: [json], offset: 1 });
    expect((await service.get('/v1/monitors?limit=1')).headers.link).toContain('rel="next"');
    expect((await service.get('/v1/monitors', 'b')).json.resources).toEqual([]);

    const path = `/v1/monitors/${json.id}`;
    expect((await ask('PATCH', path, { threshold: 0.5 }, { 'if-match': '"7"' })).status).toBe(412);
    const changed = await ask('PATCH', path, { threshold: 0.5, window_minutes: 5 }, { 'if-match': '"1"' });
    expect([changed.status, changed.headers.etag]).toEqual([200, '"2"']);
    expect(changed.json).toMatchObject({ threshold: 0.5, window_minutes: 5, name: 'errors' });
    const fixed = await ask('PATCH', path, { measure: 'cost' });
    expect([fixed.status, fixed.json.detail]).toEqual([400, 'measure cannot be changed after creation.']);
    expect((await ask('DELETE', path)).status).toBe(204);
    expect((await service.get(path)).status).toBe(404);
    expect((await ask('DELETE', `/v1/monitors/${other}`)).status).toBe(204);
    await service.settled();
    expect((await service.get('/v1/monitors')).json.resources).toEqual([]);
    expect((await service.pool.query('select from monitor_looks')).rowCount).toBe(0);
  });

  it.each<[string, object, number]>([
    ['an unknown project', { project_id: newId() }, 404],
    ['a score without a key', { measure: 'score' }, 400],
    ['a recovery beyond the threshold', { recovery_threshold: 0.5 }, 400],
    ['a window of more than a week', { window_minutes: 10_081 }, 422],
    ['a threshold that is no number', { threshold: 'much' }, 422],
  ])('are not created with %s', async (_, wrong, expected) => {
    expect((await ask('POST', '/v1/monitors', { ...wanted(project), ...wrong })).status).toBe(expected);
  });

  it('belong to one workspace', async () => {
    const id = await create(project, { enabled: false });
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { name: 'mine' } : undefined;
      expect((await ask(method, `/v1/monitors/${id}`, body, { 'x-api-key': 'b' })).status).toBe(404);
    }
    expect((await ask('POST', '/v1/monitors', wanted(project), { 'x-api-key': 'b' })).status).toBe(404);
    await ask('DELETE', `/v1/monitors/${id}`);
  });

  it('are at most as many as the workspace may have', async () => {
    const quotas = service.app.get<Quotas, { limits: { monitors: number } }>(Quotas);
    const { limits } = quotas;
    quotas.limits = { ...limits, monitors: 1 };
    try {
      const id = await create(project, { enabled: false });
      const { status, json } = await ask('POST', '/v1/monitors', wanted(project));
      expect([status, json.detail]).toEqual([409, expect.stringContaining('QUOTA_MONITORS')]);
      await ask('DELETE', `/v1/monitors/${id}`);
    } finally {
      quotas.limits = limits;
    }
  });
});

describe('What a monitor measures', () => {
  const usage = (total_cost: number) => ({ outputs: { usage_metadata: { total_tokens: 1, total_cost } } });

  it.each<[string, object, number]>([
    ['errors of runs in the window', { measure: 'error_rate' }, 0.25],
    ['cost in the window', { measure: 'cost' }, 1],
    ['median of the latency', { measure: 'latency_p50' }, 3],
    ['99th percentile of the latency', { measure: 'latency_p99' }, 9.82],
  ])('%s', async (what, more, value) => {
    const { project } = await runs(`measured ${what}`, [
      ...[{ error: 'it broke' }, { seconds: 2, ...usage(0.25) }, { seconds: 4, ...usage(0.75) }, { seconds: 10 }],
      { minutes: 70, error: 'too old', ...usage(100), seconds: 1000 },
      { minutes: 1, seconds: 1, extra: { metadata: { revision_id: 'other' } }, session_name: `${what} elsewhere` },
    ]);
    const id = await create(project, { min_runs: 4, threshold: value + 0.1, ...more });
    const { last_look } = await look(id, { state: 'ok' });
    expect(last_look).toEqual({ at: expect.any(String), value: expect.closeTo(value, 5), runs: 4, problem: null });
    // A long window is counted in hours.
    const long = await create(project, { min_runs: 5, threshold: -1, window_minutes: 10_080, ...more });
    expect((await look(long, { state: 'alerting' })).last_look.runs).toBe(5);
  });

  it('scores of runs, of one revision where that is named', async () => {
    const named = { extra: { metadata: { revision_id: 'r1' } } };
    const { project, ids } = await runs('scored', [...fine(3), ...fine(2, named)]);
    for (const [index, score] of [1, 1, 1, 0, 0.5].entries()) {
      await ask('POST', '/api/v1/feedback', { run_id: ids[index], key: 'correct', score });
      await ask('POST', '/api/v1/feedback', { run_id: ids[index], key: 'other', score: 9 });
    }
    await service.settled();
    const score = { measure: 'score', feedback_key: 'correct', alerts_when: 'below', threshold: 0.5, min_runs: 2 };
    const all = await create(project, score);
    expect((await look(all, { state: 'ok' })).last_look).toMatchObject({ value: 0.7, runs: 5 });
    const one = await create(project, { ...score, revision_id: 'r1' });
    expect((await look(one, { state: 'alerting' })).last_look).toMatchObject({ value: 0.25, runs: 2 });
  });
});

describe('Looks', () => {
  it('change the state, and what changes is in the log once', async () => {
    const { project } = await runs('changing', fine(3));
    const id = await create(project);
    await look(id, { state: 'not_enough_evidence' });
    await runs('changing', fine(6));
    await look(id, { state: 'ok' });
    await runs('changing', failing(20));
    const alerting = await look(id, { state: 'alerting' });
    expect(alerting.alerting_since).toBe(alerting.state_since);
    await runs('changing', fine(200));
    await look(id, { state: 'ok', alerting_since: null });
    expect(await eventsOf(id)).toEqual([
      ...['MonitorCreated', 'MonitorStateChanged', 'MonitorAlerted', 'MonitorRecovered'],
    ]);
  });

  it('of several processes at a time make one event of one transition', async () => {
    const { project } = await runs('of many', failing(20));
    const store = service.app.get(EventStore);
    const looks = new MonitorLooks(service.pool);
    const commands = new MonitorCommands(store, service.app.get(Quotas));
    const given = [service.app.get(SessionCommands), store, service.pool] as const;
    const other = new MonitorsWorker(looks, commands, ...given);
    other.onApplicationBootstrap();
    const ids = await Promise.all(Array.from({ length: 6 }, () => create(project)));
    // As if each lease ended while its process looks.
    const takeAway = async () => {
      const taken = 'update monitor_looks set due_at = now(), holder = null, leased_until = null';
      await service.pool.query(`${taken} where monitor_id = any($1)`, [ids]);
      looks.wake();
    };
    for (const id of ids) {
      await until(async () => {
        await takeAway();
        return (await find(id)).state === 'alerting';
      });
    }
    for (let more = 0; more < 10; more++) await takeAway();
    await other.onApplicationShutdown();
    for (const id of ids) expect(await eventsOf(id)).toEqual(['MonitorCreated', 'MonitorAlerted']);
    for (const id of ids) await ask('DELETE', `/v1/monitors/${id}`);
  });

  it('that take too long say so, change no verdict, and do not hold up others', async () => {
    const { project, ids } = await runs('slow', failing(10));
    for (const run_id of ids.slice(0, 5)) await ask('POST', '/api/v1/feedback', { run_id, key: 'ok', score: 0 });
    await service.settled();
    const score = { measure: 'score', feedback_key: 'ok', alerts_when: 'below', threshold: 0.5 };
    const slow = await create(project, score);
    await look(slow, { state: 'alerting' });
    const held = new Client({ connectionString: service.url });
    await held.connect();
    await held.query('begin');
    await held.query('lock table feedback in access exclusive mode');
    const other = await create(project);
    await look(other, { state: 'alerting' });
    const failed = await look(slow, { state: 'failing' });
    expect(failed).toMatchObject({
      reason: 'It took longer than 5 seconds: choose a shorter window.',
      last_look: { value: null, runs: null, problem: 'It took longer than 5 seconds: choose a shorter window.' },
      alerting_since: expect.any(String),
    });
    await held.end();
    await look(slow, { state: 'alerting', reason: null, alerting_since: failed.alerting_since });
    expect(await eventsOf(slow)).toEqual([
      ...['MonitorCreated', 'MonitorAlerted', 'MonitorStateChanged', 'MonitorStateChanged'],
    ]);
  });

  it('are not made while it is paused, and again when it is not', async () => {
    const { project } = await runs('paused', failing(10));
    const id = await create(project, { enabled: false });
    const due = async () => {
      const text = 'select due_at is null as rests from monitor_looks where monitor_id = $1';
      return (await service.pool.query<{ rests: boolean }>(text, [id])).rows[0]?.rests;
    };
    await until(due);
    expect(await find(id)).toMatchObject({ state: 'not_enough_evidence', last_look: null });
    await ask('PATCH', `/v1/monitors/${id}`, { enabled: true });
    await look(id, { state: 'alerting' });
  });

  it('end a monitor whose project is deleted, paused or not', async () => {
    const { project } = await runs('deleted', fine(10));
    const ids = [await create(project), await create(project, { enabled: false })];
    await look(ids[0]!, { state: 'ok' });
    expect((await ask('DELETE', `/api/v1/sessions/${project}`)).status).toBeLessThan(300);
    for (const id of ids) {
      await until(async () => (await service.get(`/v1/monitors/${id}`)).status === 404);
      const [last] = (await service.store.read(`monitor-${id}`)).slice(-1);
      expect(last).toMatchObject({ type: 'MonitorDeleted', data: { reason: 'project deleted', project_id: project } });
    }
    await service.settled();
    expect((await service.pool.query('select from monitors where project_id = $1', [project])).rowCount).toBe(0);
  });
});
