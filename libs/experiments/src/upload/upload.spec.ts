import { gzipSync } from 'node:zlib';
import { streamName } from '@fairlead/eventing';
import { v4 as uuid } from 'uuid';
import { until } from '@fairlead/postgres/testing';
import { experiment, row, startUploading, type Uploading } from '../testing/uploading';

let service: Uploading;
beforeAll(async () => {
  service = await startUploading();
});
afterAll(() => service.stop());

const count = async (table: string): Promise<number> => {
  const { rows } = await service.pool.query<{ n: number }>(`select count(*)::int as n from ${table}`);
  return rows[0]!.n;
};

describe('the first answer to an upload', () => {
  it('echoes the request; what is computed later is null', async () => {
    const body = experiment({
      experiment_description: 'first try',
      dataset_description: 'questions',
      experiment_end_time: '2026-01-02T02:30:00.25+02:00',
      experiment_metadata: { model: 'm' },
    });
    const { status, json, headers } = await service.upload(body);
    expect(status).toBe(200);
    expect(headers['content-type']).toContain('application/json');
    expect(Object.keys(json)).toEqual(['dataset', 'experiment']);
    expect(json.dataset).toEqual({
      name: body.dataset_name,
      description: 'questions',
      created_at: expect.stringMatching(/(Z|\+00:00)$/),
      data_type: 'kv',
      inputs_schema_definition: null,
      outputs_schema_definition: null,
      externally_managed: true,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      tenant_id: service.tenants.a,
      example_count: 0,
      session_count: 0,
      modified_at: expect.stringMatching(/(Z|\+00:00)$/),
      last_session_start_time: null,
    });
    expect(json.experiment).toEqual({
      start_time: '2026-01-01T00:00:00.000000+00:00',
      end_time: '2026-01-02T00:30:00.250000+00:00',
      extra: { metadata: { model: 'm' } },
      name: body.experiment_name,
      description: 'first try',
      default_dataset_id: null,
      reference_dataset_id: json.dataset.id,
      trace_tier: 'longlived',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      tenant_id: service.tenants.a,
      run_count: null,
      latency_p50: null,
      latency_p99: null,
      first_token_p50: null,
      first_token_p99: null,
      total_tokens: null,
      prompt_tokens: null,
      completion_tokens: null,
      total_cost: null,
      prompt_cost: null,
      completion_cost: null,
      last_run_start_time: null,
      last_run_start_time_live: null,
      feedback_stats: null,
      session_feedback_stats: null,
      run_facets: null,
      error_rate: null,
      streaming_rate: null,
      test_run_number: 1,
    });
  });

  it('tells what an existing dataset held just before, also when it is given again', async () => {
    const first = experiment({ experiment_start_time: '2026-01-01T00:00:00Z' });
    const { dataset } = (await service.upload(first)).json;
    await service.settled();
    const before = (await service.get(`/api/v1/datasets/${dataset.id}`)).json;
    const again = experiment({ dataset_name: first.dataset_name, results: [row(), row()] });
    const second = await service.upload(again);
    const held = { example_count: 1, session_count: 1, last_session_start_time: before.last_session_start_time };
    expect(Date.parse(before.last_session_start_time)).toBe(Date.parse(first.experiment_start_time));
    expect(second.json.dataset).toMatchObject({ id: dataset.id, ...held });
    await service.settled();
    expect((await service.upload(again)).json.dataset).toEqual(second.json.dataset);
    const third = await service.upload(experiment({ dataset_id: dataset.id, dataset_name: undefined }));
    expect(third.json.dataset).toMatchObject({ example_count: 3, session_count: 2 });
    // Read back it is one more: the answer's values were those before.
    expect((await service.get(`/api/v1/datasets/${dataset.id}`)).json).toMatchObject({ session_count: 3 });
  });

  it('spells times as what is read back does', async () => {
    const spelled = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/;
    const { experiment: made, dataset } = (await service.upload(experiment())).json;
    await service.settled();
    const answers = [made, dataset];
    for (const path of [`sessions/${made.id}`, `datasets/${dataset.id}`, `runs?session=${made.id}`]) {
      answers.push((await service.get(`/api/v1/${path}`)).json);
    }
    const feedback = JSON.stringify({ session_id: made.id, key: 'k', created_at: '2026-01-01T00:00:00Z' });
    answers.push((await service.send('POST', '/api/v1/feedback', [feedback])).json);
    const times = answers.flatMap((answer) =>
      Object.entries(answer).filter(([name, value]) => /(_at|_time)$/.test(name) && value !== null),
    );
    expect(times.length).toBeGreaterThan(8);
    for (const [name, value] of times) expect([name, value]).toEqual([name, expect.stringMatching(spelled)]);
  });

  it('has no extra without experiment_metadata', async () => {
    expect((await service.upload(experiment())).json.experiment.extra).toBeNull();
  });

  it('is what is read back, but for what is computed later', async () => {
    const { json } = await service.upload(
      experiment({
        experiment_description: 'first try',
        dataset_description: 'questions',
        experiment_metadata: { a: 1 },
      }),
    );
    const { experiment: made, dataset } = json;
    await service.settled();
    const instant = (value: unknown) => (/^\d{4}-.*T/.test(String(value)) ? Date.parse(String(value)) : value);
    const given = (from: Record<string, unknown>) =>
      Object.fromEntries(
        Object.entries(from).flatMap(([name, value]) => (value === null ? [] : [[name, instant(value)]])),
      );
    expect(given((await service.get(`/api/v1/sessions/${made.id}`)).json)).toMatchObject(given(made));
    const computed = { example_count: 1, session_count: 1, modified_at: expect.any(Number) };
    const read = (await service.get(`/api/v1/datasets/${dataset.id}`)).json;
    expect(given(read)).toMatchObject({ ...given(dataset), ...computed });
  });

  it('is served at three paths', async () => {
    for (const path of ['/api/v1/datasets', '/api/datasets', '/datasets']) {
      const { status } = await service.send('POST', `${path}/upload-experiment`, [JSON.stringify(experiment())]);
      expect(status).toBe(200);
    }
  });

  it('means that lists hold the experiment and its dataset', async () => {
    const { json } = await service.upload(experiment());
    expect((await service.get(`/api/v1/sessions/${json.experiment.id}`)).status).toBe(200);
    expect((await service.get(`/api/v1/datasets/${json.dataset.id}`)).status).toBe(200);
    expect((await service.get(`/api/v1/sessions/${json.experiment.id}`, 'b')).status).toBe(404);
    expect((await service.get(`/api/v1/datasets/${json.dataset.id}`, 'b')).status).toBe(404);
  });

  it('needs a key', async () => {
    expect((await service.upload(experiment(), { 'x-api-key': 'nobody' })).status).toBe(401);
  });
});

describe('the dataset of an upload', () => {
  it('is the one with the given id; it is created with a made-up name when it is new', async () => {
    const id = uuid();
    const first = await service.upload(experiment({ dataset_id: id, dataset_name: undefined }));
    expect(first.json.dataset.id).toBe(id);
    expect(first.json.dataset.name).toContain(id);
    const second = await service.upload(experiment({ dataset_id: id, dataset_name: undefined }));
    expect(second.json.dataset).toMatchObject({ id, name: first.json.dataset.name });
    expect([first, second].map(({ json }) => json.experiment.test_run_number)).toEqual([1, 2]);
  });

  it('is the one with the given name, or a new one with a made-up id', async () => {
    const name = `named ${uuid()}`;
    const first = await service.upload(experiment({ dataset_name: name }));
    const second = await service.upload(experiment({ dataset_name: name, dataset_id: first.json.dataset.id }));
    expect(second.json.dataset.id).toBe(first.json.dataset.id);
    expect(second.json.experiment.test_run_number).toBe(2);
  });

  it('of the same name in another tenant is another one', async () => {
    const body = experiment();
    const [a, b] = [await service.upload(body), await service.upload(body, { 'x-api-key': 'b' })];
    expect([a.status, b.status]).toEqual([200, 200]);
    expect(a.json.dataset.id).not.toBe(b.json.dataset.id);
    expect(a.json.experiment.id).not.toBe(b.json.experiment.id);
  });

  it('of a name whose dataset was deleted, but not released, is a new one', async () => {
    const name = uuid();
    const first = (await service.upload(JSON.stringify(experiment({ dataset_name: name })))).json.dataset;
    await service.store.append(streamName('dataset', first.id), 'any', [{ type: 'DatasetDeleted', data: {} }], {});
    const again = await service.upload(JSON.stringify(experiment({ dataset_name: name })));
    expect(again).toMatchObject({ status: 200, json: { dataset: { name } } });
    expect(again.json.dataset.id).not.toBe(first.id);
  });

  it('may not be meant two ways', async () => {
    const [one, two] = [await service.upload(experiment()), await service.upload(experiment())];
    const { dataset } = one.json;
    for (const named of [two.json.dataset.name, `new ${uuid()}`]) {
      const { status, json } = await service.upload(experiment({ dataset_id: dataset.id, dataset_name: named }));
      const because = `the dataset of this id is named '${dataset.name}'`;
      const detail = `dataset_id and dataset_name refer to different datasets: ${because}.`;
      expect([status, json.detail]).toEqual([400, detail]);
    }
    const unknown = await service.upload(experiment({ dataset_id: uuid(), dataset_name: dataset.name }));
    expect(unknown.status).toBe(400);
    expect(unknown.json.detail).toMatch(`: the dataset of this name has the id ${dataset.id}.`);
  });

  it('must have been made by an upload', async () => {
    const made = await service.send('POST', '/api/v1/datasets', ['{"name":"own"}']);
    expect(made).toMatchObject({ status: 200, json: { externally_managed: false } });
    for (const named of [{ dataset_id: made.json.id as string, dataset_name: undefined }, { dataset_name: 'own' }]) {
      const { status, json } = await service.upload(experiment(named));
      expect(status).toBe(400);
      expect(json.detail).toContain('was not created through the upload of an experiment');
    }
    expect((await service.get('/sessions')).json).not.toContainEqual(
      expect.objectContaining({ reference_dataset_id: made.json.id as string }),
    );
  });

  it('of another tenant is a conflict that says nothing more', async () => {
    const { json } = await service.upload(experiment());
    const refused = await service.upload(experiment({ dataset_id: json.dataset.id, dataset_name: undefined }), {
      'x-api-key': 'b',
    });
    expect(refused.status).toBe(409);
    expect(refused.json).toEqual({ detail: 'This dataset_id cannot be used.' });
  });

  it('numbers concurrent experiments without holes', async () => {
    const dataset_name = `busy ${uuid()}`;
    const answers = await Promise.all(Array.from({ length: 6 }, () => service.upload(experiment({ dataset_name }))));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(new Set(answers.map(({ json }) => json.dataset.id)).size).toBe(1);
    expect(answers.map(({ json }) => json.experiment.test_run_number).sort()).toEqual([1, 2, 3, 4, 5, 6]);
  });
});

describe('the name of an experiment', () => {
  it('is used once in a tenant; no dataset is created for the second', async () => {
    const first = await service.upload(experiment());
    await service.settled();
    const datasets = await count('datasets');
    const { experiment_name } = { experiment_name: first.json.experiment.name };
    const { status, json, headers } = await service.upload(experiment({ experiment_name }));
    expect(status).toBe(409);
    expect(json.detail).toMatch(/^Session already exists\./);
    expect(json.detail).toContain(first.json.experiment.id);
    expect(headers['x-should-retry']).toBe('false');
    await service.settled();
    expect(await count('datasets')).toBe(datasets);
  });

  it('is free again when the dataset was refused', async () => {
    const experiment_name = `wanted ${uuid()}`;
    const { json } = await service.upload(experiment());
    const dataset = { dataset_id: json.dataset.id, dataset_name: 'not its name' };
    expect((await service.upload(experiment({ experiment_name, ...dataset }))).status).toBe(400);
    expect((await service.upload(experiment({ experiment_name }))).status).toBe(200);
  });
});

describe('the same upload again', () => {
  it('gets the first answer', async () => {
    const body = JSON.stringify(experiment());
    const first = await service.upload(body);
    const again = await service.upload(body);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(again.headers['idempotent-replayed']).toBe('true');
  });

  it('is recognised whatever its encoding is', async () => {
    const body = Buffer.from(JSON.stringify(experiment()));
    const first = await service.upload(body);
    const again = await service.upload(gzipSync(body), { 'content-encoding': 'gzip' });
    expect(again.text).toBe(first.text);
  });

  it('sent side by side makes one experiment', async () => {
    const body = JSON.stringify(experiment());
    const answers = await Promise.all(Array.from({ length: 5 }, () => service.upload(body)));
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ headers }) => !headers['idempotent-replayed'])).toHaveLength(1);
    const { id } = answers[0]!.json.experiment;
    await service.settled();
    const { rows } = await service.pool.query('select id from runs where session_id = $1', [id]);
    expect(rows).toHaveLength(1);
  });

  it('is a conflict after a day', async () => {
    const body = JSON.stringify(experiment());
    const first = await service.upload(body);
    const begun = Date.now();
    jest.useFakeTimers({ now: begun + 23.9 * 3_600_000, doNotFake: notDate });
    try {
      expect((await service.upload(body)).text).toBe(first.text);
      jest.setSystemTime(begun + 24.1 * 3_600_000);
      const again = await service.upload(body);
      expect(again.status).toBe(409);
      expect(again.json.detail).toContain(first.json.experiment.id);
    } finally {
      jest.useRealTimers();
    }
  });

  it('makes a new experiment once the first was deleted', async () => {
    const body = JSON.stringify(experiment());
    const first = await service.upload(body);
    const { id } = first.json.experiment;
    expect((await service.send('DELETE', `/api/v1/sessions/${id}`, [])).status).toBeLessThan(300);
    const again = await service.upload(body);
    expect(again.status).toBe(200);
    expect(again.json.experiment.id).not.toBe(id);
    expect(again.json.experiment.test_run_number).toBe(2);
    await service.settled();
    expect((await service.get(`/api/v1/sessions/${again.json.experiment.id}?include_stats=true`)).json.run_count).toBe(
      1,
    );
  });

  it('repairs what was broken off before any of its steps', async () => {
    const append = service.store.append.bind(service.store);
    let steps = 0;
    for (let broken = true; broken; steps++) {
      const body = JSON.stringify(experiment());
      let calls = 0;
      const spy = jest.spyOn(service.store, 'append').mockImplementation((stream, version, events, metadata) => {
        const fails = metadata.actor === 'k' && calls++ >= steps;
        return fails ? Promise.reject(new Error('The process ends here.')) : append(stream, version, events, metadata);
      });
      const first = await service.upload(body);
      spy.mockRestore();
      broken = first.status !== 200;
      if (!broken) continue;
      const repaired = await service.upload(body);
      expect(repaired.status).toBe(200);
      expect(repaired.json.experiment).toMatchObject({
        test_run_number: 1,
        reference_dataset_id: repaired.json.dataset.id,
      });
      expect((await service.upload(body)).text).toBe(repaired.text);
    }
    expect(steps).toBeGreaterThan(4);
  });
});

describe('an Idempotency-Key', () => {
  it('repeats the first answer to the same body and refuses another', async () => {
    const key = { 'idempotency-key': uuid() };
    const body = JSON.stringify(experiment());
    const first = await service.upload(body, key);
    const again = await service.upload(body, key);
    expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
    expect(again.headers['content-type']).toContain('application/json');
    expect((await service.upload(experiment(), key)).status).toBe(422);
  });

  it('is a conflict while the first request runs', async () => {
    const key = uuid();
    const text = JSON.stringify(experiment());
    let passed = () => {};
    const held = new Promise<void>((resolve) => (passed = resolve));
    const original = Object.getPrototypeOf(service.store).read.bind(service.store) as typeof service.store.read;
    let reached = () => {};
    const reading = new Promise<void>((resolve) => (reached = resolve));
    const read = jest.spyOn(service.store, 'read').mockImplementation(async (stream, after) => {
      if (stream.startsWith('experiment-')) {
        reached();
        await held;
      }
      return original(stream, after);
    });
    const first = service.upload(text, { 'idempotency-key': key });
    await reading;
    expect((await service.upload(text, { 'idempotency-key': key })).status).toBe(409);
    passed();
    expect((await first).status).toBe(200);
    read.mockRestore();
  });
});

describe('a refused upload', () => {
  beforeEach(() => service.settled());

  it('leaves nothing', async () => {
    const before = [await count('payloads'), await count('payload_chunks'), await service.store.head()];
    const invalid = experiment({}, [row(), row({ row_id: 'x' })]);
    expect((await service.upload(invalid)).status).toBe(422);
    expect((await service.upload('{"results":[')).status).toBe(422);
    expect((await service.upload(Buffer.alloc(3_000_000, ' '))).status).toBe(422);
    expect([await count('payloads'), await count('payload_chunks'), await service.store.head()]).toEqual(before);
  });

  it('is none whose metadata is near its limit, but one whose event cannot be recorded', async () => {
    const metadata = { a: 'x'.repeat(520_000) };
    const { status, json } = await service.upload(experiment({ experiment_metadata: metadata }, []));
    expect([status, json.experiment?.extra]).toEqual([200, { metadata }]);
    await service.settled();
    const before = await service.store.head();
    const escaped = await service.upload(experiment({ experiment_metadata: { a: '"'.repeat(250_000) } }, []));
    expect([escaped.status, escaped.json.detail]).toEqual([413, expect.stringContaining('at most 1000000')]);
    expect(await service.store.head()).toBe(before);
  });

  it.each([
    ['in the middle', () => idleInTransaction()],
    ['after a pause', () => count('payload_drafts')],
  ])('leaves nothing when the client goes away %s', async (_, written) => {
    const stored = async () => [await count('payloads'), await count('payload_chunks'), await service.store.head()];
    const before = await stored();
    const text = JSON.stringify(
      experiment(
        {},
        Array.from({ length: 20_000 }, () => row()),
      ),
    );
    async function* half() {
      yield text.slice(0, 2_500_000);
      await until(async () => (await written()) > 0);
      throw new Error('The client goes away.');
    }
    await expect(service.send('POST', '/api/v1/datasets/upload-experiment', half())).rejects.toThrow();
    // What was written in transactions of its own is deleted afterwards.
    await until(async () => (await idleInTransaction()) === 0 && (await count('payload_drafts')) === 0);
    expect(await stored()).toEqual(before);
  });

  it('lists the problems in the shape of every other request', async () => {
    const { status, json } = await service.upload(experiment({ experiment_name: 1 }));
    expect(status).toBe(422);
    expect(json.detail).toEqual([
      { type: 'string_type', loc: ['body', 'experiment_name'], msg: 'Input should be a valid string', input: 1 },
    ]);
  });

  it('counts the problems that it does not list', async () => {
    const rows = Array.from({ length: 30_000 }, () => row({ row_id: 'x' }));
    const { status, json, headers } = await service.upload(experiment({}, rows));
    expect(status).toBe(422);
    expect(headers['x-error-count']).toBe('30000');
    expect(json.detail).toHaveLength(101);
  });
});

/** Functions that jest's fake clock leaves alone: only Date is moved. */
const notDate = [
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
  'setTimeout',
  'clearTimeout',
] as const satisfies readonly string[] as never;

async function idleInTransaction(): Promise<number> {
  const { rows } = await service.pool.query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null`,
  );
  return rows[0]!.n;
}
