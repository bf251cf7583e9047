import { v4 as uuid } from 'uuid';
import { again, failed, filling, fillsOf, numbered, type Row, scored, type Uploaded } from '../testing/filling';
import { startUploading } from '@fairlead/evaluation/testing';
import { experiment, type Uploading } from '../testing/uploading';

let service: Uploading;
beforeAll(async () => {
  service = await startUploading();
});
afterAll(() => service.stop());
const { post, upload, rowsOf, fill, uploaded, session, runsOf } = fillsOf(() => service);

const problemsOf = (json: { detail: { loc: unknown[]; msg: string }[] }) =>
  json.detail.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`);

describe('a fill', () => {
  it('replaces runs that failed, and adds runs to rows that have none', async () => {
    const [first, broken, unrun] = [numbered(0), failed(1), numbered(2)];
    const one = await uploaded([first, broken]);
    await uploaded([unrun], { dataset_name: one.body.dataset_name });
    const answer = await fill(one.id, filling(one, [again(unrun), again(broken)]));
    expect(answer.json).toMatchObject({
      dataset: { id: one.dataset, example_count: 3, session_count: 2 },
      experiment: { id: one.id, name: one.body.experiment_name, run_count: null, test_run_number: 1 },
      filled_rows: 2,
    });
    await service.settled();
    expect(await session(one.id)).toMatchObject({ run_count: 3, error_rate: 0 });
    const runs = await runsOf(one.id);
    expect(runs.map(({ example_id, status, row_number }) => [example_id, status, row_number])).toEqual([
      [first.row_id, 'success', 0],
      [broken.row_id, 'success', 1],
      [unrun.row_id, 'success', 2],
    ]);
    expect(runs.map(({ name }) => name)).toEqual(Array(3).fill(one.body.experiment_name));
  });

  it('keeps the run that it replaced, with its feedback, among the replaced runs', async () => {
    const outputs = { partly: true, usage_metadata: { total_tokens: 7 } };
    const broken = failed(0, { evaluation_scores: [scored('judge', 0, 1)], actual_outputs: outputs });
    const one = await uploaded([broken, numbered(1)]);
    const [before] = await runsOf(one.id);
    expect(await session(one.id)).toMatchObject({ total_tokens: 7 });
    const given = await post('/api/v1/feedback', { run_id: before!.id, key: 'seen', score: 0.5 });
    const filled = { ...again(broken), actual_outputs: { usage_metadata: { total_tokens: 9 } } };
    await fill(one.id, filling(one, [filled]));
    await service.settled();
    expect(await session(one.id)).toMatchObject({ total_tokens: 9 });
    const [after] = await runsOf(one.id);
    expect(after!.id).not.toBe(before!.id);
    const { json } = await service.get(`/api/v1/runs/${String(before!.id)}`);
    expect(json).toMatchObject({
      id: before!.id,
      session_id: one.id,
      reference_example_id: broken.row_id,
      inputs: { question: 0 },
      outputs,
      total_tokens: 7,
      error: 'timed out',
      replaced_by: after!.id,
      replaced_at: expect.any(String),
    });
    const listed = await service.get(`/v1/experiments/${one.id}/replaced-runs?row_id=${broken.row_id}`);
    expect(listed.json).toMatchObject({ resources: [{ id: before!.id, replaced_by: after!.id }], offset: 1 });
    const feedback = listed.json.resources[0].feedback as Row[];
    expect(feedback.map(({ key, score }) => [key, score]).sort()).toEqual([
      ['judge', 0],
      ['seen', 0.5],
    ]);
    expect((await service.get(`/api/v1/feedback/${given.json.id}`)).status).toBe(404);
    expect((await service.get(`/v1/experiments/${one.id}/replaced-runs?row_id=${uuid()}`)).json.resources).toEqual([]);
    expect((await service.get(`/v1/experiments/${one.id}/replaced-runs`, 'b')).status).toBe(404);
  });

  it('of a row filled twice leaves both earlier runs in the history, the latest first', async () => {
    const broken = failed(0);
    const one = await uploaded([broken]);
    for (const error of ['again', undefined]) {
      expect((await fill(one.id, filling(one, [again(broken, { error, end_time: broken.end_time })]))).status).toBe(
        200,
      );
      await service.settled();
    }
    const { resources } = (await service.get(`/v1/experiments/${one.id}/replaced-runs`)).json;
    expect(resources.map(({ error }: Row) => error)).toEqual(['again', 'timed out']);
    expect(resources[1].replaced_by).toBe(resources[0].id);
    expect(await session(one.id)).toMatchObject({ run_count: 1, error_rate: 0 });
  });

  it('of repetitions replaces those of the last runs that failed, in their order', async () => {
    const one = numbered(0);
    const runs = ['a', undefined, 'b', 'c', 'd'].map((error) => ({ ...one, error }));
    const made = await uploaded(runs);
    const names = (run_name: string) => again(one, { run_name });
    expect((await fill(made.id, filling(made, [names('x'), names('y')]))).status).toBe(200);
    await service.settled();
    const found = await runsOf(made.id);
    expect(found.map(({ error, name }) => error ?? name)).toEqual(['"a"', made.body.experiment_name, '"b"', 'x', 'y']);
  });

  it('extends the times of the experiment to its own', async () => {
    const broken = failed(0);
    const one = await uploaded([broken]);
    const later = { start_time: '2026-02-01T00:00:00Z', end_time: '2026-02-01T00:00:01Z' };
    const times = { experiment_start_time: '2026-01-31T00:00:00Z', experiment_end_time: '2026-02-02T00:00:00Z' };
    const { json } = await fill(one.id, filling(one, [again(broken, later)], times));
    await service.settled();
    const now = await session(one.id);
    for (const read of [json.experiment, now]) {
      expect(read.start_time).toContain('2026-01-01T00:00:00');
      expect(read.end_time).toContain('2026-02-02T00:00:00');
    }
    expect(now.last_run_start_time).toContain('2026-02-01T00:00:00');
  });

  it('of a row whose id another dataset uses finds it by that id', async () => {
    const shared = numbered(0);
    await uploaded([shared]);
    const broken = failed(0, { row_id: shared.row_id });
    const one = await uploaded([broken]);
    expect((await fill(one.id, filling(one, [again(broken)]))).status).toBe(200);
    await service.settled();
    expect(await session(one.id)).toMatchObject({ run_count: 1, error_rate: 0 });
    const listed = await service.get(`/v1/experiments/${one.id}/replaced-runs?row_id=${shared.row_id}`);
    expect(listed.json.resources).toHaveLength(1);
  });

  it('takes inputs that say the same in another spelling, and gives them back as they were sent', async () => {
    const broken = failed(0, { inputs: { a: 1, b: [2] } });
    const one = await uploaded([broken]);
    const body = JSON.stringify(filling(one, [again(broken)]));
    const spelt = body.replace('{"a":1,"b":[2]}', '{ "b": [2],"a":1.0 }');
    expect(spelt).not.toBe(body);
    expect((await fill(one.id, spelt)).status).toBe(200);
    await service.settled();
    const [run] = await runsOf(one.id);
    expect(run!.inputs).toBe('{ "b": [2],"a":1.0 }');
    expect(await rowsOf('select id from examples where dataset_id = $1', one.dataset)).toHaveLength(1);
  });
});

describe('a comparison that was made before a fill', () => {
  it('is made again', async () => {
    const broken = failed(0, { evaluation_scores: [scored('k', 0, 1)] });
    const one = await uploaded([broken]);
    const compared = async () => {
      const path = `/api/v1/datasets/${one.dataset}/compare?experiments=${one.id}`;
      const { text, headers } = await service.get(path);
      return { failed: text.includes('timed out'), etag: headers.etag };
    };
    const before = await compared();
    await fill(one.id, filling(one, [again(broken, { evaluation_scores: [scored('k', 1, 1)] })]));
    await service.settled();
    const after = await compared();
    expect([before.failed, after.failed]).toEqual([true, false]);
    expect(after.etag).not.toBe(before.etag);
  });
});

describe('a fill is refused as a whole', () => {
  it('row by row, with the place of each', async () => {
    const [good, broken, other] = [numbered(0), failed(1), failed(2)];
    const one = await uploaded([good, broken, other]);
    const events = await service.store.read(`experiment-${one.id}`);
    const stranger = numbered(3);
    const answer = await fill(
      one.id,
      filling(one, [
        again(broken),
        again(good),
        stranger,
        again(broken),
        again(other, { inputs: { question: 'else' }, expected_outputs: { answer: 'else' } }),
      ]),
    );
    expect(answer.status).toBe(422);
    expect(problemsOf(answer.json)).toEqual([
      'results.1.row_id: Value error, the last run of the row did not fail: a fill is for rows whose last run failed, or that have none',
      'results.2.row_id: Value error, there is no such row in the experiment, and no such example in its dataset',
      'results.3.row_id: Value error, the row comes more often in the fill than its last runs failed (1)',
      'results.4.inputs: Value error, must be the inputs of the example, which a fill does not change',
      'results.4.expected_outputs: Value error, must be the expected outputs of the example, which a fill does not change, or be left out',
    ]);
    await service.settled();
    expect(await service.store.read(`experiment-${one.id}`)).toHaveLength(events.length);
    expect(await session(one.id)).toMatchObject({ run_count: 3 });
    expect(await rowsOf('select 1 from payload_sessions where session_id = $1', one.id)).toEqual([]);
  });

  it('when it says something else of the experiment than is known', async () => {
    const broken = failed(0);
    const one = await uploaded([broken], { experiment_metadata: { model: 'm' }, experiment_description: 'd' });
    const members = {
      experiment_name: 'another',
      experiment_description: 'other',
      dataset_id: uuid(),
      dataset_name: 'elsewhere',
      dataset_description: 'none',
      experiment_metadata: { model: 'n' },
      summary_experiment_scores: [{ key: 'f1', score: 1 }],
    };
    const { status, json } = await fill(one.id, filling(one, [again(broken)], members));
    expect(status).toBe(422);
    expect(json.detail.map(({ loc }: { loc: string[] }) => loc[1])).toEqual(Object.keys(members));
    const same = { experiment_metadata: { model: 'm' }, experiment_description: 'd', dataset_id: one.dataset };
    expect((await fill(one.id, filling(one, [again(broken)], same))).status).toBe(200);
  });

  it('by the name that the experiment has now', async () => {
    const broken = failed(0);
    const one = await uploaded([broken]);
    const experiment_name = `renamed ${uuid()}`;
    await service.send('PATCH', `/api/v1/sessions/${one.id}`, [JSON.stringify({ name: experiment_name })]);
    expect((await fill(one.id, filling(one, [again(broken)]))).status).toBe(422);
    const { status, json } = await fill(one.id, filling(one, [again(broken)], { experiment_name }));
    expect([status, json.experiment?.name]).toEqual([200, experiment_name]);
    await service.settled();
    expect((await runsOf(one.id))[0]!.name).toBe(experiment_name);
  });

  it('without a row', async () => {
    const one = await uploaded([failed(0)]);
    expect(problemsOf((await fill(one.id, filling(one, []))).json)).toEqual([
      'results: Value error, a fill has at least one row',
    ]);
  });

  it('when the experiment is of another workspace, gone, no upload, or no id', async () => {
    const broken = failed(0);
    const [mine, theirs] = [await uploaded([broken]), await uploaded([broken], {}, 'b')];
    expect((await fill(theirs.id, filling(theirs, [again(broken)]))).status).toBe(404);
    expect((await fill(uuid(), filling(mine, [again(broken)]))).status).toBe(404);
    expect((await fill('mine', filling(mine, [again(broken)]))).status).toBe(422);
    const live = { id: uuid(), name: `live ${uuid()}`, start_time: '2026-01-01T00:00:00Z' };
    await post('/api/v1/sessions', live);
    const refused = await fill(live.id, filling(mine, [again(broken)]));
    expect([refused.status, refused.json.detail]).toEqual([
      409,
      `The experiment '${live.name}' was not uploaded: only uploaded experiments can be filled.`,
    ]);
    await service.send('DELETE', `/api/v1/sessions/${mine.id}`, []);
    expect((await fill(mine.id, filling(mine, [again(broken)]))).status).toBe(404);
    await service.send('DELETE', `/api/v1/datasets/${mine.dataset}`, []);
  });

  it('beyond what the workspace may store', async () => {
    const small = await startUploading({}, 4000);
    try {
      const broken = failed(0);
      const body = experiment({}, [broken]);
      const { json } = await small.upload(body);
      await small.settled();
      const large = { ...body, results: [again(broken, { actual_outputs: { a: 'x'.repeat(5000) } })] };
      const path = `/api/v1/datasets/upload-experiment?into=${json.experiment.id}`;
      const { status, text } = await small.send('POST', path, [JSON.stringify(large)]);
      expect([status, text]).toEqual([409, expect.stringContaining('may store')]);
    } finally {
      await small.stop();
    }
  });
});

describe('sent again', () => {
  it('a fill gets the first answer, and stores nothing twice', async () => {
    const broken = failed(0);
    const one = await uploaded([broken]);
    const body = filling(one, [again(broken)]);
    const first = await fill(one.id, body);
    await service.settled();
    const second = await fill(one.id, body);
    expect([second.status, second.text, second.headers['idempotent-replayed']]).toEqual([200, first.text, 'true']);
    const keyed = { 'idempotency-key': uuid() };
    expect((await fill(one.id, body, keyed)).text).toBe(first.text);
    expect((await fill(one.id, filling(one, [again(broken, { run_name: 'x' })]), keyed)).status).toBe(422);
    expect(await runsOf(one.id)).toHaveLength(1);
  });

  it('an upload without `into` is a conflict as before', async () => {
    const broken = failed(0);
    const one = await uploaded([broken]);
    const { status, json } = await upload(filling(one, [again(broken)]));
    expect([status, json.detail]).toEqual([409, expect.stringMatching(/^Session already exists\./)]);
  });

  it('two fills of one row at the same time: one wins, the other is refused by row', async () => {
    const [broken, other] = [failed(0), failed(1)];
    const one = await uploaded([broken, other]);
    const bodies = ['x', 'y', 'z'].map((run_name) => filling(one, [again(broken, { run_name })]));
    const answers = await Promise.all(bodies.map((body) => fill(one.id, body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422]);
    await service.settled();
    expect(await session(one.id)).toMatchObject({ run_count: 2, error_rate: 0.5 });
    expect(await rowsOf('select 1 from payload_sessions where session_id = $1', one.id)).toHaveLength(1);
  });

  it('a fill that comes before the rows of the upload are stored waits for them', async () => {
    const broken = failed(0);
    const body = experiment({}, [broken]);
    const { json } = await upload(body);
    const answer = await fill(json.experiment.id, { ...body, results: [again(broken)] });
    expect(answer.status).toBe(200);
    await service.settled();
    expect(await session(json.experiment.id)).toMatchObject({ run_count: 1, error_rate: 0 });
  });
});

describe('a replaced run', () => {
  let one: Uploaded;
  let gone: string;
  beforeAll(async () => {
    const broken = failed(0);
    one = await uploaded([broken]);
    gone = String((await runsOf(one.id))[0]!.id);
    await fill(one.id, filling(one, [again(broken)]));
    await service.settled();
  });

  it('takes no more feedback', async () => {
    const [now] = await runsOf(one.id);
    for (const session_id of [undefined, one.id]) {
      const { status, json } = await post('/api/v1/feedback', { run_id: gone, session_id, key: 'k', score: 1 });
      expect([status, json.detail]).toEqual([409, expect.stringContaining(String(now!.id))]);
    }
  });

  it('takes no changes', async () => {
    const { status } = await service.send('PATCH', `/api/v1/runs/${gone}`, [JSON.stringify({ outputs: { a: 2 } })]);
    expect(status).toBe(409);
  });

  it('is in no list of runs', async () => {
    for (const asked of [{ session: [one.id] }, { id: [gone] }, { session: [one.id], error: true }]) {
      const { json } = await post('/api/v1/runs/query', asked);
      expect(json.runs.map(({ id }: Row) => id)).not.toContain(gone);
    }
  });
});
