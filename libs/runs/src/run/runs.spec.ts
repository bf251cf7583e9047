import { v4 as newId } from 'uuid';
import { startReading } from '@fairlead/evaluation/testing';
import { type Answer, HOSTILE, type Reading, rows } from '@fairlead/experiments/testing';

let reading: Reading;
let a: string;
beforeAll(async () => {
  reading = await startReading();
  a = reading.tenants.a;
});
afterAll(() => reading.stop());

const session = (row = {}, tenant = a) => reading.insert('sessions', rows.session(tenant, row));
const run = (of: string, row = {}, tenant = a) => reading.insert('runs', rows.run(tenant, of, row));
const query = (body: object, tenant?: 'a' | 'b') => reading.post('/runs/query', body, tenant);
const ids = (answer: Answer): string[] => {
  expect(answer).toMatchObject({ status: 200 });
  return (answer.json.runs as { id: string }[]).map(({ id }) => id);
};

const MEMBERS = [
  ...['name', 'inputs', 'inputs_preview', 'run_type', 'start_time', 'end_time', 'extra', 'error', 'execution_order'],
  ...['serialized', 'outputs', 'outputs_preview', 'parent_run_id', 'manifest_id', 'manifest_s3_id', 'events', 'tags'],
  ...['inputs_s3_urls', 'outputs_s3_urls', 's3_urls', 'trace_id', 'dotted_order', 'trace_min_start_time'],
  ...['trace_max_start_time', 'id', 'status', 'child_run_ids', 'direct_child_run_ids', 'parent_run_ids'],
  ...['feedback_stats', 'reference_example_id', 'total_tokens', 'prompt_tokens', 'completion_tokens'],
  ...['prompt_token_details', 'completion_token_details', 'total_cost', 'prompt_cost', 'completion_cost'],
  ...['prompt_cost_details', 'completion_cost_details', 'price_model_id', 'first_token_time', 'messages', 'session_id'],
  ...['app_path', 'last_queued_at', 'in_dataset', 'share_token', 'trace_tier', 'trace_first_received_at'],
  ...['ttl_seconds', 'trace_upgrade', 'reference_dataset_id', 'thread_id'],
];

describe('one run', () => {
  it('has every member of the schema', async () => {
    const id = await run(await session());
    const answer = await reading.get(`/api/v1/runs/${id}`);
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.json)).toEqual(MEMBERS);
    expect(answer.json).toMatchObject({
      id,
      trace_id: id,
      dotted_order: `20260101T000000000000Z${id}`,
      execution_order: 1,
    });
  });

  it('has inputs and a place in its trace, whatever it was sent with', async () => {
    const of = await session();
    const id = await run(of, { inputs: null, outputs: null });
    const [listed] = (await query({ session: of })).json.runs;
    const v2 = await reading.get(
      `/api/v2/runs/${id}?project_id=${of}&start_time=2026-01-01T00:00:00Z&selects=INPUTS&selects=DOTTED_ORDER`,
    );
    for (const json of [(await reading.get(`/runs/${id}`)).json, listed, v2.json]) {
      // Not toMatchObject, to which null is an empty object.
      expect([json.inputs, json.dotted_order]).toEqual([{}, expect.stringContaining(id)]);
    }
  });

  it('gives opaque members back byte for byte', async () => {
    const id = await run(await session(), {
      inputs: HOSTILE,
      outputs: HOSTILE,
      extra: HOSTILE,
      error: '"a\\u0000\\ud800"',
    });
    const { text } = await reading.get(`/runs/${id}`);
    for (const member of ['inputs', 'outputs', 'extra']) expect(text).toContain(`"${member}":${HOSTILE},"`);
    expect(text).toContain('"error":"a\\u0000\\ud800","');
  });

  it('shares the inputs of the example version it was made from', async () => {
    const dataset = await reading.insert('datasets', rows.dataset(a));
    const example = newId();
    for (const [from, to, inputs] of [
      ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', HOSTILE],
      ['2026-01-02T00:00:00Z', null, '{"newer":true}'],
    ]) {
      await reading.insert(
        'examples',
        rows.example(a, dataset, { id: example, valid_from: from, valid_to: to, inputs }),
      );
    }
    const made = { dataset_id: dataset, example_id: example, example_from: '2026-01-01T00:00:00Z', inputs: null };
    const id = await run(await session(), made);
    const answer = await reading.get(`/runs/${id}`);
    expect(answer.text).toContain(`"inputs":${HOSTILE},"`);
    expect(answer.json).toMatchObject({ reference_example_id: example, reference_dataset_id: dataset });
  });

  it('tells the statistics of its feedback, of scores that overflow when squared too', async () => {
    const of = await session();
    const id = await run(of);
    for (const score of [1e200, -1e200, 0]) {
      await reading.insert('feedback', rows.feedback(a, of, { run_id: id, key: 'wild', score }));
    }
    for (const value of ['"red"', '"r\\u0065d"', 'true', '{"not":"counted"}']) {
      await reading.insert('feedback', rows.feedback(a, of, { run_id: id, key: 'colour', value }));
    }
    const { json } = await reading.get(`/runs/${id}`);
    expect(json.feedback_stats).toEqual({
      colour: { n: 4, avg: null, stdev: null, min: null, max: null, values: { red: 2, true: 1 } },
      wild: { n: 3, avg: 0, stdev: expect.closeTo(8.16496580927726e199, -190), min: -1e200, max: 1e200, values: {} },
    });
  });

  it('is not found for another tenant, another session, and an id that nobody has', async () => {
    const id = await run(await session());
    for (const [url, tenant] of [
      [`/runs/${id}`, 'b'],
      [`/runs/${id}?session_id=${newId()}`, 'a'],
      [`/runs/${newId()}`, 'a'],
    ] as const) {
      const answer = await reading.get(url, tenant);
      expect(answer.status).toBe(404);
      expect(answer.json.detail).toContain('not found');
    }
  });
});

describe('a query of runs', () => {
  it('gives 250 runs in pages without a gap or a double, forwards and back, in both orders', async () => {
    const of = await session();
    const expected: string[] = [];
    for (let i = 0; i < 250; i++) {
      // Fifty runs share each start time.
      const id = await run(of, { start_time: `2026-01-01T00:00:0${i % 5}.000001Z` });
      expected.push(`${i % 5}${id}`);
    }
    const ascending = expected.sort().map((key) => key.slice(1));
    for (const order of ['asc', 'desc']) {
      const wanted = order === 'asc' ? ascending : ascending.toReversed();
      const pages: string[][] = [];
      let cursors: { next: string | null; prev: string | null } = { next: null, prev: null };
      do {
        const answer = await query({ session: [of], limit: 60, order, cursor: cursors.next });
        pages.push(ids(answer));
        cursors = answer.json.cursors;
      } while (cursors.next !== null);
      expect(pages.map((page) => page.length)).toEqual([60, 60, 60, 60, 10]);
      expect(pages.flat()).toEqual(wanted);
      const back: string[][] = [];
      while (cursors.prev !== null) {
        const answer = await query({ session: of, limit: 60, order, cursor: cursors.prev });
        back.unshift(ids(answer));
        cursors = answer.json.cursors;
        expect(cursors.next).not.toBeNull();
      }
      expect(back.flat()).toEqual(wanted.slice(0, 240));
    }
  });

  it('ends exactly at a full last page', async () => {
    const of = await session();
    for (let i = 0; i < 4; i++) await run(of);
    const first = await query({ session: of, limit: 2 });
    const second = await query({ session: of, limit: 2, cursor: first.json.cursors.next });
    expect(second.json.runs).toHaveLength(2);
    expect(second.json.cursors.next).toBeNull();
    expect(
      (await query({ session: of, limit: 2, cursor: first.json.cursors.next, skip_prev_cursor: true })).json.cursors
        .prev,
    ).toBeNull();
  });

  it('merges the runs of several sessions, of all the tenant has when none is named', async () => {
    const [one, two] = [await session({}, reading.tenants.b), await session({}, reading.tenants.b)];
    const times = ['2030-01-01T00:00:03Z', '2030-01-01T00:00:02Z', '2030-01-01T00:00:01Z'];
    const [x, y, z] = [
      await run(one, { start_time: times[0] }, reading.tenants.b),
      await run(two, { start_time: times[1] }, reading.tenants.b),
      await run(one, { start_time: times[2] }, reading.tenants.b),
    ];
    expect(ids(await query({ session: [one, two] }, 'b'))).toEqual([x, y, z]);
    expect(ids(await query({ session: [one, two], order: 'asc' }, 'b'))).toEqual([z, y, x]);
    expect(ids(await query({}, 'b'))).toEqual([x, y, z]);
    expect((await query({ session: [one] }, 'a')).json).toEqual({
      runs: [],
      cursors: { next: null, prev: null },
      search_cursors: null,
      parsed_query: null,
    });
    expect(ids(await query({ id: [x] }, 'a'))).toEqual([]);
  });

  it('filters by every member', async () => {
    const of = await session();
    const example = newId();
    const good = await run(of, {
      example_id: example,
      start_time: '2026-01-01T00:00:00Z',
      name: 'good',
      run_type: 'llm',
    });
    const bad = await run(of, { start_time: '2026-01-02T00:00:00Z', error: '"boom"', status: 'error' });
    const found = async (body: object) => ids(await query({ session: [of], ...body }));
    expect(await found({ id: [good] })).toEqual([good]);
    expect(await found({ id: bad })).toEqual([bad]);
    expect(await found({ trace: good })).toEqual([good]);
    expect(await found({ parent_run: good })).toEqual([]);
    expect(await found({ run_type: 'llm' })).toEqual([good]);
    expect(await found({ reference_example: example })).toEqual([good]);
    expect(await found({ reference_example: [example] })).toEqual([good]);
    expect(await found({ error: true })).toEqual([bad]);
    expect(await found({ error: false })).toEqual([good]);
    expect(await found({ is_root: true })).toEqual([bad, good]);
    expect(await found({ is_root: false })).toEqual([]);
    expect(await found({ execution_order: 1 })).toEqual([bad, good]);
    expect(await found({ start_time: '2026-01-02T00:00:00' })).toEqual([bad]);
    expect(await found({ end_time: '2026-01-01T12:00:00' })).toEqual([good]);
    expect(await found({ filter: null, select: null, cursor: null, order: null })).toEqual([bad, good]);
    expect(await found({ filter: 'eq(name, "good")', trace_filter: 'neq(status, "error")' })).toEqual([good]);
  });

  it('understands the filter language', async () => {
    const of = await session();
    const one = await run(of, {
      name: 'one',
      extra: '{"metadata":{"user":"ann","n":1,"odd":"a\\u0000b"}}',
      inputs: HOSTILE,
      outputs: '{"answer":"Forty-two 100%"}',
      end_time: '2026-01-01T00:00:05Z',
    });
    const two = await run(of, {
      name: 'two',
      extra: '{"metadata":{"user":"bob"}}',
      end_time: '2026-01-01T00:00:00.5Z',
    });
    await reading.insert('feedback', rows.feedback(a, of, { run_id: one, key: 'k', score: 0.9 }));
    await reading.insert('feedback', rows.feedback(a, of, { run_id: one, key: 'other', score: 0.1, value: '"yes"' }));
    await reading.insert('feedback', rows.feedback(a, of, { run_id: two, key: 'k', score: 0.2, source_type: 'model' }));
    const found = async (filter: string) => ids(await query({ session: [of], filter, order: 'asc' })).toSorted();
    const both = [one, two].toSorted();
    expect(await found('and(eq(feedback_key, "k"), gt(feedback_score, 0.5))')).toEqual([one]);
    expect(await found('and(eq(feedback_key, "other"), gt(feedback_score, 0.5))')).toEqual([]);
    expect(await found('and(eq(feedback_key, "other"), eq(feedback_value, "yes"))')).toEqual([one]);
    expect(await found('eq(feedback_source, "model")')).toEqual([two]);
    expect(await found('neq(feedback_key, "other")')).toEqual([two]);
    expect(await found('and(eq(metadata_key, "user"), eq(metadata_value, "ann"))')).toEqual([one]);
    expect(await found('and(in(metadata_key, ["user", "x"]), eq(metadata_value, "bob"))')).toEqual([two]);
    expect(await found('neq(metadata_key, "n")')).toEqual([two]);
    expect(await found(`has(metadata, '{"n":1}')`)).toEqual([one]);
    expect(await found('has(metadata, "user")')).toEqual(both);
    expect(await found('has(tags, "x")')).toEqual([]);
    expect(await found('gt(latency, "2s")')).toEqual([one]);
    expect(await found('lte(latency, 0.5)')).toEqual([two]);
    expect(await found('search("forty-TWO 100%")')).toEqual([one]);
    expect(await found('search("100_")')).toEqual([]);
    expect(await found('or(eq(name, "one"), eq(name, "two"))')).toEqual(both);
    expect(await found('not(eq(name, "one"))')).toEqual([two]);
    expect(await found('eq(error, null)')).toEqual(both);
    expect(await found('and(eq(is_root, true), eq(total_tokens, 0), in(status, ["success"]))')).toEqual(both);
    expect(await found(`eq(id, "${one}")`)).toEqual([one]);
    expect(await found('eq(name, "a\\u0000b")')).toEqual([]);
    const refused = await query({ session: [of], filter: 'eq(colour, "red")' });
    expect(refused.status).toBe(400);
    expect(refused.json.detail).toBe("The filter is not understood: there is no field 'colour' to compare.");
  });

  it('answers every member, whatever is selected: with its value, or null where that is allowed', async () => {
    const of = await session();
    await run(of, { outputs: '{"o":1}' });
    const { json } = await query({ session: of, select: ['outputs', 'trace_min_max_start_time', 'manifest'] });
    const [whole] = (await query({ session: of })).json.runs;
    const nulls = Object.keys(whole).filter((name) => json.runs[0][name] === null);
    expect(json.runs[0]).toEqual({
      ...whole,
      ...Object.fromEntries(nulls.map((name) => [name, null])),
      inputs: {},
    });
    expect(nulls).toEqual(expect.arrayContaining(['extra', 'tags', 'child_run_ids', 'reference_example_id']));
  });

  it('sends a page too long to be held whole in pieces', async () => {
    const of = await session();
    const large = `{"x":"${'y'.repeat(5_000_000)}"}`;
    for (let i = 0; i < 3; i++) await run(of, { outputs: large });
    const { json } = await query({ session: of });
    expect(json.runs.map((one: { outputs: unknown }) => JSON.stringify(one.outputs) === large)).toEqual([
      true,
      true,
      true,
    ]);
    expect(json.cursors.next).toBeNull();
  });

  it('refuses more than 100 runs, cursors of its own making and words', async () => {
    expect(await query({ limit: 101 })).toMatchObject({
      status: 400,
      json: { detail: 'Limit exceeds maximum allowed value of 100' },
    });
    expect((await query({ limit: 0 })).status).toBe(422);
    expect((await query({ cursor: 'abc' })).status).toBe(400);
    expect((await query({ query: 'slow runs' })).status).toBe(400);
    expect((await query({ select: ['nothing'] })).json.detail[0]).toMatchObject({
      type: 'literal_error',
      loc: ['body', 'select', 0],
    });
    expect((await query({ session: 'x' })).json.detail[0]).toMatchObject({
      type: 'uuid_parsing',
      loc: ['body', 'session', 0],
    });
    expect((await reading.get('/runs/abc')).status).toBe(422);
  });
});

describe('statistics of runs', () => {
  const stats = (body: object, tenant?: 'a' | 'b') => reading.post('/runs/stats', body, tenant);
  const time = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
  let of: string;
  beforeAll(async () => {
    of = await session();
    for (const [index, seconds] of [1, 2, 3, 10].entries()) {
      const score = index % 2;
      const status = seconds === 10 ? { status: 'error', error: '"slow"' } : {};
      const id = await run(of, {
        start_time: time(seconds),
        end_time: time(2 * seconds),
        name: `n${seconds}`,
        ...status,
      });
      await reading.insert('feedback', rows.feedback(a, of, { run_id: id, key: 'good', score }));
    }
  });

  it('are those of all runs that a query would find', async () => {
    const { status, json } = await stats({ session: [of] });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      run_count: 4,
      latency_p50: 2.5,
      latency_avg: 4,
      error_rate: 0.25,
      last_run_start_time: '2026-01-01T00:00:10.000000+00:00',
      feedback_stats: { good: { n: 4, avg: 0.5, min: 0, max: 1 } },
      total_tokens: null,
    });
    expect((await stats({ session: [of], error: false, filter: 'gt(latency, 1)' })).json).toMatchObject({
      run_count: 2,
      latency_p50: 2.5,
      error_rate: 0,
      feedback_stats: { good: { n: 2 } },
    });
  });

  it('show what was selected, and are empty where nothing is found', async () => {
    expect((await stats({ session: [of], select: ['run_count', 'error_rate'] })).json).toEqual({
      run_count: 4,
      error_rate: 0.25,
    });
    const none = { run_count: 0, latency_p50: null, error_rate: null, feedback_stats: {}, last_run_start_time: null };
    expect((await stats({ session: [newId()] })).json).toMatchObject(none);
    expect((await stats({ session: [of] }, 'b')).json).toMatchObject(none);
  });

  it('refuse what they cannot do', async () => {
    expect((await stats({ group_by: { attribute: 'name' } })).status).toBe(400);
    expect((await stats({ query: 'slow ones' })).status).toBe(400);
    expect((await stats({ filter: 'nonsense(' })).status).toBe(400);
    expect((await stats({ select: ['everything'] })).status).toBe(422);
  });
});
