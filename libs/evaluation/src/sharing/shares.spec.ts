import { v4 as newId } from 'uuid';
import { type Reading, type Row, rows, startReading } from '../testing/reading';

/** Nobody's key. */
const STRANGER = 'nobody' as 'a';
/** Token that a client of LangSmith proposes. */
const PROPOSED = '00000000-0000-4000-8000-000000000000';

let reading: Reading;
beforeAll(async () => (reading = await startReading()));
afterAll(() => reading.stop());

const open = (path: string, body?: object) => reading.send(body ? 'POST' : 'GET', path, body, STRANGER);
const share = async (path: string): Promise<string> =>
  (await reading.send('PUT', `${path}/share`, { share_token: PROPOSED })).json.share_token;
const newSession = async (members: object = {}): Promise<string> =>
  (await reading.post('/sessions', { name: `session ${newId()}`, ...members })).json.id;

/** A trace: `top`, `left` and `right` below it, `leaf` below `left`. */
async function trace(session: string) {
  const ids = { top: newId(), left: newId(), right: newId(), leaf: newId() };
  const run = async (id: string, parent: string | null, above: string, minute: number, members: Row = {}) => {
    const dotted_order = `${above}2026010100000${minute}Z${id}`;
    const start_time = `2026-01-01T00:0${minute}:00Z`;
    const place = { id, trace_id: ids.top, parent_run_id: parent, dotted_order, start_time, name: `run ${minute}` };
    await reading.insert('runs', rows.run(reading.tenants.a, session, { ...place, ...members }));
    return `${dotted_order}.`;
  };
  const top = await run(ids.top, null, '', 1);
  const left = await run(ids.left, ids.top, top, 2);
  await run(ids.right, ids.top, top, 3);
  await run(ids.leaf, ids.left, left, 4);
  return ids;
}

const listed = async (token: string, body: object = {}) =>
  (await open(`/public/${token}/runs/query`, body)).json.runs.map(({ id }: { id: string }) => id);

describe('A shared run', () => {
  it('is read by whoever has the token, with the runs below it, and with nothing else', async () => {
    const session = await newSession();
    const ids = await trace(session);
    const other = await trace(session);
    expect((await reading.get(`/runs/${ids.left}/share`)).json).toBeNull();
    const token = await share(`/runs/${ids.left}`);
    expect(token).not.toBe(PROPOSED);
    expect(await share(`/runs/${ids.left}`)).toBe(token);
    expect((await reading.get(`/runs/${ids.left}/share`)).json).toEqual({ run_id: ids.left, share_token: token });

    expect((await open(`/public/${token}/run`)).json).toMatchObject({ id: ids.left, name: 'run 2', s3_urls: null });
    expect((await open(`/public/${token}/run/${ids.leaf}`)).json).toMatchObject({ id: ids.leaf });
    for (const id of [ids.top, ids.right, other.top, other.leaf]) {
      for (const path of [`/public/${token}/run/${id}`, `/api/v2/public/${token}/run/${id}`]) {
        expect((await open(path)).json).toMatchObject({ detail: `Run ID ${id} not found.` });
      }
      expect(await listed(token, { id: [id] })).toEqual([]);
    }
    expect(await listed(token)).toEqual([ids.leaf, ids.left]);
    expect(await listed(token, { id: [ids.leaf], order: 'asc' })).toEqual([ids.leaf]);
    const first = await open(`/public/${token}/runs/query`, { limit: 1, order: 'asc' });
    expect(first.json).toMatchObject({ runs: [{ id: ids.left }], cursors: { next: expect.any(String) } });
    expect(await listed(token, { limit: 1, order: 'asc', cursor: first.json.cursors.next })).toEqual([ids.leaf]);
    const second = await open(`/api/v2/public/${token}/runs/query`, { selects: ['ID', 'NAME', 'SHARE_URL'] });
    expect(second.json).toEqual({
      items: [
        { id: ids.left, name: 'run 2' },
        { id: ids.leaf, name: 'run 4' },
      ],
    });
    expect((await open(`/public/${token}/datasets`)).status).toBe(404);
  });

  it('is shared as a whole trace in the second version, and its address can be selected', async () => {
    const session_id = await newSession();
    const { top, leaf } = await trace(session_id);
    const shared = await reading.post(`/api/v2/runs/${leaf}/share`, { session_id, trace_id: top });
    const token = shared.json.share_token as string;
    expect(await listed(token)).toHaveLength(4);
    const query = `?project_id=${session_id}&selects=SHARE_URL`;
    expect((await reading.get(`/api/v2/runs/${top}${query}`)).json.share_url).toMatch(`/public/${token}/r`);
    expect((await reading.get(`/api/v2/runs/${leaf}${query}`)).json).toEqual({});
    const wrong = { session_id, trace_id: leaf };
    expect((await reading.post(`/api/v2/runs/${leaf}/share`, wrong)).status).toBe(404);
    expect((await reading.send('DELETE', `/api/v2/runs/${top}/share`, { session_id: newId() })).status).toBe(404);
    for (const time of ['first', 'again']) {
      const { status } = await reading.send('DELETE', `/api/v2/runs/${top}/share`, { session_id });
      expect({ time, status }).toEqual({ time, status: 204 });
    }
    expect((await open(`/public/${token}/run`)).status).toBe(404);
  });

  it('is closed at once when its sharing ends, and the next token is another', async () => {
    const { top } = await trace(await newSession());
    const token = await share(`/runs/${top}`);
    expect((await reading.send('DELETE', `/runs/${top}/share`)).status).toBe(200);
    expect((await open(`/public/${token}/run`)).json).toEqual({ detail: `Share token ${token} not found.` });
    expect((await reading.get(`/runs/${top}/share`)).json).toBeNull();
    expect((await reading.send('DELETE', `/runs/${top}/share`)).status).toBe(200);
    const next = await share(`/runs/${top}`);
    expect(next).not.toBe(token);
    expect([(await open(`/public/${token}/run`)).status, (await open(`/public/${next}/run`)).status]).toEqual([
      404, 200,
    ]);
  });

  it('is gone with its session, also when another run comes under the same id', async () => {
    const id = newId();
    const session = await newSession({ id });
    const { top } = await trace(session);
    const token = await share(`/runs/${top}`);
    await reading.send('DELETE', `/sessions/${session}`);
    expect((await reading.get(`/runs/${top}/share`)).status).toBe(404);
    expect((await open(`/public/${token}/run`)).status).toBe(404);
    await reading.insert('sessions', rows.session(reading.tenants.a, { id, created_at: new Date().toISOString() }));
    await reading.insert('runs', rows.run(reading.tenants.a, id, { id: top }));
    expect((await open(`/public/${token}/run`)).status).toBe(404);
    const next = await share(`/runs/${top}`);
    expect(next).not.toBe(token);
    expect((await open(`/public/${next}/run`)).status).toBe(200);
  });

  it('is not shared for, shown to, or closed by another workspace', async () => {
    const session_id = await newSession();
    const { top } = await trace(session_id);
    const token = await share(`/runs/${top}`);
    const asked = [
      reading.send('PUT', `/runs/${top}/share`, {}, 'b'),
      reading.send('GET', `/runs/${top}/share`, undefined, 'b'),
      reading.send('DELETE', `/runs/${top}/share`, undefined, 'b'),
      reading.send('POST', `/api/v2/runs/${top}/share`, { session_id, trace_id: top }, 'b'),
      reading.send('DELETE', `/api/v2/runs/${top}/share`, { session_id }, 'b'),
    ];
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    expect((await open(`/public/${token}/run`)).status).toBe(200);
  });
});

describe('A shared dataset', () => {
  const newDataset = async (): Promise<string> =>
    (await reading.post('/datasets', { name: `dataset ${newId()}`, description: 'about' })).json.id;

  it('is read by whoever has the token, with its newest examples and its experiments', async () => {
    const [id, other] = [await newDataset(), await newDataset()];
    const path = `/datasets/${id}`;
    expect((await reading.get(`${path}/share`)).json).toEqual({ detail: `Share of dataset ID ${id} not found.` });
    for (const q of [1, 2, 3]) await reading.post('/examples', { dataset_id: id, inputs: { q } });
    const { json: foreign } = await reading.post('/examples', { dataset_id: other, inputs: { q: 4 } });
    const experiment = await newSession({ reference_dataset_id: id });
    await newSession({ reference_dataset_id: other });
    await newSession();
    const token = await share(path);
    expect((await reading.get(`${path}/share`)).json).toEqual({ dataset_id: id, share_token: token });
    expect((await open(`/public/${token}/datasets`)).json).toMatchObject({
      id,
      description: 'about',
      example_count: 3,
    });
    const examples = async (search: string) =>
      (await open(`/public/${token}/examples${search}`)).json.map(({ inputs }: { inputs: object }) => inputs);
    expect((await examples('')).sort((a: { q: number }, b: { q: number }) => a.q - b.q)).toEqual([
      { q: 1 },
      { q: 2 },
      { q: 3 },
    ]);
    expect(await examples('?limit=2&offset=2')).toHaveLength(1);
    expect(await examples(`?id=${foreign.id}`)).toEqual([]);
    const sessions = await open(`/public/${token}/datasets/sessions`);
    expect(sessions.json.map((one: { id: string }) => one.id)).toEqual([experiment]);
    expect((await open(`/public/${token}/run`)).status).toBe(404);
    expect((await reading.send('DELETE', `${path}/share`, undefined, 'b')).status).toBe(404);
    expect((await reading.send('DELETE', `${path}/share`)).status).toBe(200);
    for (const what of ['datasets', 'examples', 'datasets/sessions', `datasets/compare?experiments=${experiment}`]) {
      expect((await open(`/public/${token}/${what}`)).status).toBe(404);
    }
  });

  it('shows the statistics of comparisons of its experiments, and no rows', async () => {
    const id = await newDataset();
    const { json: example } = await reading.post('/examples', { dataset_id: id, inputs: { q: 'an input' } });
    const experiments: string[] = [];
    for (const score of [1, 0]) {
      const session = await newSession({ reference_dataset_id: id });
      const about = { dataset_id: id, example_id: example.id, outputs: '{"a":"an output"}' };
      const run = await reading.insert('runs', rows.run(reading.tenants.a, session, about));
      const given = { run_id: run, key: 'correct', score };
      await reading.insert('feedback', rows.feedback(reading.tenants.a, session, given));
      experiments.push(session);
    }
    const elsewhere = await newSession({ reference_dataset_id: await newDataset() });
    const token = await share(`/datasets/${id}`);
    const compare = (ids: readonly string[], more = '') =>
      open(`/public/${token}/datasets/compare?experiments=${ids.join(',')}${more}`);
    const { status, json, text } = await compare(experiments);
    expect({ status, json }).toMatchObject({
      status: 200,
      json: { baseline: experiments[0], rows: 1, keys: [{ key: 'correct', results: [{ mean: 1 }, { worse: 1 }] }] },
    });
    expect(text).not.toMatch(/an (?:in|out)put/);
    expect((await compare(experiments, `&baseline=${experiments[1]}`)).json.baseline).toBe(experiments[1]);
    expect((await compare([experiments[0]!, elsewhere])).status).toBe(400);
    expect((await compare([newId()])).status).toBe(404);
    expect((await compare(['x'])).status).toBe(422);
    expect((await reading.send('DELETE', `/datasets/${id}/share`)).status).toBe(200);
  });

  it('is gone when it is deleted', async () => {
    const id = await newDataset();
    const token = await share(`/datasets/${id}`);
    await reading.send('DELETE', `/datasets/${id}`);
    expect((await reading.get(`/datasets/${id}/share`)).status).toBe(404);
    expect((await open(`/public/${token}/datasets`)).status).toBe(404);
    expect((await reading.pool.query('select from shares where subject_id = $1', [id])).rowCount).toBe(0);
  });

  it('never has its token in the log or in the tables', async () => {
    const token = await share(`/datasets/${await newDataset()}`);
    const { rows: stored } = await reading.pool.query<{ text: string }>('select shares::text as text from shares');
    const { rows: logged } = await reading.pool.query<{ text: string }>('select events::text as text from events');
    expect(stored.length).toBeGreaterThan(0);
    expect(logged.some(({ text }) => text.includes('DatasetShared'))).toBe(true);
    for (const { text } of [...stored, ...logged]) expect(text).not.toContain(token);
  });

  it('is read so often and no more, and other workspaces are read all the same', async () => {
    const token = await share(`/datasets/${await newDataset()}`);
    const { json } = await reading.post('/datasets', { name: `dataset ${newId()}` }, 'b');
    const other = (await reading.send('PUT', `/datasets/${json.id}/share`, {}, 'b')).json.share_token;
    let answer = await open(`/public/${token}/datasets`);
    // One after the other they could come as slowly as the limit is refilled, on a busy machine.
    for (let asked = 0; asked < 3000 && answer.status === 200; asked += 100) {
      const answers = await Promise.all(Array.from({ length: 100 }, () => open(`/public/${token}/datasets`)));
      answer = answers.find(({ status }) => status !== 200) ?? answer;
    }
    expect([answer.status, answer.json, answer.headers['retry-after']]).toEqual([
      429,
      { detail: 'Too many requests for what this workspace shares, try again later.' },
      expect.stringMatching(/^\d+$/),
    ]);
    expect((await open(`/public/${other}/datasets`)).status).toBe(200);
  });

  it('is one of 10,000 of its workspace at most, however many are shared at the same time', async () => {
    const datasets = await Promise.all(Array.from({ length: 20 }, newDataset));
    await reading.pool.query(
      `insert into shares (id, tenant_id, kind, subject_id, token, digest, shared_at)
       select gen_random_uuid(), $1, 'dataset', gen_random_uuid(), '{}', 'filled ' || n, now()
       from generate_series(1, 9993 - (select count(*)::int from shares where tenant_id = $1)) n`,
      [reading.tenants.a],
    );
    const answers = await Promise.all(datasets.map((id) => reading.send('PUT', `/datasets/${id}/share`, {})));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(answers.find(({ status }) => status === 400)!.json).toMatchObject({
      detail: 'A workspace shares 10,000 runs and datasets at most.',
    });
    await reading.pool.query(`delete from shares where digest like 'filled %'`);
  });
});

it('refuses tokens that are none, and wrong queries', async () => {
  expect((await open(`/public/${newId()}/run`)).status).toBe(404);
  expect((await open('/public/latest/run')).status).toBe(422);
  expect((await open(`/public/${newId()}/runs/query`, { limit: 101 })).status).toBe(422);
});
