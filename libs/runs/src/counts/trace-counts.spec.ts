import { v4 as newId } from 'uuid';
import type { Recorded } from '@fairlead/eventing';
import { transaction } from '@fairlead/postgres';
import { until } from '@fairlead/postgres/testing';
import { experimentsView } from '@fairlead/experiments';
import { LiveRuns } from '../batch/live-runs.consumer';
import { DeletedSessions } from '../session/deleted-sessions.consumer';
import { refreshRunStats } from './run-stats.projection';
import { Recounts } from './recounts.worker';
import { TraceCounts } from './trace-counts.projection';
import { RunBatches } from '../batch/run-batches.store';
import { startReading } from '@fairlead/evaluation/testing';
import { type Reading, rows } from '@fairlead/experiments/testing';
import * as fc from 'fast-check';

let reading: Reading;
beforeAll(async () => {
  reading = await startReading();
});
afterAll(() => reading.stop());

const HOUR_MS = 3_600_000;
const MEMBERS = [
  ...['prompt_tokens', 'completion_tokens', 'total_tokens', 'prompt_cost', 'completion_cost', 'total_cost'],
] as const;

interface Run extends Readonly<Record<string, string | null>> {
  readonly id: string;
  readonly session_id: string;
  readonly start: string;
  readonly end: string | null;
}

/** The counts of sessions, computed run by run: a line for each row that the table has to have. */
async function naive(sessions: readonly string[]): Promise<string[]> {
  const { rows: all } = await reading.pool.query<Run>(
    `select id, session_id, parent_run_id, trace_id, status, extract(epoch from start_time) * 1000000 as start,
       extract(epoch from end_time) * 1000000 as end, ${MEMBERS.map((name) => `${name}::text`).join(', ')}
     from runs where session_id = any($1::uuid[])`,
    [sessions],
  );
  const byId = new Map(all.map((run) => [run.id, run]));
  const says = (run: Run) => run.total_tokens !== null || run.total_cost !== null;
  const sums = new Map<string, number[]>();
  for (const run of all) {
    const isRoot = run.parent_run_id === null;
    const above = [run.parent_run_id, run.trace_id].flatMap((id) => byId.get(id ?? '') ?? []);
    const counts =
      says(run) && !above.some((one) => one.id !== run.id && one.session_id === run.session_id && says(one));
    if (!isRoot && !counts) continue;
    const start = Number(run.start) / 1000;
    const latency = run.end === null ? null : Math.max(0, Number(run.end) - Number(run.start)) / 1e6;
    const bucket = !isRoot || latency === null ? -1 : bucketOf(latency);
    const values = [
      ...[Number(isRoot), Number(isRoot && run.status === 'error')],
      ...MEMBERS.map((name) => (counts ? Number(run[name] ?? 0) : 0)),
      ...MEMBERS.map((name) => Number(counts && run[name] !== null)),
    ];
    const hour = Math.floor(start / HOUR_MS) * HOUR_MS;
    const day = Math.floor(start / 24 / HOUR_MS) * 24 * HOUR_MS;
    for (const unit of [`hour ${hour}`, `day ${day}`, 'all -Infinity']) {
      const key = `${run.session_id} ${unit} ${bucket}`;
      const known = sums.get(key) ?? values.map(() => 0);
      sums.set(
        key,
        known.map((sum, nth) => sum + values[nth]!),
      );
    }
  }
  return [...sums].flatMap(([key, values]) => (values.some((one) => one !== 0) ? line(key, values) : [])).sort();
}

const line = (key: string, values: readonly number[]) =>
  `${key}: ${values.map((one) => Number(one.toFixed(6))).join(' ')}`;

function bucketOf(seconds: number): number {
  let bucket = 0;
  while (bucket < 219 && Number((0.001 * 2 ** (bucket / 8)).toPrecision(6)) <= seconds) bucket++;
  return bucket;
}

async function stored(sessions: readonly string[]): Promise<string[]> {
  const { rows: found } = await reading.pool.query<Record<string, string>>(
    `select *, extract(epoch from time) * 1000 as at from trace_counts where session_id = any($1::uuid[])`,
    [sessions],
  );
  return found
    .map((row) => {
      const values = ['runs', 'errors', ...MEMBERS, ...MEMBERS.map((name) => `${name}_known`)].map((name) =>
        Number(row[name]),
      );
      return line(`${row.session_id} ${row.unit} ${Number(row.at)} ${row.bucket}`, values);
    })
    .sort();
}

async function allEvents(): Promise<Recorded[]> {
  const stop = new AbortController();
  const head = await reading.store.head();
  const events: Recorded[] = [];
  for await (const batch of reading.store.subscribe(0n, stop.signal)) {
    events.push(...batch.events);
    if (batch.position >= head) break;
  }
  stop.abort();
  return events;
}

/** Applies events as the followers do, which have applied them already. */
async function apply(events: readonly Recorded[]): Promise<void> {
  const view = experimentsView();
  const own = events.filter(({ stream }) => view.categories!.includes(stream.split('-')[0]!));
  await transaction(reading.pool, (tx) => view.handle(own, tx));
  const liveRuns = new LiveRuns(reading.store, reading.pool, new RunBatches(reading.pool));
  const received = events.filter(({ type }) => type === 'RunsReceived');
  await transaction(reading.pool, (tx) => liveRuns.handle(received, tx));
}

/** A change of run `run` of a trial; times are hours of a few days, in which many runs meet. */
const change = fc.record({
  run: fc.nat(11),
  session: fc.nat(1),
  members: fc.record(
    {
      start_time: fc.nat(30).map((n) => new Date(Date.UTC(2026, 0, 30) + n * 0.9 * HOUR_MS).toISOString()),
      end_time: fc.nat(60).map((n) => new Date(Date.UTC(2026, 0, 30) + n * 0.45 * HOUR_MS).toISOString()),
      error: fc.constant('it broke'),
      parent: fc.nat(11),
      trace: fc.nat(11),
      outputs: fc.constantFrom(
        ...[{ input_tokens: 1, output_tokens: 2 }, { total_tokens: 5, total_cost: 0.25 }, { input_tokens: 0 }, {}],
      ),
    },
    { requiredKeys: [] },
  ),
});

it('The counts of sessions are those of their runs, however these are sent, changed, repeated and replayed', async () => {
  const cases = fc.asyncProperty(
    fc.array(fc.array(change, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 }),
    async (batches) => {
      const ids = Array.from({ length: 12 }, () => newId());
      const names = [newId(), newId()];
      const known = new Set<number>();
      for (const batch of batches) {
        const post: object[] = [];
        const patch: object[] = [];
        for (const { run, session, members } of batch) {
          const { parent, trace, outputs, ...plain } = members;
          const body = {
            ...{ ...plain, id: ids[run], session_name: names[session] },
            // A run that is above itself would be refused.
            ...(parent !== undefined && parent !== run && { parent_run_id: ids[parent] }),
            ...(trace !== undefined && { trace_id: ids[trace] }),
            ...(outputs !== undefined && { outputs: { usage_metadata: outputs } }),
          };
          (known.has(run) ? patch : post).push(body);
          known.add(run);
        }
        const sent = await reading.post('/runs/batch', { post, patch });
        expect(sent.status).toBe(202);
      }
      const query = names.map((name) => `name=${name}`);
      const found = await Promise.all(query.map(async (one) => (await reading.get(`/sessions?${one}`)).json));
      const sessions = found.flat().map(({ id }: { id: string }) => id);
      const right = await naive(sessions);
      expect(await stored(sessions)).toEqual(right);
    },
  );
  await fc.assert(cases, { numRuns: 60 });

  const events = await allEvents();
  const { rows: all } = await reading.pool.query<{ id: string }>('select id from sessions');
  const sessions = all.map(({ id }) => id);
  const before = await stored(sessions);
  expect(before.length).toBeGreaterThan(100);
  await apply(events);
  expect(await stored(sessions)).toEqual(await naive(sessions));
  await reading.pool.query('truncate runs, sessions, feedback, trace_counts');
  for (let at = 0; at < events.length; at += 7) await apply(events.slice(at, at + 7));
  expect(await stored(sessions)).toEqual(before);
});

const statistics = async (session: string) => (await reading.get(`/sessions/${session}`)).json;

it('Statistics of many runs come from the counts, close to what is exact', async () => {
  const session = await reading.insert('sessions', rows.session(reading.tenants.a));
  await reading.pool.query(
    `insert into runs (id, tenant_id, session_id, name, run_type, start_time, end_time, status, error, total_tokens, total_cost, row_number)
     select gen_random_uuid(), $1, $2, 'r', 'chain', s, s + interval '1 s' * power(random(), 4) * 300,
       case when n % 10 = 0 then 'error' else 'success' end, case when n % 10 = 0 then '"e"' end, 3, 0.001, 0
     from generate_series(1, 12000) n cross join lateral (select timestamptz '2026-01-01' + n * interval '1 min' as s) start`,
    [reading.tenants.a, session],
  );
  const one = { id: newId(), session_id: session, start_time: '2026-02-01T00:00:00Z' };
  expect((await reading.post('/runs', one)).status).toBe(202);
  const exact = async () =>
    (
      await reading.pool.query<Record<'p50' | 'p99' | 'rate', number>>(
        `select percentile_cont(0.5) within group (order by l) as p50, percentile_cont(0.99) within group (order by l) as p99,
           avg((status = 'error')::int)::float8 as rate
         from (select *, extract(epoch from end_time - start_time)::float8 as l from runs where session_id = $1) r`,
        [session],
      )
    ).rows[0]!;
  const near = async () => {
    const [found, right] = [await statistics(session), await exact()];
    expect(Math.abs(found.latency_p50 / right.p50 - 1)).toBeLessThan(0.05);
    expect(Math.abs(found.latency_p99 / right.p99 - 1)).toBeLessThan(0.05);
    expect(found.error_rate).toBeCloseTo(right.rate, 10);
    return found;
  };
  expect(await near()).toMatchObject({
    run_count: 12_001,
    total_tokens: 36_000,
    total_cost: '12',
    prompt_tokens: null,
  });
  const outputs = { usage_metadata: { total_tokens: 7 } };
  await reading.send('PATCH', `/runs/${one.id}`, { end_time: '2026-02-01T00:00:09Z', error: 'late', outputs });
  const last_run_start_time = '2026-02-01T00:00:00.000000+00:00';
  expect(await near()).toMatchObject({ run_count: 12_001, total_tokens: 36_007, last_run_start_time });
  expect(await stored([session])).toEqual(await naive([session]));
});

it('Counts are made anew when a process that keeps none has changed the statistics', async () => {
  const session_name = newId();
  const send = (members: object) => reading.post('/runs', { id: newId(), session_name, ...members });
  await send({});
  const [{ id }] = (await reading.get(`/sessions?name=${session_name}`)).json as [{ id: string }];
  await reading.insert('runs', rows.run(reading.tenants.a, id));
  await reading.pool.query('update sessions set run_count = 2, latency_p50 = 1 where id = $1', [id]);
  await send({});
  expect(await statistics(id)).toMatchObject({ run_count: 3 });
  expect(await stored([id])).toEqual(await naive([id]));
});

it('A session that is deleted has no counts any more', async () => {
  const session_name = newId();
  await reading.post('/runs', { id: newId(), session_name });
  const [{ id }] = (await reading.get(`/sessions?name=${session_name}`)).json as [{ id: string }];
  expect(await stored([id])).not.toEqual([]);
  expect((await reading.send('DELETE', `/sessions/${id}`)).status).toBe(200);
  expect((await reading.get(`/sessions/${id}`)).status).toBe(404);
  expect(await stored([id])).toEqual([]);
});

/** Inserts root runs, one a second, some with a run below them that says what both used. */
async function insertRuns(session: string, count: number): Promise<void> {
  await reading.pool.query(
    `with roots as (
       insert into runs (id, tenant_id, session_id, name, run_type, start_time, end_time, status, row_number)
       select gen_random_uuid(), $1, $2, 'r', 'chain', s, s + interval '1 s' * (n % 7), 'success', 0
       from generate_series(1, $3::int) n cross join lateral (select timestamptz '2026-01-01' + n * interval '1 s' as s) start
       returning id, start_time)
     insert into runs (id, tenant_id, session_id, name, run_type, start_time, status, parent_run_id, trace_id, total_tokens, row_number)
     select gen_random_uuid(), $1, $2, 'below', 'llm', start_time, 'success', id, id, 3, 0
     from roots where extract(second from start_time)::int % 10 = 0`,
    [reading.tenants.a, session, count],
  );
}

it('A large session is counted anew in several transactions, while its runs change', async () => {
  const session = await reading.insert('sessions', rows.session(reading.tenants.a));
  await insertRuns(session, 25_000);
  const goOn = (ms = 0) =>
    transaction(reading.pool, (tx) => refreshRunStats(tx, reading.tenants.a, session, new TraceCounts(), ms));
  const isCounted = async () =>
    (await reading.pool.query('select from trace_recounts where session_id = $1', [session])).rowCount === 0;
  const change = async (at: string, members: object) => {
    const text = `select id from runs where session_id = $1 and parent_run_id is null and start_time >= $2
      order by start_time, id limit 1`;
    const { rows: found } = await reading.pool.query<{ id: string }>(text, [session, at]);
    expect((await reading.send('PATCH', `/runs/${found[0]!.id}`, members)).status).toBe(202);
  };
  await goOn();
  expect(await isCounted()).toBe(false);
  expect(await statistics(session)).toMatchObject({ run_count: 0 });
  // On both sides of the place that is reached, and from one side to the other.
  const usage = { outputs: { usage_metadata: { total_tokens: 100 } } };
  await change('2026-01-01T00:10:00Z', { error: 'early', ...usage });
  await change('2026-01-01T06:00:00Z', { error: 'late', ...usage });
  await change('2026-01-01T00:20:00Z', { start_time: '2026-01-01T06:20:00Z' });
  await change('2026-01-01T06:10:00Z', { start_time: '2026-01-01T00:00:00Z' });
  await statistics(session);
  // A process that keeps no counts stores statistics.
  await reading.pool.query('update sessions set run_count = 1 where id = $1', [session]);
  await goOn();
  expect(await isCounted()).toBe(false);
  await change('2026-01-01T00:30:00Z', { error: 'early' });
  const recounts = new Recounts(reading.pool);
  recounts.start();
  await until(isCounted);
  await recounts.stop();
  expect(await stored([session])).toEqual(await naive([session]));
  expect(await statistics(session)).toMatchObject({ run_count: 25_000, error_rate: 3 / 25_000 });
});

it('A large session that is deleted is gone at once, and its rows go after it', async () => {
  expect((await reading.post('/runs', { id: newId(), session_name: 'large' })).status).toBe(202);
  const [{ id: session }] = (await reading.get('/sessions?name=large')).json as [{ id: string }];
  await insertRuns(session, 3000);
  const { a } = reading.tenants;
  const { rows: runs } = await reading.pool.query<{ id: string }>(
    'select id from runs where session_id = $1 and parent_run_id is null and name = $2 order by start_time desc limit 2',
    [session, 'r'],
  );
  const [one, other] = runs.map(({ id }) => id) as [string, string];
  await reading.pool.query(
    `insert into feedback (id, tenant_id, session_id, run_id, key, score, source_type, created_at, modified_at)
     select gen_random_uuid(), $1, $2, id, 'ok', 1, 'api', now(), now() from runs where session_id = $2`,
    [a, session],
  );
  const { rows: given } = await reading.pool.query<{ id: string }>(
    'select id from feedback where run_id = $1 union all select id from feedback where run_id = $2',
    [one, other],
  );
  const left = async () => {
    const count = (table: string) => `(select count(*)::int from ${table} where session_id = $1)`;
    const text = `select ${count('runs')} as runs, ${count('feedback')} as feedback`;
    return (await reading.pool.query<{ runs: number; feedback: number }>(text, [session])).rows[0]!;
  };
  expect((await reading.send('DELETE', `/sessions/${session}`)).status).toBe(200);
  expect((await reading.get(`/sessions/${session}`)).status).toBe(404);
  expect(await left()).toEqual({ runs: 2301, feedback: 2301 });
  const { rows: still } = await reading.pool.query('select id from runs where id = any($1::uuid[])', [[one, other]]);
  expect(still).toHaveLength(2);

  for (const path of [
    ...[`/runs/${one}`, `/feedback/${given[0]!.id}`, `/v1/projects/${session}/traces`],
    ...[`/v1/projects/${session}/traces/${one}`, `/runs/${one}/share`],
  ])
    expect([path, (await reading.get(path)).status]).toEqual([path, 404]);
  expect((await reading.post('/runs/query', { id: [one] })).json.runs).toEqual([]);
  expect((await reading.get(`/feedback?run=${one}`)).json).toEqual([]);
  expect((await reading.post('/feedback', { run_id: one, key: 'ok', score: 1 })).status).toBe(404);

  // Another session may have a run and feedback of these ids already.
  const session_name = newId();
  expect((await reading.post('/runs', { id: one, name: 'again', session_name })).status).toBe(202);
  expect((await reading.get(`/runs/${one}`)).json).toMatchObject({ name: 'again', feedback_stats: {} });
  expect((await reading.post('/feedback', { id: given[0]!.id, run_id: one, key: 'ok', score: 0 })).status).toBe(200);
  expect((await reading.post('/feedback', { id: given[1]!.id, run_id: one, key: 'ok', score: 0 })).status).toBe(200);
  expect((await reading.get(`/runs/${one}`)).json).toMatchObject({ feedback_stats: { ok: { n: 2, avg: 0 } } });

  const deleted = (await allEvents()).filter(
    ({ type, stream }) => type === 'SessionDeleted' && stream.endsWith(session),
  );
  const deletions = new DeletedSessions(reading.store, reading.pool);
  for (let time = 0; time < 2; time++) {
    await transaction(reading.pool, (tx) => deletions.handle(deleted, tx));
    expect(await left()).toEqual({ runs: 0, feedback: 0 });
  }
  expect((await reading.get(`/runs/${one}`)).json).toMatchObject({ feedback_stats: { ok: { n: 2, avg: 0 } } });
});
