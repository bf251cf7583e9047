import { v4 as newId } from 'uuid';
import { type Reading, rows, startReading } from '../testing/reading';

let reading: Reading;
let a: string;
let dataset: string;
let examples: string[];
let sessions: string[];

/** Three examples, each run in two experiments with scores 0, 1, 2 and 2, 1, 0. */
beforeAll(async () => {
  reading = await startReading();
  a = reading.tenants.a;
  dataset = await reading.insert('datasets', rows.dataset(a));
  examples = [];
  for (let i = 0; i < 3; i++) {
    const inputs = `{"question":"${String(i).repeat(2000)}"}`;
    examples.push(await reading.insert('examples', rows.example(a, dataset, { inputs, outputs: `{"answer":${i}}` })));
  }
  sessions = [];
  for (const scores of [
    [0, 1, 2],
    [2, 1, 0],
  ]) {
    const session = await reading.insert('sessions', rows.session(a, { reference_dataset_id: dataset }));
    sessions.push(session);
    for (const [row, score] of scores.entries()) {
      const of = { dataset_id: dataset, example_id: examples[row], example_from: '2026-01-01T00:00:00Z', inputs: null };
      const run = rows.run(a, session, { ...of, row_number: row, outputs: `{"long":"${'x'.repeat(3000)}"}` });
      await reading.insert('runs', run);
      await reading.insert('feedback', rows.feedback(a, session, { run_id: run.id, score }));
    }
  }
});
afterAll(() => reading.stop());

const view = (body: object, search = '') =>
  reading.post(`/datasets/${dataset}/runs${search}`, { session_ids: sessions, ...body });
const ids = (json: { id: string }[]) => json.map(({ id }) => id);

describe('The comparison view', () => {
  it('shows examples with their runs and feedback, in the order of the rows', async () => {
    const { status, json } = await view({});
    expect(status).toBe(200);
    expect(ids(json)).toEqual(examples);
    const [first] = json;
    expect(first).toMatchObject({ dataset_id: dataset, outputs: { answer: 0 }, name: 'example' });
    expect(first.runs.map((run: { session_id: string }) => run.session_id)).toEqual(sessions);
    expect(first.runs[1]).toMatchObject({
      reference_example_id: examples[0],
      inputs: first.inputs,
      feedback_stats: { quality: { n: 1, avg: 2 } },
      feedbacks: [{ key: 'quality', score: 2 }],
    });
  });

  it('pages, sorts, filters and picks', async () => {
    expect(ids((await view({ offset: 1, limit: 1 })).json)).toEqual([examples[1]]);
    const by = (sort_order?: string) => ({ sort_params: { sort_by: 'feedback.quality', sort_order } });
    expect(ids((await view(by())).json)).toEqual([examples[2], examples[1], examples[0]]);
    expect(ids((await view(by('ASC'))).json)).toEqual(examples);
    const filter = 'and(eq(feedback_key, "quality"), gte(feedback_score, 1))';
    expect(ids((await view({ filters: { [sessions[0]!]: [filter] } })).json)).toEqual([examples[1], examples[2]]);
    expect(ids((await view({ filters: { [sessions[1]!]: [filter, 'eq(status, "success")'] } })).json)).toEqual(
      examples.slice(0, 2),
    );
    expect(ids((await view({ example_ids: [examples[2], newId()] })).json)).toEqual([examples[2]]);
    expect((await view({ filters: { [sessions[0]!]: ['nothing()'] } })).status).toBe(400);
  });

  it('cuts texts for a preview', async () => {
    const { text, json } = await view({ preview: true });
    expect(text.length).toBeLessThan(30_000);
    expect(json[0].inputs.preview).toContain('{"question":"000');
    expect(json[0].outputs).toEqual({ answer: 0 });
    expect(json[0].runs[0]).toMatchObject({ inputs: null, outputs: null });
    expect(json[0].runs[0].outputs_preview).toContain('{"long":"xxx');
  });

  it('is given as CSV', async () => {
    const { text } = await view({}, '?format=csv');
    const lines = text.trimEnd().split('\r\n');
    expect(lines[0]).toMatch(/^example_id,name,inputs,reference_outputs,session_id,run_id,status/);
    expect(lines).toHaveLength(7);
    expect(lines[1]).toContain('"{""answer"":0}"');
  });

  it('belongs to its tenant', async () => {
    const missing = newId();
    expect((await view({ session_ids: [missing] })).json).toEqual({ detail: `Session ID ${missing} not found.` });
    expect((await reading.post(`/datasets/${dataset}/runs`, { session_ids: sessions }, 'b')).status).toBe(404);
    expect((await view({ session_ids: [] })).status).toBe(422);
  });
});

it('tells which examples got better and worse on a key', async () => {
  const [baseline_session_id, other] = sessions;
  const body = { baseline_session_id, comparison_session_ids: [other], feedback_key: 'quality' };
  const delta = async (more = {}) => (await reading.post(`/datasets/${dataset}/runs/delta`, { ...body, ...more })).json;
  expect(await delta()).toEqual({
    feedback_deltas: { [other!]: { improved_examples: [examples[0]], regressed_examples: [examples[2]] } },
  });
  expect(await delta({ offset: 1 })).toEqual({
    feedback_deltas: { [other!]: { improved_examples: [], regressed_examples: [] } },
  });
  const filters = { [other!]: ['and(eq(feedback_key, "quality"), eq(feedback_score, 2))'] };
  expect((await delta({ filters })).feedback_deltas[other!].regressed_examples).toEqual([]);
  expect((await reading.post(`/datasets/${dataset}/runs/delta`, body, 'b')).status).toBe(404);
});

describe('Comparative experiments', () => {
  it('are created, listed and deleted', async () => {
    const extra = '{"metadata":{"odd":"\\u0000"}}';
    const body = `{"name":"one","experiment_ids":${JSON.stringify(sessions)},"extra":${extra}}`;
    const made = await reading.post('/datasets/comparative', body);
    expect(made).toMatchObject({ status: 200, json: { name: 'one', reference_dataset_id: dataset, tenant_id: a } });
    const { id } = made.json;
    const list = async (search = '') => (await reading.get(`/datasets/${dataset}/comparative?${search}`)).json;
    expect(await list()).toMatchObject([{ id, experiments_info: sessions.map((session) => ({ id: session })) }]);
    expect(await list('name_contains=ON')).toHaveLength(1);
    expect(await list('name=two')).toEqual([]);
    expect((await reading.get(`/datasets/${dataset}/comparative`)).text).toContain(`"extra":${extra}`);
    expect((await reading.post('/datasets/comparative', { id, experiment_ids: sessions })).status).toBe(409);
    expect((await reading.get(`/datasets/${dataset}/comparative`, 'b')).status).toBe(404);
    expect((await reading.post('/datasets/comparative', { experiment_ids: sessions }, 'b')).status).toBe(404);
    expect((await reading.send('DELETE', `/datasets/comparative/${id}`, undefined, 'b')).status).toBe(404);
    expect((await reading.send('DELETE', `/datasets/comparative/${id}`)).status).toBe(200);
    expect((await reading.send('DELETE', `/datasets/comparative/${id}`)).status).toBe(404);
    expect(await list()).toEqual([]);
  });
});

describe('The second version', () => {
  it('pages through runs and tells problems as RFC 9457 has it', async () => {
    const query = (body: object) => reading.post('/api/v2/runs/query', { project_ids: [sessions[0]], ...body });
    const first = (await query({ page_size: 2 })).json;
    expect(first).toMatchObject({ has_more: true, items: [{ id: expect.any(String) as string }, {}] });
    const rest = (await query({ page_size: 2, cursor: first.next_cursor })).json;
    expect(rest).toEqual({ has_more: false, items: [{ id: expect.any(String) as string }] });
    const chosen = await query({ selects: ['NAME', 'END_TIME', 'TOTAL_COST'], run_type: 'CHAIN', sort_order: 'ASC' });
    expect(chosen.json.items[0]).toEqual({ name: 'run', end_time: '2026-01-01T00:00:01.000000+00:00' });
    expect((await query({ min_start_time: '2026-01-02T00:00:00Z' })).json.items).toEqual([]);
    expect((await query({ selects: ['name'] })).json).toMatchObject({
      title: 'Unprocessable Entity',
      status: 422,
      errors: [{ pointer: '#/selects/0' }],
    });
    const missing = newId();
    expect((await query({ project_ids: [missing] })).json).toMatchObject({
      status: 404,
      detail: `Session ID ${missing} not found.`,
    });
    expect((await query({ cursor: 'none' })).status).toBe(400);
    expect((await reading.get(`/v2/runs/${missing}`)).status).toBe(422);
    const [{ id }] = first.items;
    expect((await reading.get(`/v2/runs/${id}?project_id=${sessions[0]}`)).json).toEqual({ id });
    for (const url of [`/v2/runs/${id}?project_id=${sessions[1]}`, `/v2/runs/${missing}?project_id=${sessions[0]}`]) {
      expect((await reading.get(url)).json).toMatchObject({
        status: 404,
        detail: expect.stringContaining('not found'),
      });
    }
  });

  it('pages through examples with their runs in several experiments', async () => {
    const path = `/datasets/${dataset}/experiment-runs`;
    const asked = { experiment_ids: sessions, page_size: 2, selects: ['ID', 'PROJECT_ID'] };
    for (const base of ['/api/v2', '/v2']) {
      const { status, json: first } = await reading.post(base + path, asked);
      expect([status, first.has_more, ids(first.items)]).toEqual([200, true, examples.slice(0, 2)]);
      expect(first.items[0].runs.map((run: object) => Object.keys(run).sort())).toEqual([
        ['id', 'project_id'],
        ['id', 'project_id'],
      ]);
      expect(first.items[0].runs.map((run: { project_id: string }) => run.project_id)).toEqual(sessions);
      const { json: rest } = await reading.post(base + path, { ...asked, cursor: first.next_cursor });
      expect([rest.has_more, ids(rest.items)]).toEqual([false, examples.slice(2)]);
    }
    const missing = newId();
    expect((await reading.post(`/v2${path}`, { experiment_ids: [missing] })).json).toMatchObject({
      title: 'Not Found',
      status: 404,
      detail: `Session ID ${missing} not found.`,
    });
    expect((await reading.post(`/v2${path}`, asked, 'b')).status).toBe(404);
  });
});
