import { randomUUID } from 'node:crypto';
import { type Reading, rows, startReading } from '../testing/reading';

let reading: Reading;
let a: string;
let dataset: string;
let examples: string[];
const [first, second, unknown] = [randomUUID(), randomUUID(), randomUUID()];

beforeAll(async () => {
  reading = await startReading();
  a = reading.tenants.a;
  dataset = await reading.insert('datasets', rows.dataset(a));
  examples = [];
  for (let i = 0; i < 4; i++) examples.push(await reading.insert('examples', rows.example(a, dataset)));
});
afterAll(() => reading.stop());

const scores = (more: string, tenant?: 'a' | 'b') => reading.get(`/api/v1/revisions/scores?${more}`, tenant);
const named = (revision: string) => JSON.stringify({ revision_id: revision });
const inMetadata = (revision: string) => JSON.stringify({ metadata: { revision_id: revision } });

/** An experiment with one score per row, whose statistics are those of its runs. */
async function experiment(revision: string, given: readonly number[], row: object = {}): Promise<string> {
  const [n, avg] = [given.length, given.reduce((sum, one) => sum + one, 0) / given.length];
  const feedback_stats = JSON.stringify({ ok: { n, avg, stdev: 0, min: 0, max: 1, values: {} } });
  const about = { reference_dataset_id: dataset, metadata: named(revision), run_count: n, feedback_stats };
  const session = await reading.insert('sessions', rows.session(a, { ...about, ...row }));
  for (const [index, score] of given.entries()) {
    const at = { dataset_id: dataset, example_id: examples[index], row_number: index, extra: inMetadata(revision) };
    const run = await reading.insert('runs', rows.run(a, session, at));
    await reading.insert('feedback', rows.feedback(a, session, { run_id: run, key: 'ok', score }));
  }
  return session;
}

describe('Scores of revisions', () => {
  const used = { latency_p50: 2, error_rate: 0.25, total_tokens: '400', total_cost: '0.04' };
  const sessions: string[] = [];

  beforeAll(async () => {
    sessions.push(await experiment(first, [1, 1, 1, 0], used));
    const later = { start_time: '2026-02-01T00:00:00Z' };
    const half = { ...used, ...later, latency_p50: 5, error_rate: 1, total_tokens: '10' };
    sessions.push(await experiment(first, [0, 0], half));
    sessions.push(await experiment(second, [1], { ...later, persisted: false }));
    const project = await reading.insert('sessions', rows.session(a));
    for (const place of [0, 1, 2]) {
      const start = `2026-01-01T00:0${place}:00Z`;
      const times = { start_time: start, end_time: `2026-01-01T00:0${place}:0${place + 1}Z` };
      const status = place === 2 ? 'error' : 'success';
      const run = await reading.insert('runs', rows.run(a, project, { ...times, status, extra: inMetadata(first) }));
      const below = { ...times, parent_run_id: run, trace_id: run, extra: inMetadata(first) };
      if (place > 0)
        await reading.insert('runs', rows.run(a, project, { ...below, total_tokens: 10, total_cost: 0.5 }));
      await reading.insert('feedback', rows.feedback(a, project, { run_id: run, key: 'thumb', score: place }));
    }
    sessions.push(project);
  });

  it('are those of the experiments that name them, and of their live runs', async () => {
    const { status, json } = await scores(`revision_ids=${first}&revision_ids=${second},${unknown}`);
    expect(status).toBe(200);
    expect(json.resources.map(({ revision_id }: { revision_id: string }) => revision_id)).toEqual([
      ...[first, second, unknown],
    ]);
    const [one, two, none] = json.resources;
    expect(one.evaluated).toEqual({
      ...{ experiments: 2, more: false, runs: 6, error_rate: 0.5, latency_p50: 3, total_tokens: 410, total_cost: 0.08 },
      ...{ scores: { ok: { mean: 0.5, n: 6 } }, scores_left_out: 0 },
    });
    expect(one.newest).toMatchObject([
      { id: sessions[1], dataset_id: dataset, persisted: true, runs: 2, scores: { ok: { mean: 0, n: 2 } } },
      { id: sessions[0], runs: 4, scores: { ok: { mean: 0.75, n: 4 } }, total_cost: 0.04 },
    ]);
    expect(one.live).toEqual({
      ...{ runs: 3, more: false, error_rate: 1 / 3, latency_p50: 2, total_tokens: 20, total_cost: 1 },
      ...{ first_start: '2026-01-01T00:00:00.000000+00:00', last_start: '2026-01-01T00:02:00.000000+00:00' },
      ...{ project_id: sessions[3], scores: { thumb: { mean: 1, n: 3 } }, scores_left_out: 0 },
    });
    expect(two.evaluated).toMatchObject({ experiments: 0, runs: 0, scores: {}, error_rate: null, total_cost: null });
    expect(two.newest).toMatchObject([{ id: sessions[2], persisted: false, runs: 0 }]);
    expect(none).toMatchObject({ newest: [], evaluated: { experiments: 0 }, live: { runs: 0, project_id: null } });
  });

  it('are those on one dataset on request, with as many experiments as are wanted', async () => {
    const other = await scores(`revision_ids=${first}&dataset_id=${randomUUID()}`);
    expect(other.json.resources[0]).toMatchObject({ evaluated: { experiments: 0 }, newest: [], live: { runs: 3 } });
    const few = await scores(`revision_ids=${first}&experiments=1`);
    expect(few.json.resources[0].newest).toMatchObject([{ id: sessions[1] }]);
    expect(few.json.resources[0].evaluated.experiments).toBe(2);
  });

  it('are of the own workspace, of 50 revisions at most', async () => {
    const foreign = await scores(`revision_ids=${first}`, 'b');
    expect(foreign.json.resources[0]).toMatchObject({ newest: [], live: { runs: 0 } });
    const many = Array.from({ length: 51 }, () => randomUUID());
    expect((await scores(`revision_ids=${many.join()}`)).status).toBe(422);
    expect((await scores('')).status).toBe(422);
    expect((await scores('revision_ids=v3')).status).toBe(422);
    expect((await scores(`revision_ids=${first}&experiments=21`)).status).toBe(422);
  });

  it('count the newest 1,000 live runs and name 50 keys, however many there are', async () => {
    const revision = randomUUID();
    const project = await reading.insert('sessions', rows.session(a));
    await reading.pool.query(
      `insert into runs (id, tenant_id, session_id, name, run_type, start_time, end_time, status, inputs, extra, row_number)
       select gen_random_uuid(), $1, $2, 'run', 'chain', t, t + '1 s', 'success', '{}', $3, 0
       from generate_series(1, 1003) n cross join lateral (select '2026-01-01'::timestamptz + n * interval '1 s' as t) at`,
      [a, project, inMetadata(revision)],
    );
    const { rows: newest } = await reading.pool.query<{ id: string }>(
      'select id from runs where session_id = $1 order by start_time desc limit 1',
      [project],
    );
    for (let key = 0; key < 52; key++) {
      const score = { run_id: newest[0]!.id, key: key === 0 ? '__proto__' : `k${key}`, score: 1 };
      await reading.insert('feedback', rows.feedback(a, project, score));
    }
    const { live } = (await scores(`revision_ids=${revision}`)).json.resources[0];
    expect(live).toMatchObject({ runs: 1000, more: true, first_start: '2026-01-01T00:00:04.000000+00:00' });
    expect([Object.keys(live.scores).length, live.scores_left_out]).toEqual([50, 2]);
    expect(Object.getOwnPropertyNames(live.scores)).toContain('__proto__');
  });

  it('are found by an index, not by reading runs', async () => {
    const { rows: plan } = await reading.pool.query<{ 'QUERY PLAN': string }>(
      `explain select id from runs r where r.tenant_id = $1 and revision_of(r.extra) = 'x' and revision_of(r.extra) is not null
         and r.parent_run_id is null and r.example_id is null order by r.start_time desc, r.id desc limit 1001`,
      [a],
    );
    expect(plan.map((line) => line['QUERY PLAN']).join('\n')).toContain('runs_of_revision');
  });
});

describe('A trend over revisions', () => {
  const of = (more: string, tenant?: 'a' | 'b') =>
    reading.get(`/api/v1/revisions/trend?dataset_id=${dataset}&${more}`, tenant);
  const [old, young] = [randomUUID(), randomUUID()];

  it('has a point for each revision, whose experiments are repetitions of its rows', async () => {
    const earlier = await experiment(old, [0.2, 0.6, 0.5]);
    const later = await experiment(old, [0.4, 0.8, 0.5], { start_time: '2026-02-01T00:00:00Z' });
    await experiment(old, [1], { persisted: false });
    await experiment(young, [1, 1, 1, 1]);
    const { json } = await of(`revision_ids=${young},${old},${unknown}&key=ok`);
    expect(json).toMatchObject({ dataset_id: dataset, key: 'ok', direction: 'higher is better', unread: [] });
    expect(json.resources).toMatchObject([
      { revision_id: young, mean: 1, scored: 4, runs: 4, interval: { high: 1 }, rerun: null },
      {
        ...{ revision_id: old, experiments: [later, earlier], storing: 1, more: false, run_count: 6 },
        ...{ mean: expect.closeTo(0.5), scored: 3, runs: 6, spread: expect.closeTo((2 * Math.sqrt(0.02)) / 3, 6) },
        interval: { low: expect.closeTo(0.5 - (4.303 * 0.2) / Math.sqrt(3), 4) },
        rerun: { low: expect.closeTo(0.5 - 1.96 * Math.sqrt(0.04 / 9 / 2), 3) },
      },
    ]);
    expect((await of(`revision_ids=${young},${old},${unknown}&key=ok`)).json).toEqual(json);
    await reading.insert('feedback', rows.feedback(a, later, { key: 'whole', score: 1 }));
    await reading.pool.query(`update sessions set session_feedback_stats = $2 where id = $1`, [
      later,
      JSON.stringify({ whole: { n: 1, avg: 0.4, values: {} } }),
    ]);
    expect((await of(`revision_ids=${old}&key=whole`)).json.resources).toMatchObject([{ mean: 0.4, scored: 0 }]);
    expect((await of(`revision_ids=${old}&measure=latency`)).json.resources).toMatchObject([{ mean: 1, runs: 6 }]);
  });

  it('is of a dataset and revisions of the own workspace, of a key or a measure', async () => {
    expect((await of(`revision_ids=${young}&key=ok`, 'b')).status).toBe(404);
    expect((await of(`revision_ids=${young}`)).status).toBe(400);
    expect((await of(`revision_ids=${young}&key=ok&measure=cost`)).status).toBe(400);
    expect((await reading.get(`/api/v1/revisions/trend?revision_ids=${young}&key=ok`)).status).toBe(422);
  });
});
