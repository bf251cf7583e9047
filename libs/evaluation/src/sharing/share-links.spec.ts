import { v4 as newId } from 'uuid';
import { type Reading, rows, startReading } from '../testing/reading';
import { HIDEABLE, type Hideable } from './share';

/** Nobody's key. */
const STRANGER = 'nobody' as 'a';
const DAY_MS = 86_400_000;
/** A text for each member that can be hidden, which stands in it and nowhere else. */
const CANARIES = Object.fromEntries(HIDEABLE.map((member) => [member, `canary-of-${member}`])) as Record<
  Hideable,
  string
>;

let reading: Reading;
let dataset: string;
let example: string;
/** Two experiments on one example; the run of the second one has failed. */
let experiments: [string, string];
let runs: [string, string];

beforeAll(async () => {
  reading = await startReading();
  const { a } = reading.tenants;
  dataset = await reading.insert('datasets', rows.dataset(a));
  const sent = {
    name: `named after ${CANARIES.inputs}`,
    inputs: `{"q":"${CANARIES.inputs}"}`,
    outputs: `{"a":"${CANARIES.reference_outputs}"}`,
  };
  example = await reading.insert('examples', rows.example(a, dataset, sent));
  const experiment = async (status: 'success' | 'error', score: number): Promise<[string, string]> => {
    const about = { reference_dataset_id: dataset, extra: `{"metadata":{"m":"${CANARIES.metadata}"}}` };
    const session = await reading.insert('sessions', rows.session(a, about));
    const run = rows.run(a, session, {
      dataset_id: dataset,
      example_id: example,
      inputs: sent.inputs,
      outputs: `{"a":"${CANARIES.outputs}"}`,
      extra: about.extra,
      status,
      error: status === 'error' ? `"${CANARIES.errors}"` : null,
    });
    const id = await reading.insert('runs', run);
    const comment = `"${CANARIES.comments}"`;
    await reading.insert('feedback', rows.feedback(a, session, { run_id: id, key: CANARIES.feedback, score, comment }));
    const value = `"${CANARIES.feedback} friendly"`;
    await reading.insert('feedback', rows.feedback(a, session, { run_id: id, key: 'tone', score: null, value }));
    return [session, id];
  };
  const [first, second] = [await experiment('success', 1), await experiment('error', 0)];
  experiments = [first[0], second[0]];
  runs = [first[1], second[1]];
});
afterAll(() => reading.stop());

const open = (path: string) => reading.send('GET', path, undefined, STRANGER);
const create = (body: object, tenant: 'a' | 'b' = 'a') => reading.post('/v1/shares', body, tenant);
const ofComparison = (more: object = {}) => ({ kind: 'comparison', dataset_id: dataset, experiments, ...more });
const ofRun = (more: object = {}) => ({ kind: 'run', run_id: runs[1], ...more });
const newLink = async (body: object): Promise<{ id: string; at: string; token: string }> => {
  const { status, json } = await create(body);
  expect({ status, json }).toMatchObject({ status: 201 });
  return { id: json.id, token: json.token, at: `/api/v1/public/${json.token}/link` };
};

/** All that a link to the comparison and one to the failed run answer to strangers, in any way that they can be asked. */
async function told(hide: readonly Hideable[]): Promise<string> {
  const [comparison, run] = [await newLink(ofComparison({ hide })), await newLink(ofRun({ hide }))];
  const paths = [
    comparison.at,
    ...[
      'limit=100',
      `limit=100&baseline=${experiments[1]}`,
      'limit=100&sort=row',
      `sort=latency:${experiments[1]}`,
    ].map((search) => `${comparison.at}/comparison?${search}`),
    `${comparison.at}/comparison?comments=${CANARIES.feedback}`,
    `${comparison.at}/comparison/rows/${example}`,
    ...runs.map((id) => `${comparison.at}/runs/${id}`),
    run.at,
    `${run.at}/runs/${runs[1]}`,
  ];
  const answers = await Promise.all(paths.map(open));
  expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200));
  const searches = [`q=${CANARIES.outputs}`, `rows=${experiments[1]}:worse:tone`].map(
    (search) => `${comparison.at}/comparison?${search}`,
  );
  const others = ['run', 'datasets', 'examples', 'datasets/sessions'].flatMap((what) =>
    [comparison, run].map(({ token }) => `/api/v1/public/${token}/${what}`),
  );
  const refused = await Promise.all([...searches, ...others].map(open));
  return JSON.stringify([...answers, ...refused].map(({ text, headers }) => ({ text, headers })));
}

describe('A share link', () => {
  it('shows a comparison and a run to whoever has it, and nothing else', async () => {
    const all = await told([]);
    for (const canary of Object.values(CANARIES)) expect(all).toContain(canary);
    const comparison = await newLink(ofComparison());
    expect((await open(comparison.at)).json).toMatchObject({ kind: 'comparison', dataset_id: dataset, hidden: [] });
    expect((await open(`${comparison.at}/comparison`)).json).toMatchObject({
      baseline: experiments[0],
      keys: [{ key: CANARIES.feedback, results: [{ mean: 1 }, { verdict: 'not clear', counts: { worse: 1 } }] }],
      page: { total: 1, rows: [{ example_id: example, cells: [{ run_id: runs[0] }, { status: 'error' }] }] },
    });
    const found = async (q: string) => (await open(`${comparison.at}/comparison?q=${q}`)).json.page.total as number;
    expect([await found(CANARIES.outputs), await found('elsewhere')]).toEqual([1, 0]);
    expect((await open(`${comparison.at}/comparison?around=${example}`)).json.page).toMatchObject({ place: 0 });
    const { json } = await open(`${comparison.at}/runs/${runs[1]}`);
    expect(json).toMatchObject({
      id: runs[1],
      outputs: { a: CANARIES.outputs },
      reference_outputs: { a: CANARIES.reference_outputs },
      metadata: { m: CANARIES.metadata },
      error: CANARIES.errors,
    });
    const session = await reading.insert(
      'sessions',
      rows.session(reading.tenants.a, { reference_dataset_id: dataset }),
    );
    const about = { dataset_id: dataset, example_id: example };
    const stray = await reading.insert('runs', rows.run(reading.tenants.a, session, about));
    const run = await newLink(ofRun());
    for (const path of [
      `${comparison.at}/runs/${stray}`,
      `${run.at}/runs/${runs[0]}`,
      `${run.at}/comparison`,
      `/api/v1/public/${newId()}/link`,
    ]) {
      expect({ path, status: (await open(path)).status }).toEqual({ path, status: 404 });
    }
    expect((await open(`${comparison.at}/comparison?baseline=${session}`)).status).toBe(400);
  });

  it.each(HIDEABLE)('that hides %s shows them nowhere', async (member) => {
    const all = await told([member]);
    expect(all).not.toContain(CANARIES[member]);
    // What belongs to the feedback goes with it.
    const gone = new Set(member === 'feedback' ? [member, 'comments'] : [member]);
    for (const other of HIDEABLE.filter((one) => !gone.has(one))) expect(all).toContain(CANARIES[other]);
  });

  it('that hides everything tells only that there are runs, and refuses to search what it hides', async () => {
    const all = await told(HIDEABLE);
    expect(all).not.toContain('canary-of-');
    const { at } = await newLink(ofComparison({ hide: HIDEABLE }));
    const { json } = await open(`${at}/comparison`);
    expect(json).toMatchObject({ rows: 1, keys: [], categories: [], page: { rows: [{ regression: null }] } });
    expect((await open(`${at}/comparison?q=canary`)).json).toEqual({
      detail: 'This link hides inputs, reference_outputs, outputs, errors: its rows are not searched for a text.',
    });
    const measured = json.measures.map(({ measure }: { measure: string }) => measure);
    expect(measured.filter((measure: string) => measure !== 'latency')).toEqual([]);
    expect((await open(`${at}/comparison?sort=cost:${experiments[1]}`)).status).toBe(400);
    const filter = encodeURIComponent(`${experiments[1]}:worse:${CANARIES.feedback}`);
    expect((await open(`${at}/comparison?rows=${filter}`)).status).toBe(400);
    expect(Object.keys((await open(`${at}/runs/${runs[1]}`)).json)).toEqual([
      ...['id', 'session_id', 'reference_example_id', 'name', 'run_type', 'status'],
      ...['start_time', 'end_time', 'latency_seconds'],
    ]);
  });

  it('ends when it expires or is deleted, and another workspace neither sees nor deletes it', async () => {
    const [expired, deleted, kept] = [await newLink(ofRun()), await newLink(ofRun()), await newLink(ofRun())];
    await reading.pool.query(`update share_links set expires_at = now() - interval '1 second' where id = $1`, [
      expired.id,
    ]);
    expect((await reading.send('DELETE', `/v1/shares/${deleted.id}`, undefined, 'b')).status).toBe(404);
    expect((await open(deleted.at)).status).toBe(200);
    const end = async () => (await reading.send('DELETE', `/v1/shares/${deleted.id}`)).status;
    expect([await end(), await end()]).toEqual([204, 404]);
    for (const { at } of [expired, deleted]) {
      for (const path of [at, `${at}/runs/${runs[1]}`]) expect((await open(path)).status).toBe(404);
    }
    const listed = async (tenant: 'a' | 'b') =>
      (await reading.get('/v1/shares?limit=100', tenant)).json.resources.map(({ id }: { id: string }) => id);
    const ids = await listed('a');
    expect(ids).toContain(kept.id);
    for (const { id } of [expired, deleted]) expect(ids).not.toContain(id);
    expect(await listed('b')).toEqual([]);
    expect((await reading.get('/v1/shares')).text).not.toContain(kept.token);
    // A new link takes those away that have expired.
    await newLink(ofRun());
    expect((await reading.pool.query('select from share_links where id = $1', [expired.id])).rowCount).toBe(0);
  });

  it('is good for 30 days unless it says otherwise, and for 90 at most', async () => {
    const { json } = await create(ofRun());
    expect(Date.parse(json.expires_at) - Date.parse(json.created_at)).toBeGreaterThan(29 * DAY_MS);
    const until = (ms: number) => ({ expires_at: new Date(Date.now() + ms).toISOString() });
    expect((await create(ofRun(until(89 * DAY_MS)))).status).toBe(201);
    for (const ms of [91 * DAY_MS, -DAY_MS]) {
      expect((await create(ofRun(until(ms)))).json).toEqual({
        detail: 'A link ends in the future, at most 90 days from now.',
      });
    }
  });

  it('is made only of what the workspace has and what can be compared, and a misspelt member hides nothing unseen', async () => {
    expect((await create(ofRun(), 'b')).status).toBe(404);
    expect((await create(ofComparison(), 'b')).status).toBe(404);
    expect((await create(ofComparison({ dataset_id: newId() }))).status).toBe(400);
    for (const body of [
      ofComparison({ run_id: runs[0] }),
      { kind: 'comparison', run_id: runs[0] },
      ofRun({ dataset_id: dataset }),
      ofRun({ hidden: ['inputs'] }),
      ofRun({ hide: ['input'] }),
      { kind: 'dataset', dataset_id: dataset },
    ]) {
      expect({ body, status: (await create(body)).status }).toEqual({ body, status: 422 });
    }
  });

  it('is gone with what it shows, also when something else comes under the same id', async () => {
    const { a } = reading.tenants;
    const id = await reading.insert('sessions', rows.session(a, { reference_dataset_id: dataset }));
    const link = await newLink(ofComparison({ experiments: [experiments[0], id] }));
    expect((await open(`${link.at}/comparison`)).status).toBe(200);
    // Made later than the link, under the id that it names.
    await reading.pool.query(`update sessions set created_at = now() + interval '1 day' where id = $1`, [id]);
    expect((await open(`${link.at}/comparison`)).status).toBe(404);
    const { json: session } = await reading.post('/sessions', {
      name: `session ${newId()}`,
      reference_dataset_id: dataset,
    });
    const other = await newLink(ofComparison({ experiments: [session.id] }));
    await reading.send('DELETE', `/sessions/${session.id}`);
    // A read with a key waits until the deletion counts.
    expect((await reading.get('/v1/shares?limit=100')).text).not.toContain(other.id);
    expect((await open(other.at)).status).toBe(404);
  });

  it('shows no expected outputs of another workspace that has a dataset under the same id', async () => {
    const { a, b } = reading.tenants;
    const foreign = await reading.insert('datasets', rows.dataset(b));
    const theirs = await reading.insert('examples', rows.example(b, foreign, { outputs: '{"a":"foreign"}' }));
    const session = await reading.insert('sessions', rows.session(a));
    const id = await reading.insert('runs', rows.run(a, session, { dataset_id: foreign, example_id: theirs }));
    const { at } = await newLink(ofRun({ run_id: id }));
    expect((await open(`${at}/runs/${id}`)).json).toMatchObject({ id, reference_outputs: null });
  });

  it('has its token neither in the log nor in a table', async () => {
    const { token } = await newLink(ofRun());
    const { rows: stored } = await reading.pool.query<{ text: string }>('select l::text as text from share_links l');
    const { rows: logged } = await reading.pool.query<{ text: string }>('select e::text as text from events e');
    expect(logged.some(({ text }) => text.includes('ShareLinkCreated'))).toBe(true);
    for (const { text } of [...stored, ...logged]) expect(text).not.toContain(token);
  });

  it('is one of 1,000 of its workspace at most', async () => {
    await reading.pool.query(
      `insert into share_links (id, tenant_id, kind, experiments, hidden, digest, created_at, expires_at)
       select gen_random_uuid(), $1, 'run', '{}', '{}', 'filled ' || n, now(), now() + interval '1 day'
       from generate_series(1, 1000) n`,
      [reading.tenants.a],
    );
    expect((await create(ofRun())).json).toEqual({ detail: 'A workspace has 1,000 links at most.' });
    await reading.pool.query(`delete from share_links where digest like 'filled %'`);
    expect((await create(ofRun())).status).toBe(201);
  });
});
