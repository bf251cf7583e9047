import { type Reading, rows, startReading } from '../testing/reading';

const PAST = '2026-01-01T00:00:00Z';

let reading: Reading;
let a: string;
let dataset: string;
let example: string;
let first: string;
let second: string;

beforeAll(async () => {
  reading = await startReading();
  a = reading.tenants.a;
  dataset = await reading.insert('datasets', rows.dataset(a));
  example = await reading.insert('examples', rows.example(a, dataset));
  [first, second] = [await newExperiment(), await newExperiment()];
});
afterAll(() => reading.stop());

const newExperiment = () => reading.insert('sessions', rows.session(a, { reference_dataset_id: dataset }));
const newRun = (session: string, place: number, more: object = {}) =>
  reading.insert(
    'runs',
    rows.run(a, session, { dataset_id: dataset, example_id: example, row_number: place, ...more }),
  );
const give = (session: string, run: string, more: object) =>
  reading.insert('feedback', rows.feedback(a, session, { run_id: run, key: 'correct', score: 0, ...more }));
const row = (experiments: readonly string[], tenant: 'a' | 'b' = 'a', of = dataset) =>
  reading.get(`/datasets/${of}/compare/rows/${example}?experiments=${experiments.join()}`, tenant);

describe('A row of a comparison run by run', () => {
  it('has each repetition with the scores, comments, corrections and judges of its own', async () => {
    const judge = await newRun(await reading.insert('sessions', rows.session(a)), 0, { example_id: null });
    const [again, once] = [await newRun(first, 7), await newRun(first, 3, { status: 'error', error: '"it broke"' })];
    const only = await newRun(second, 3, { outputs: `{"answer":"${'x'.repeat(5000)}"}` });
    const metadata = JSON.stringify({ model: 'judge-2', __run: { run_id: judge } });
    await give(first, once, {
      ...{ comment: JSON.stringify('No date.\n"Why?"'), correction: '{"answer":"Soon"}', created_at: PAST },
      ...{ source_type: 'model', source_metadata: metadata },
    });
    await give(first, again, { score: 1, source_type: 'app', source_metadata: `{"__run":{"run_id":"${only}0"}}` });
    await give(second, only, { key: 'tone', score: null, value: '"curt"', comment: 'null' });
    await give(second, only, { source_metadata: `{"of":"${'y'.repeat(5000)}"}`, comment: `"${'z'.repeat(9000)}"` });
    const { status, json } = await row([second, first]);
    expect({ status, json }).toMatchObject({
      status: 200,
      json: {
        example_id: example,
        left_out: false,
        experiments: [
          { experiment: second, run_count: 1, runs: [{ run_id: only }] },
          {
            experiment: first,
            run_count: 2,
            runs: [
              {
                ...{ run_id: once, status: 'error', error_preview: 'it broke' },
                feedback: [
                  {
                    ...{ key: 'correct', score: 0, value_preview: null, comment_preview: 'No date.\n"Why?"' },
                    correction_preview: '{"answer":"Soon"}',
                    judge: { type: 'model', metadata: { model: 'judge-2' }, run_id: judge },
                  },
                ],
              },
              { run_id: again, feedback: [{ score: 1, judge: { type: 'app', run_id: null, session_id: null } }] },
            ],
          },
        ],
      },
    });
    const { runs } = json.experiments[0];
    expect(runs[0].outputs_preview.length).toBeLessThan(1024);
    const [tone, long] = ['tone', 'correct'].map((key) =>
      (runs[0].feedback as { key: string }[]).find((given) => given.key === key),
    );
    expect(tone).toMatchObject({ score: null, value_preview: 'curt', comment_preview: null });
    expect(long).toMatchObject({ judge: { metadata: null }, comment_preview: 'z'.repeat(4094) });
    expect(json.experiments[1].runs[0].feedback[0].judge.session_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('gives the beginnings of comments and the judges in the list too, of the keys that are asked for', async () => {
    const path = `/datasets/${dataset}/compare?experiments=${first},${second}`;
    const cells = async (search: string) =>
      (await reading.get(path + search)).json.page.rows[0].cells as { comments?: object; judges?: object }[];
    expect((await cells('')).map(({ comments }) => comments)).toEqual([undefined, undefined]);
    const comments = [{ correct: 'No date.\n"Why?"' }, { correct: 'z'.repeat(238) }];
    const told = await cells('&comments=correct&comments=tone');
    expect(told.map((cell) => cell.comments)).toEqual(comments);
    const unknown = { type: 'api', run_id: null, session_id: null };
    expect(told.map(({ judges }) => judges)).toMatchObject([
      { correct: { type: 'model', run_id: expect.stringMatching('-'), session_id: expect.stringMatching('-') } },
      { correct: unknown, tone: unknown },
    ]);
  });

  it('gives the last turns of conversations in the list', async () => {
    const about = { dataset_id: dataset, outputs: '{"messages":[{"role":"assistant","content":"Soon."}]}' };
    const inputs = { messages: [...'ab'].map((content) => ({ role: 'user', content: `${content}"` })) };
    const talk = await reading.insert(
      'examples',
      rows.example(a, dataset, { inputs: JSON.stringify(inputs), outputs: about.outputs }),
    );
    const session = await newExperiment();
    await newRun(session, 1, { ...about, example_id: talk });
    const { page } = (await reading.get(`/datasets/${dataset}/compare?experiments=${session}`)).json;
    expect(page.rows).toMatchObject([
      {
        inputs_turn: { role: 'user', text: 'b"' },
        reference_outputs_turn: { role: 'assistant', text: 'Soon.' },
        cells: [{ outputs_turn: { role: 'assistant', text: 'Soon.' } }],
      },
    ]);
  });

  it('is none of another workspace, and of experiments on the dataset only', async () => {
    expect((await row([first], 'b')).status).toBe(404);
    const elsewhere = await reading.insert('sessions', rows.session(a));
    expect((await row([first, elsewhere])).status).toBe(404);
    expect((await row([])).status).toBe(422);
  });

  it('is bounded', async () => {
    const session = await newExperiment();
    for (let n = 0; n < 102; n++) await newRun(session, n);
    const { runs, run_count } = (await row([session])).json.experiments[0];
    expect([runs.length, run_count]).toEqual([100, 102]);
    await reading.pool.query(
      `insert into feedback (id, tenant_id, session_id, run_id, key, score, source_type, created_at, modified_at)
       select gen_random_uuid(), $1, $2, $3, 'k', 1, 'api', now(), now() from generate_series(1, 1001)`,
      [a, session, runs[0].run_id],
    );
    const { json } = await row([session]);
    expect([json.left_out, json.experiments[0].runs[0].feedback.length]).toEqual([true, 1000]);
  });
});
