import { createHash } from 'node:crypto';
import { PayloadStore } from '@fairlead/blobs';
import type { PoolClient } from 'pg';
import { v4 as uuid, v5 } from 'uuid';
import { Followers } from '@fairlead/eventing';
import { until } from '@fairlead/postgres/testing';
import { experimentId } from '../common/ids';
import { DELETED_SESSIONS } from '../session/deleted-sessions.consumer';
import { PersistRuns } from './persist-runs.consumer';
import { PayloadSweeper } from './payload-sweeper.worker';
import { startUploading } from '@fairlead/evaluation/testing';
import { experiment, row, type Uploading } from '@fairlead/experiments/testing';

let service: Uploading;
beforeAll(async () => {
  service = await startUploading();
});
afterAll(() => service.stop());

type Row = Record<string, unknown>;

async function rows(sql: string, ...values: unknown[]): Promise<Row[]> {
  return (await service.pool.query<Row>(sql, values)).rows;
}

/** Uploads and waits for the runs; answers the ids. */
async function persisted(body: unknown): Promise<{ id: string; dataset: string }> {
  const { status, json, text } = await service.upload(body);
  if (status !== 200) throw new Error(text);
  await service.settled();
  return { id: json.experiment.id, dataset: json.dataset.id };
}

const examplesOf = (dataset: string) =>
  rows(
    'select id, inputs, outputs, valid_from, valid_to, name from examples where dataset_id = $1 order by valid_from, id',
    dataset,
  );
const runsOf = (session: string) => rows('select * from runs where session_id = $1 order by row_number', session);
const session = async (id: string) => (await service.get(`/api/v1/sessions/${id}?include_stats=true`)).json;

describe('a few seconds after an upload', () => {
  it('its statistics can be read', async () => {
    const at = (second: number) => `2026-01-01T10:00:${String(second).padStart(2, '0')}Z`;
    const scored = (seconds: number, members: Row) => row({ start_time: at(0), end_time: at(seconds), ...members });
    const { id, dataset } = await persisted(
      experiment({ summary_experiment_scores: [{ key: 'f1', score: 0.5 }] }, [
        scored(1, {
          evaluation_scores: [
            { key: 'correct', score: true },
            { key: 'kind', value: 'a' },
          ],
        }),
        scored(2, {
          evaluation_scores: [
            { key: 'correct', score: 0 },
            { key: 'kind', value: 'a' },
          ],
        }),
        scored(3, { evaluation_scores: [{ key: 'correct', score: 1 }], error: 'broken' }),
        scored(10, { start_time: at(9), error: '' }),
      ]),
    );
    expect(await session(id)).toMatchObject({
      run_count: 4,
      latency_p50: 1.5,
      latency_p99: expect.closeTo(2.97, 6),
      error_rate: 0.25,
      last_run_start_time: expect.stringContaining('2026-01-01T10:00:09'),
      feedback_stats: {
        correct: { n: 3, avg: expect.closeTo(2 / 3), stdev: expect.closeTo(0.4714, 3), min: 0, max: 1, values: {} },
        kind: { n: 2, avg: null, values: { a: 2 } },
      },
      session_feedback_stats: { f1: { n: 1, avg: 0.5, min: 0.5, max: 0.5 } },
      total_tokens: null,
      total_cost: null,
    });
    const { json } = await service.get(`/api/v1/datasets/${dataset}`);
    expect(json).toMatchObject({ example_count: 4, session_count: 1 });
    expect(json.last_session_start_time).toContain('2026-01-01T00:00:00');
  });

  it('what its rows say of their usage can be read, each once, and what none says stays null', async () => {
    const used = (members: Row) => ({ usage_metadata: members });
    const body = experiment({}, [
      row({ actual_outputs: used({ input_tokens: 10, output_tokens: 5, input_cost: 0.1, total_cost: 1e-7 }) }),
      row({ run_metadata: used({ total_tokens: 100, total_cost: '0.25' }), error: 'late' }),
      row({ actual_outputs: { a: 'usage_metadata' }, run_metadata: { m: 1 } }),
      row(),
    ]);
    const { status, json } = await service.upload(body);
    expect(status).toBe(200);
    const nothing = { ...{ prompt_tokens: null, completion_tokens: null }, prompt_cost: null, completion_cost: null };
    expect(json.experiment).toMatchObject({ ...nothing, total_tokens: null, total_cost: null });
    await service.settled();
    const { id, reference_dataset_id: dataset } = json.experiment;
    const sums = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 115, completion_cost: null };
    const whole = { ...sums, prompt_cost: '0.1', total_cost: '0.2500001' };
    expect(await session(id)).toMatchObject(whole);
    expect((await service.get(`/v1/experiments?dataset_id=${dataset}`)).json.resources).toMatchObject([whole]);
    const runs = await runsOf(id);
    const read = await Promise.all(runs.map(async (run) => (await service.get(`/api/v1/runs/${String(run.id)}`)).json));
    expect(read).toMatchObject([
      { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, prompt_cost: '0.1', total_cost: '0.0000001' },
      { ...nothing, total_tokens: 100, total_cost: '0.25' },
      { ...nothing, total_tokens: null, total_cost: null },
      { ...nothing, total_tokens: null, total_cost: null },
    ]);
    // An event of an earlier version has no usage: it comes from the runs when these are stored anew.
    const usage = 'prompt_tokens, completion_tokens, total_tokens, prompt_cost, completion_cost, total_cost';
    await service.pool.query(`update sessions set (${usage}) = (select ${usage} from runs where false) where id = $1`, [
      id,
    ]);
    await service.app.get(PersistRuns, { strict: false }).handle(await service.store.read(`experiment-${id}`), {
      query: () => Promise.resolve(),
    } as unknown as PoolClient);
    expect(await session(id)).toMatchObject(whole);
  });

  it('its runs can be read, as the specification has them', async () => {
    const given = row({ run_name: 'mine', error: 'it "broke"\n', actual_outputs: { a: 1 }, run_metadata: { m: 1 } });
    const body = experiment({}, [given, row()]);
    const { id, dataset } = await persisted(body);
    const [first, second] = await runsOf(id);
    expect(first).toMatchObject({
      tenant_id: service.tenants.a,
      dataset_id: dataset,
      example_id: given.row_id,
      name: 'mine',
      run_type: 'chain',
      status: 'error',
      error: '"it \\"broke\\"\\n"',
      inputs: null,
      outputs: '{"a":1}',
      extra: '{"metadata":{"m":1}}',
    });
    expect(second).toMatchObject({ name: body.experiment_name, status: 'success', error: null, outputs: null });
    const [times] = await rows(
      'select extract(epoch from end_time - start_time)::text as took from runs where id = $1',
      first!.id,
    );
    expect(times!.took).toBe('1.500000');
    const { json } = await service.get(`/api/v1/runs/${String(first!.id)}`);
    expect(json).toMatchObject({ inputs: { question: 'How deep is it?' }, error: 'it "broke"\n', trace_id: first!.id });
    expect(json).toMatchObject({ reference_dataset_id: dataset, reference_example_id: given.row_id, session_id: id });
  });

  it('its examples have the names that rows have elsewhere, in lists and exports', async () => {
    const given = { ...row({ expected_outputs: { a: 1 } }), row_name: 'Q "17"\u0001 ü' };
    const { id, dataset } = await persisted(experiment({}, [row(), given]));
    const one = async () => (await service.get(`/api/v1/examples/${given.row_id}`)).json;
    const named = { name: given.row_name, metadata: { row_id: given.row_name }, outputs: { a: 1 } };
    expect(await one()).toMatchObject(named);
    const found = (await service.get(`/api/v1/datasets/${dataset}/compare/export?experiments=${id}&format=jsonl`)).text;
    const lines = found
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { row_id: string; example_id: string });
    expect(lines.find(({ example_id }) => example_id === given.row_id)).toMatchObject({ row_id: given.row_name });
    const { json } = await service.get(`/api/v1/datasets/${dataset}`);
    const unnamed = row({ inputs: given.inputs, expected_outputs: { a: 1 }, row_id: given.row_id });
    await persisted({ ...experiment({}, [unnamed]), dataset_id: dataset, dataset_name: json.name });
    expect(await one()).toMatchObject(named);
  });

  it('feedback has its source, its times and its opaque members as they were sent', async () => {
    const score = {
      key: 'k',
      score: '1_0.5',
      value: { b: [1] },
      comment: 'c\t',
      correction: 'x',
      feedback_source: { type: 'model', metadata: { id: 1 } },
      feedback_config: { type: 'continuous', min: 0, max: 20 },
      created_at: '2026-01-01T00:00:00.123456Z',
    };
    const dated = { key: 'dated', created_at: '2026-01-01T00:00:00Z', modified_at: '2026-01-02T00:00:00Z' };
    const { id } = await persisted(experiment({}, [row({ evaluation_scores: [score, { key: 'plain' }, dated] })]));
    const [full, plain, changed] = await rows(
      'select *, created_at::text as created from feedback where session_id = $1 order by id',
      id,
    );
    expect(full).toMatchObject({
      key: 'k',
      score: 10.5,
      value: '{"b":[1]}',
      comment: '"c\\t"',
      correction: '"x"',
      source_type: 'model',
      source_metadata: '{"id":1}',
      created: expect.stringContaining('00:00:00.123456'),
    });
    const [upload] = (await service.store.read(`experiment-${id}`)) as { time: string }[];
    const asked = new Date(upload!.time);
    expect(plain).toMatchObject({ score: null, source_type: 'api', created_at: asked, modified_at: asked });
    expect(full).toMatchObject({ modified_at: asked });
    expect(changed).toMatchObject({ modified_at: new Date(dated.modified_at), created_at: new Date(dated.created_at) });
    expect(
      await rows('select config from feedback_configs where tenant_id = $1 and key = $2', service.tenants.a, 'k'),
    ).toEqual([{ config: '{"type":"continuous","min":0,"max":20}' }]);
  });
});

it('keeps the configuration of a feedback key that the last row with one has', async () => {
  const scored = (max: number) =>
    row({ evaluation_scores: [{ key: 'ordered', score: 1, feedback_config: { type: 'continuous', min: 0, max } }] });
  await persisted(experiment({}, [scored(1), scored(2), scored(3)]));
  expect(
    await rows('select config from feedback_configs where tenant_id = $1 and key = $2', service.tenants.a, 'ordered'),
  ).toEqual([{ config: '{"type":"continuous","min":0,"max":3}' }]);
});

it('keeps which of the four kinds of source a score has', async () => {
  const types = ['app', 'api', 'model', 'auto_eval'];
  const scores = types.map((type) => ({ key: type, score: 1, feedback_source: { type } }));
  const { id } = await persisted(experiment({}, [row({ evaluation_scores: scores })]));
  const found = await rows('select key, source_type from feedback where session_id = $1', id);
  expect(new Map(found.map(({ key, source_type }) => [key, source_type]))).toEqual(
    new Map(types.map((type) => [type, type])),
  );
});

describe('an example', () => {
  it('is the same in every experiment that has its row', async () => {
    const shared = row({ expected_outputs: { a: 1 } });
    const dataset_name = uuid();
    const first = await persisted(experiment({ dataset_name }, [shared]));
    const second = await persisted(experiment({ dataset_name }, [{ ...shared, actual_outputs: { b: 1 } }, row()]));
    expect(second.dataset).toBe(first.dataset);
    expect(await examplesOf(first.dataset)).toHaveLength(2);
    expect((await runsOf(first.id))[0]!.example_id).toBe(shared.row_id);
    expect((await runsOf(second.id))[0]).toMatchObject({ example_id: shared.row_id, inputs: null });
    expect((await service.get(`/api/v1/datasets/${first.dataset}`)).json).toMatchObject({
      example_count: 2,
      session_count: 2,
    });
  });

  it('gets a new version when its inputs or outputs change', async () => {
    const shared = row({ expected_outputs: { a: 1 } });
    const dataset_name = uuid();
    const first = await persisted(experiment({ dataset_name }, [shared]));
    await persisted(experiment({ dataset_name }, [{ ...shared, expected_outputs: undefined }]));
    expect(await examplesOf(first.dataset)).toHaveLength(1);
    const another = { ...shared, row_id: uuid() };
    const twice = await persisted(experiment({}, [another]));
    const { name } = (await service.get(`/api/v1/datasets/${twice.dataset}`)).json;
    await persisted(experiment({ dataset_name: name }, [{ ...another, expected_outputs: { a: 2 } }]));
    expect((await examplesOf(twice.dataset)).map(({ outputs }) => outputs)).toEqual(['{"a":1}', '{"a":2}']);
    const changed = await persisted(experiment({ dataset_name }, [{ ...shared, inputs: { other: true } }]));
    const [old, now] = await examplesOf(first.dataset);
    expect(old).toMatchObject({ id: shared.row_id, inputs: JSON.stringify(shared.inputs), valid_to: now!.valid_from });
    expect(now).toMatchObject({ id: shared.row_id, inputs: '{"other":true}', valid_to: null });
    const [before, after] = [(await runsOf(first.id))[0]!, (await runsOf(changed.id))[0]!];
    expect([before.example_from, after.example_from]).toEqual([old!.valid_from, now!.valid_from]);
    const asOf = encodeURIComponent((old!.valid_from as Date).toISOString());
    const example = `/api/v1/examples/${shared.row_id}?dataset=${first.dataset}`;
    expect((await service.get(`${example}&as_of=${asOf}`)).json.inputs).toEqual(shared.inputs);
    expect((await service.get(example)).json.inputs).toEqual({ other: true });
  });

  it('came to be with its first version, whatever changes later', async () => {
    const shared = row({ run_name: 'asked first' });
    const dataset_name = uuid();
    const { dataset } = await persisted(experiment({ dataset_name }, [shared]));
    await persisted(experiment({ dataset_name }, [{ ...shared, inputs: { other: 1 } }]));
    await persisted(experiment({ dataset_name }, [{ ...shared, inputs: { other: 2 }, run_name: undefined }]));
    const [first, , third] = await examplesOf(dataset);
    expect(third!.valid_from).not.toEqual(first!.valid_from);
    const { json } = await service.get(`/api/v1/examples/${shared.row_id}`);
    expect(new Date(json.created_at)).toEqual(first!.valid_from);
    expect(new Date(json.modified_at)).toEqual(third!.valid_from);
    // An example is named like its run, or by its id.
    expect([first!.name, json.name]).toEqual(['asked first', shared.row_id]);
  });

  it('of a row that is repeated in one upload is one, with several runs', async () => {
    const shared = row();
    const repeated = [shared, shared, { ...shared, inputs: { other: 1 } }];
    const { headers, json } = await service.upload(experiment({}, repeated));
    await service.settled();
    const [id, dataset] = [json.experiment.id as string, json.dataset.id as string];
    expect(headers.warning).toBe(
      '299 - "1 row has other inputs than the first row of the same row_id, which the example keeps: results.2 has others than results.0"',
    );
    expect(await examplesOf(dataset)).toHaveLength(1);
    const runs = await runsOf(id);
    expect(runs.map(({ example_id }) => example_id)).toEqual(Array(3).fill(shared.row_id));
    expect(runs.map(({ inputs }) => inputs)).toEqual([null, null, '{"other":1}']);
    expect(await session(id)).toMatchObject({ run_count: 3 });
  });

  it('of a row repeated far apart in a large upload is one as well', async () => {
    const shared = row();
    const filler = Array.from({ length: 4000 }, () => row({ inputs: { a: 'x'.repeat(500) } }));
    const { id, dataset } = await persisted(experiment({}, [shared, ...filler, shared]));
    expect(await rows('select count(*)::int as n from examples where dataset_id = $1', dataset)).toEqual([{ n: 4001 }]);
    const runs = await runsOf(id);
    expect(runs).toHaveLength(4002);
    expect(new Set(runs.map((run) => run.id)).size).toBe(4002);
    expect([runs[0]!.example_id, runs[4001]!.example_id, runs[4001]!.inputs]).toEqual([
      shared.row_id,
      shared.row_id,
      null,
    ]);
  });

  it('of a row that another dataset has gets an id of its own', async () => {
    const shared = row();
    const one = await persisted(experiment({}, [shared]));
    const other = await persisted(experiment({}, [shared]));
    const own = v5(shared.row_id, other.dataset);
    expect(one.dataset).not.toBe(other.dataset);
    expect((await examplesOf(other.dataset)).map(({ id }) => id)).toEqual([own]);
    const { json } = await service.get(`/api/v1/datasets/${other.dataset}`);
    const again = await persisted(experiment({ dataset_name: json.name }, [shared, shared]));
    expect((await runsOf(again.id)).map(({ example_id }) => example_id)).toEqual([own, own]);
    expect(await examplesOf(other.dataset)).toHaveLength(1);
  });
});

describe('JSON that breaks naive code', () => {
  it.each([
    ['U+0000', String.raw`{"a\u0000":"\u0000"}`],
    ['a lone surrogate', String.raw`{"a":"\ud800"}`],
    ['__proto__', '{"__proto__":{"x":1},"constructor":{"prototype":1}}'],
    ['1e400', '{"a":1e400,"b":-1e-400}'],
    ['integers beyond 2^53', '{"a":9007199254740993,"b":123456789012345678901234567890}'],
    ['the form of numbers', '{"a":1.0,"b":1E+2,"c":-0}'],
    ['duplicate keys', '{"a":1,"a":2}'],
    ['spaces', '{ "a" :\n[ 1 ,\t2 ] }'],
    ['a depth of 97', `{"a":${'['.repeat(96)}${']'.repeat(96)}}`],
    ['characters of four bytes', '{"😀":"\u{10ffff}é"}'],
  ])('is kept byte for byte: %s', async (_, json) => {
    const marked = row({ inputs: '@', expected_outputs: '@', actual_outputs: '@', run_metadata: '@' });
    const scores = [{ key: 'k', value: '@', correction: '@', extra: '@' }];
    const body = experiment({ experiment_metadata: '@' }, [{ ...marked, evaluation_scores: scores }]);
    const text = JSON.stringify(body).replaceAll('"@"', json);
    // One level more than in a row's members.
    const tooDeep = json.includes('['.repeat(96));
    const {
      status,
      text: answer,
      json: parsed,
    } = await service.upload(tooDeep ? JSON.stringify(experiment({}, [marked])).replaceAll('"@"', json) : text);
    expect(status).toBe(200);
    if (!tooDeep) expect(answer).toContain(`"extra":{"metadata":${json}}`);
    await service.settled();
    const { id } = parsed.experiment;
    const [run] = await rows('select * from runs where session_id = $1', id);
    const [example] = await examplesOf(parsed.dataset.id);
    expect(run).toMatchObject({ inputs: null, outputs: json, extra: `{"metadata":${json}}` });
    expect(example).toMatchObject({ inputs: json, outputs: json });
    const read = await service.get(`/api/v1/runs/${String(run!.id)}`);
    expect(read.text).toContain(`"inputs":${json}`);
    expect(read.text).toContain(`"outputs":${json}`);
    if (tooDeep) return;
    const [feedback] = await rows('select value, correction, extra from feedback where session_id = $1', id);
    expect(feedback).toEqual({ value: json, correction: json, extra: json });
    expect((await service.get(`/api/v1/sessions/${id}`)).text).toContain(`"extra":{"metadata":${json}}`);
  });

  it('is the empty name of a run: it is named after the experiment', async () => {
    const { id } = await persisted(experiment({ experiment_name: 'named so' }, [row({ run_name: '' }), row()]));
    expect((await rows('select name from runs where session_id = $1', id)).map(({ name }) => name)).toEqual([
      'named so',
      'named so',
    ]);
  });

  it('is a score: what its number does not give back is kept as text', async () => {
    const sent = ['true', 'false', '1e300', '9007199254740992', '9007199254740993', '1.0', '2', '"0.5"', 'null'];
    const scores = sent.map((_, n) => ({ key: `k${n}`, score: `@${n}` }));
    const text = JSON.stringify(experiment({}, [row({ evaluation_scores: scores })]));
    const { id } = await persisted(text.replaceAll(/"@(\d)"/g, (_, n) => sent[Number(n)]!));
    const read = (await service.get(`/api/v1/feedback?session=${id}`)).text;
    const given = [...read.matchAll(/"key":"k(\d)","score":([^,]+),/g)].sort().map(([, , score]) => score);
    expect(given).toEqual([
      'true',
      'false',
      '1e300',
      '9007199254740992',
      '9007199254740993',
      '1.0',
      '2',
      '0.5',
      'null',
    ]);
    const stored = await rows('select score from feedback where session_id = $1 order by key', id);
    expect(stored.map(({ score }) => score)).toEqual([1, 0, 1e300, 2 ** 53, 2 ** 53, 1, 2, 0.5, null]);
    const { feedback_stats: stats } = (await service.get(`/api/v1/sessions/${id}`)).json;
    expect([stats.k0.avg, stats.k2.max, stats.k4.n]).toEqual([1, 1e300, 1]);
  });

  it.each([
    ['error', String.raw`"\u0000 \ud800 \u00e9"`],
    ['comment', String.raw`"\u0000 \ud800 \u00e9"`],
  ])('is kept in texts that are handed on: %s', async (member, json) => {
    const marked = member === 'error' ? row({ error: '@' }) : row({ evaluation_scores: [{ key: 'k', comment: '@' }] });
    const { id } = await persisted(JSON.stringify(experiment({}, [marked])).replace('"@"', json));
    const table = member === 'error' ? 'runs' : 'feedback';
    expect(await rows(`select ${member} as kept from ${table} where session_id = $1`, id)).toEqual([{ kept: json }]);
  });

  it.each([
    ['experiment_name', String.raw`"a\u0000"`],
    ['experiment_name', String.raw`"\udc00"`],
    ['experiment_description', String.raw`"a\u0000"`],
    ['dataset_name', String.raw`"a\u0000"`],
    ['dataset_name', JSON.stringify('é'.repeat(513))],
    ['experiment_start_time', '1e400'],
    ['experiment_start_time', '"+275760-09-13T00:00:00Z"'],
    ['results', `[${'['.repeat(50_000)}`],
    ['results', '[{"row_id":1e999}]'],
  ])('is refused where it cannot be kept: %s', async (member, json) => {
    const { status } = await service.upload(JSON.stringify(experiment({ [member]: '@' })).replace('"@"', json));
    expect(status).toBe(422);
  });

  it('takes the last of two members of a row, everywhere', async () => {
    const text = JSON.stringify(experiment({}, [row()]));
    const { id, dataset } = await persisted(text.replace('"inputs":', String.raw`"inputs":{"first":1},"\u0069nputs":`));
    expect((await examplesOf(dataset))[0]!.inputs).toBe('{"question":"How deep is it?"}');
    expect(await runsOf(id)).toHaveLength(1);
  });

  it('stores times with microseconds, also far away ones', async () => {
    const times = { experiment_start_time: '0001-01-01', experiment_end_time: '9999-12-31T23:59:59.999999Z' };
    const body = experiment(times, [row({ start_time: '0001-01-01T00:00:00', end_time: '9999-12-31' })]);
    const { id } = await persisted(body);
    expect(await session(id)).toMatchObject({
      run_count: 1,
      start_time: expect.stringContaining('0001-01-01T00:00:00'),
    });
  });
});

it('an upload whose body is missing is set aside with its reason, and the others are stored', async () => {
  const payloads = service.app.get(PayloadStore, { strict: false });
  const body = JSON.stringify(experiment());
  const lost = createHash('sha256').update(body).digest('hex');
  const read = payloads.read.bind(payloads);
  const spy = jest
    .spyOn(payloads, 'read')
    .mockImplementation(async (tenant, sha256) => (sha256 === lost ? undefined : read(tenant, sha256)));
  const { id } = (await service.upload(body)).json.experiment;
  const next = (await service.upload(experiment())).json.experiment;
  await until(async () => (await session(next.id)).run_count === 1);
  expect(await session(id)).toMatchObject({ run_count: null });
  expect(await rows('select consumer, subject, reason from parked_subjects')).toEqual([
    {
      consumer: 'persist-runs',
      subject: `experiment-${id}`,
      reason: `The body of experiment-${id} is missing: its runs cannot be stored.`,
    },
  ]);
  // Once the body is there again, a retry stores its runs.
  spy.mockRestore();
  await rows('update parked_subjects set retry_at = now(), attempts = 0');
  await until(async () => (await session(id)).run_count === 1);
  await service.settled();
});

describe('persisting again', () => {
  it('after a crash between storing and recording, records what was stored', async () => {
    const body = experiment({}, [row({ evaluation_scores: [{ key: 'k', score: 1 }] })]);
    const append = service.store.append.bind(service.store);
    let failures = 0;
    const spy = jest.spyOn(service.store, 'append').mockImplementation((stream, version, events, metadata) => {
      if (events[0]?.type !== 'RunsPersisted' || failures++ > 0) return append(stream, version, events, metadata);
      return Promise.reject(new Error('The process ends here.'));
    });
    const { id } = await persisted(body);
    spy.mockRestore();
    expect(failures).toBeGreaterThan(1);
    expect(await runsOf(id)).toHaveLength(1);
    expect(await session(id)).toMatchObject({ run_count: 1, feedback_stats: { k: { n: 1, avg: 1 } } });
  });

  /** Gives every event there is to the follower once more. */
  async function replay(): Promise<void> {
    const events = [];
    const found = await rows(`select id from sessions order by created_at`);
    for (const { id } of found) events.push(...(await service.store.read(`experiment-${String(id)}`)));
    const tx = { query: () => Promise.resolve() } as unknown as PoolClient;
    await service.app.get(PersistRuns, { strict: false }).handle(events, tx);
  }
  const stored = async () => ({
    runs: await rows('select * from runs order by id'),
    feedback: await rows('select * from feedback order by id'),
    examples: await rows('select * from examples order by dataset_id, id, valid_from'),
  });

  it('from the beginning of the log changes nothing', async () => {
    const [before, head] = [await stored(), await service.store.head()];
    await replay();
    expect(await stored()).toEqual(before);
    expect(await service.store.head()).toBe(head);
  });

  it('into empty tables gives the same rows', async () => {
    const [before, head] = [await stored(), await service.store.head()];
    expect(before.runs.length).toBeGreaterThan(4000);
    await service.pool.query('truncate runs, feedback, examples, persisted_experiments');
    await replay();
    expect(await stored()).toEqual(before);
    expect(await service.store.head()).toBe(head);
  });

  it('leaves nothing of an experiment that was deleted meanwhile', async () => {
    const append = service.store.append.bind(service.store);
    let deleted = false;
    const spy = jest.spyOn(service.store, 'append').mockImplementation(async (stream, version, events, metadata) => {
      if (events[0]?.type === 'RunsPersisted' && !deleted) {
        deleted = true;
        await service.send('DELETE', `/api/v1/sessions/${stream.slice('experiment-'.length)}`, []);
      }
      return append(stream, version, events, metadata);
    });
    const { id } = await persisted(experiment());
    spy.mockRestore();
    await service.settled();
    expect(deleted).toBe(true);
    expect(await runsOf(id)).toEqual([]);
    expect((await service.get(`/api/v1/sessions/${id}`)).status).toBe(404);
  });

  it('takes back what was stored of it after its deletion, also when the process ends before it does', async () => {
    const payloads = service.app.get(PayloadStore, { strict: false });
    const follower = service.app.get<PersistRuns, { forget(): Promise<void> }>(PersistRuns, { strict: false });
    const forget = jest.spyOn(follower, 'forget').mockRejectedValueOnce(new Error('The process ends here.'));
    const body = JSON.stringify(experiment());
    const own = createHash('sha256').update(body).digest('hex');
    const read = payloads.read.bind(payloads);
    const spy = jest.spyOn(payloads, 'read').mockImplementationOnce(async (tenant, sha256) => {
      const payload = await read(tenant, sha256);
      expect(sha256).toBe(own);
      await service.send('DELETE', `/api/v1/sessions/${experimentId(tenant, own, 0)}`, []);
      await service.app
        .get(Followers, { strict: false })
        .passed(await service.store.head(), [DELETED_SESSIONS], 60_000);
      return payload;
    });
    const { json } = await service.upload(body);
    await until(() => Promise.resolve(forget.mock.calls.length === 2));
    await service.settled();
    spy.mockRestore();
    forget.mockRestore();
    expect(await runsOf(json.experiment.id)).toEqual([]);
  });
});

describe('a stored body', () => {
  it('is removed an hour after nothing refers to it any more', async () => {
    const [kept, deleted] = [experiment(), experiment()].map((body) => JSON.stringify(body));
    const hash = (text: string) => createHash('sha256').update(text).digest('hex');
    await persisted(kept!);
    const { id } = await persisted(deleted!);
    const sweeper = service.app.get(PayloadSweeper, { strict: false });
    const left = async () => (await rows('select sha256 from payloads')).map(({ sha256 }) => sha256);
    await service.send('DELETE', `/api/v1/sessions/${id}`, []);
    await service.settled();
    await sweeper.sweep(new Date(Date.now() - 3_600_000));
    expect(await left()).toEqual(expect.arrayContaining([hash(kept!), hash(deleted!)]));
    // The read model forgets more easily than the log does.
    await service.pool.query(`update sessions set payload_sha256 = null`);
    await sweeper.sweep(new Date(Date.now() + 60_000));
    expect(await left()).toContain(hash(kept!));
    expect(await left()).not.toContain(hash(deleted!));
    expect(
      await rows('select 1 from payload_chunks c where not exists (select from payloads p where p.id = c.payload_id)'),
    ).toEqual([]);
  });
});

it('leaves tables that were just filled with statistics for the planner', async () => {
  await persisted(experiment({}, [row({ evaluation_scores: [{ key: 'k', score: 1 }] })]));
  const { rows: tables } = await service.pool.query<{ relname: string }>(
    "select relname from pg_class where oid = any('{examples,runs,feedback}'::regclass[]) and reltuples < 1",
  );
  expect(tables).toEqual([]);
});
