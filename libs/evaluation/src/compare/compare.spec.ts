import { streamName } from '@fairlead/eventing';
import { until } from '@fairlead/postgres/testing';
import { v4 as newId } from 'uuid';
import { ExperimentLimits } from '@fairlead/runs';
import { type Answer, HOSTILE, type Reading, rows, startReading } from '../testing/reading';
import { Comparisons } from './comparisons.service';

let reading: Reading;
let a: string;
let dataset: string;
let examples: string[];
let base: string;
let next: string;

beforeAll(async () => {
  reading = await startReading();
  a = reading.tenants.a;
});
afterAll(() => reading.stop());

interface Outcome {
  readonly scores?: Readonly<Record<string, number | null>>;
  readonly status?: 'success' | 'error';
  readonly seconds?: number;
  readonly version?: string;
  readonly outputs?: string;
  readonly source?: string;
}

/** An experiment on `dataset` with one outcome per example, null for rows it lacks. */
async function experiment(outcomes: readonly (Outcome | null)[], row = {}): Promise<string> {
  const session = await reading.insert('sessions', rows.session(a, { reference_dataset_id: dataset, ...row }));
  for (const [index, outcome] of outcomes.entries()) {
    if (!outcome) continue;
    const { scores = {}, status = 'success', seconds = 1, version, outputs = '{"answer":1}', source = 'api' } = outcome;
    const run = await reading.insert(
      'runs',
      rows.run(a, session, {
        dataset_id: dataset,
        example_id: examples[index],
        example_from: version ?? '2026-01-01T00:00:00Z',
        status,
        error: status === 'error' ? '"it broke"' : null,
        end_time: new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString(),
        outputs,
        row_number: index,
      }),
    );
    for (const [key, score] of Object.entries(scores)) {
      await reading.insert('feedback', rows.feedback(a, session, { run_id: run, key, score, source_type: source }));
    }
  }
  return session;
}

async function newDataset(count: number, row = {}): Promise<void> {
  dataset = await reading.insert('datasets', rows.dataset(a));
  examples = [];
  for (let i = 0; i < count; i++) examples.push(await reading.insert('examples', rows.example(a, dataset, row)));
}

const compare = (search = '', experiments = [base, next]) =>
  reading.get(`/datasets/${dataset}/compare?experiments=${experiments.join(',')}&${search}`);
const right = { scores: { correct: 1 } };
const wrong = { scores: { correct: 0 } };

const keyOf = (answer: Answer, key = 'correct') => {
  expect(answer).toMatchObject({ status: 200 });
  return (answer.json.keys as { key: string; results: Record<string, unknown>[] }[]).find((one) => one.key === key)!;
};

describe('A comparison of pass and fail', () => {
  beforeAll(async () => {
    await newDataset(8);
    for (const [index, id] of examples.entries()) {
      await reading.pool.query('update examples set sequence = $2 where id = $1', [id, 7 - index]);
    }
    base = await experiment([right, right, wrong, right, right, {}, right, null], { name: 'base' });
    const slow = [
      { ...right, seconds: 3 },
      { ...wrong, seconds: 7 },
    ];
    next = await experiment([...slow, right, wrong, { status: 'error' }, right, null, right], { name: 'next' });
  });

  it('is computed once for all who ask for it while it runs', async () => {
    let [asked, connections] = [0, 0];
    let release = () => undefined as void;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const pool = {
      query: async (text: string, values: unknown[]) => {
        const answer = await reading.pool.query(text, values);
        asked++;
        return answer;
      },
      connect: async () => {
        connections++;
        await gate;
        return reading.pool.connect();
      },
    };
    const comparisons = new Comparisons(pool as unknown as typeof reading.pool, new ExperimentLimits());
    const wanted = { datasetId: dataset, experiments: [base, next], lowerIsBetter: [], higherIsBetter: [] };
    const first = comparisons.compare(a, wanted);
    await until(() => connections > 0);
    const perRequest = asked;
    const second = comparisons.compare(a, wanted);
    await until(() => asked === 2 * perRequest);
    await new Promise(setImmediate);
    release();
    expect(await second).toBe(await first);
    expect(connections).toBe(4);
  });

  it('counts every row once, and names its tests', async () => {
    const { results, ...key } = keyOf(await compare()) as ReturnType<typeof keyOf> & Record<string, unknown>;
    expect(key).toEqual({ key: 'correct', kind: 'pass/fail', direction: 'higher is better' });
    expect(results[0]).toEqual({ experiment: base, mean: 5 / 6, scored: 6, runs: 6 });
    const counts = { better: 1, worse: 2, same: 1, missing: 1, extra: 1, errored: 1, unscored: 1 };
    expect(results[1]).toMatchObject({
      experiment: next,
      difference: -0.25,
      verdict: 'not clear',
      counts: { rows: 8, ...counts },
      test: { method: 'exact sign test', interval_method: 'bonett-price', p: 1, n: 4, resamples: null },
    });
    expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(8);
  });

  it('turns around with the direction of a key', async () => {
    const worse = (answer: Answer) => (keyOf(answer).results[1]!.counts as { worse: number }).worse;
    expect(worse(await compare('lower_is_better=correct'))).toBe(1);
    const config = '{"type":"continuous","is_lower_score_better":true}';
    await reading.insert('feedback_configs', { tenant_id: a, key: 'correct', config });
    expect(worse(await compare())).toBe(1);
    expect(worse(await compare('higher_is_better=correct'))).toBe(2);
    await reading.pool.query('delete from feedback_configs');
    expect(worse(await compare())).toBe(2);
  });

  it('turns around with what the dataset says, unless the request says otherwise', async () => {
    const data = { name: dataset, description: null, data_type: 'kv', externally_managed: true };
    const metadata = { tenant: a };
    await reading.store.append(streamName('dataset', dataset), 0, [{ type: 'DatasetCreated', data }], metadata);
    const directions = `/datasets/${dataset}/score-directions`;
    const direction = async (search?: string) => (keyOf(await compare(search)) as { direction?: string }).direction;
    expect((await reading.get(directions)).json).toEqual({ lower_is_better: [], higher_is_better: [] });
    const lower = { lower_is_better: ['correct'], higher_is_better: [] };
    expect((await reading.send('PUT', directions, { lower_is_better: ['correct'] })).json).toEqual(lower);
    expect((await reading.get(directions)).json).toEqual(lower);
    expect(await direction()).toBe('lower is better');
    expect(await direction('higher_is_better=correct')).toBe('higher is better');
    const config = '{"type":"continuous","is_lower_score_better":true}';
    await reading.insert('feedback_configs', { tenant_id: a, key: 'correct', config });
    await reading.send('PUT', directions, { higher_is_better: ['correct'] });
    expect(await direction()).toBe('higher is better');
    await reading.pool.query('delete from feedback_configs');
    const both = { lower_is_better: ['correct'], higher_is_better: ['correct'] };
    expect((await reading.send('PUT', directions, both)).status).toBe(400);
    expect((await reading.send('PUT', directions, { lower_is_better: [''] })).status).toBe(422);
    expect((await reading.send('PUT', directions, lower, 'b')).status).toBe(404);
    expect((await reading.get(directions, 'b')).status).toBe(404);
    expect((await reading.send('PUT', directions, {})).json).toEqual({ lower_is_better: [], higher_is_better: [] });
    expect(await direction()).toBe('higher is better');
  });

  it('lists the worst rows first, page by page', async () => {
    const { page } = (await compare('limit=3')).json;
    expect(page.next_offset).toBe(3);
    const regressed = page.rows.map(({ example_id }: { example_id: string }) => example_id);
    expect(new Set(regressed)).toEqual(new Set([examples[1], examples[3], examples[4]]));
    const broken = page.rows.find(({ example_id }: { example_id: string }) => example_id === examples[4]);
    expect(broken).toMatchObject({
      regression: 1,
      inputs_preview: '{"question":1}',
      cells: [
        { status: 'success', scores: [1], outputs_preview: '{"answer":1}', latency_seconds: 1, runs: 1 },
        { status: 'error', scores: [null], error_preview: 'it broke' },
      ],
    });
    const rest = (await compare('limit=100&offset=3')).json.page;
    expect(rest.next_offset).toBeNull();
    const all = [...regressed, ...rest.rows.map(({ example_id }: { example_id: string }) => example_id)];
    expect(new Set(all)).toEqual(new Set(examples));
    expect(rest.rows.map(({ regression }: { regression: number | null }) => regression)).toEqual([
      0,
      -1,
      null,
      null,
      null,
    ]);
  });

  it('is of one experiment alone as well, with nothing tested', async () => {
    const answer = await compare('', [base]);
    expect(keyOf(answer).results).toEqual([{ experiment: base, mean: 5 / 6, scored: 6, runs: 6 }]);
    expect(answer.json).toMatchObject({ baseline: base, page: { total: answer.json.rows, next_offset: null } });
    expect((await compare('format=summary', [base])).json.experiments).toHaveLength(1);
  });

  it('shows only rows that became what is asked for, in number as the counts say', async () => {
    const { counts } = keyOf(await compare()).results[1] as { counts: Record<string, number> };
    const shown = async (...filters: string[]) =>
      (await compare(filters.map((filter) => `rows=${encodeURIComponent(filter)}`).join('&'))).json.page;
    for (const kind of ['better', 'worse', 'same', 'missing', 'extra', 'errored', 'unscored']) {
      const page = await shown(`${next}:${kind}:correct`);
      expect({ kind, total: page.total, rows: page.rows.length }).toEqual({
        kind,
        total: counts[kind],
        rows: counts[kind],
      });
      expect(page.filters).toEqual([`${next}:${kind}:correct`]);
    }
    expect((await shown(`${next}:better,worse:correct`)).total).toBe(counts.better! + counts.worse!);
    expect((await shown(`${next}:better:correct`, `${next}:worse:correct`)).total).toBe(0);
    for (const [filter, status] of [
      [`${next}:beter:correct`, 422],
      ['nothing', 422],
      [`${base}:better:correct`, 400],
      [`${next}:better:nothing`, 400],
    ] as const) {
      expect([filter, (await compare(`rows=${encodeURIComponent(filter)}`)).status]).toEqual([filter, status]);
    }
  });

  it('take no query parameter that they do not know', async () => {
    const { status, json } = await compare('row=worse&limit=0');
    expect([status, json.detail]).toMatchObject([422, [{ type: 'extra_forbidden', loc: ['query', 'row'] }]]);
    expect((await reading.get(`/datasets/${dataset}?row=worse`)).status).toBe(200);
  });

  it('orders rows as is asked for, and finds the page of one', async () => {
    const ids = async (search: string) =>
      ((await compare(search)).json.page.rows as { example_id: string }[]).map(({ example_id }) => example_id);
    // They are of one time, and a row stands where its example was sent: here the other way round.
    expect(await ids('sort=row')).toEqual(examples.toReversed());
    expect((await compare('sort=row&limit=3&offset=3')).json.page.rows[0].example_id).toBe(examples[4]);
    const usual = await ids('');
    const improved = await ids('sort=improvement');
    expect([...improved].sort()).toEqual([...examples].sort());
    expect(usual[0]).not.toBe(improved[0]);
    // The third one got better, the second one worse.
    expect(improved[0]).toBe(examples[2]);
    expect((await ids(`sort=${encodeURIComponent(`difference:${next}:correct`)}`)).slice(0, 2).sort()).toEqual(
      [examples[1], examples[3]].sort(),
    );
    const slowest = await ids(`sort=latency:${next}`);
    expect([...slowest.slice(0, 2), slowest.at(-1)]).toEqual([examples[1], examples[0], examples[6]]);
    expect(await ids(`sort=latency:${base}`)).toHaveLength(8);
    expect((await compare(`sort=latency:${examples[0]}`)).status).toBe(400);
    const { page } = (await compare(`limit=2&around=${usual[5]}`)).json;
    expect(page).toMatchObject({ place: 5, offset: 4, next_offset: 6 });
    expect(page.rows[1].example_id).toBe(usual[5]);
    expect((await compare(`around=${next}`)).json.page).toMatchObject({ place: null, offset: 0, rows_before: null });
    // Which of the rows that pass a filter come before and after one that does not.
    const worse = encodeURIComponent(`${next}:worse:correct`);
    const passing = await ids(`rows=${worse}`);
    for (const [at, id] of usual.entries()) {
      const { page } = (await compare(`rows=${worse}&limit=1&around=${id}`)).json;
      const before = usual.slice(0, at).filter((one) => passing.includes(one)).length;
      expect(page).toMatchObject({ rows_before: before, place: passing.includes(id) ? before : null, total: 2 });
    }
    expect((await compare('sort=nothing')).status).toBe(422);
    expect((await compare('limit=0')).json.page).toMatchObject({ rows: [], next_offset: null });
  });

  it('warns of what makes it unsound', async () => {
    const { warnings } = (await compare()).json;
    expect(warnings).toMatchObject([{ code: 'row sets differ', experiment: next, rows: 2 }]);
    const other = await experiment(
      [{ scores: { correct: 0.5, style: 1 }, version: '2026-02-01T00:00:00Z', source: 'model' }],
      {
        persisted: false,
      },
    );
    const found = (await compare('', [base, other])).json.warnings.map(({ code }: { code: string }) => code);
    expect(found).toEqual([
      'rows being stored',
      'example versions differ',
      'row sets differ',
      'score kinds differ',
      'score sources differ',
      'key not scored',
    ]);
  });

  it('is the same for nobody else, and refuses what is not comparable', async () => {
    const missing = newId();
    const search = `experiments=${base},${next}`;
    expect((await reading.get(`/datasets/${dataset}/compare?${search}`, 'b')).json).toEqual({
      detail: `Dataset ID ${dataset} not found.`,
    });
    expect((await compare('', [base, missing])).json).toEqual({ detail: `Session ID ${missing} not found.` });
    const stray = await reading.insert('sessions', rows.session(a));
    expect((await compare('', [base, stray])).status).toBe(400);
    expect((await reading.get(`/datasets/${dataset}/compare`)).status).toBe(422);
    expect(keyOf(await compare(`baseline=${next}`)).results[0]).toMatchObject({ experiment: next });
  });

  it('sees feedback that comes later', async () => {
    const before = keyOf(await compare()).results[1]!;
    const [run] = (await reading.post('/runs/query', { session: [next], reference_example: [examples[1]] })).json.runs;
    expect((await reading.post('/feedback', { run_id: run.id, key: 'correct', score: 1 })).status).toBe(200);
    expect(keyOf(await compare()).results[1]).not.toEqual(before);
  });
});

describe('A comparison of numeric scores', () => {
  beforeAll(async () => {
    await newDataset(40, { inputs: HOSTILE, outputs: JSON.stringify({ text: 'é"\n'.repeat(2000) }) });
    const score = (shift: number) =>
      examples.map((_, i) => ({ scores: { closeness: (i % 7) / 10 + shift }, seconds: 1 + i / 100 }));
    base = await experiment(score(0), { name: 'reference' });
    next = await experiment(
      score(-0.2).map((outcome, i) => ({
        ...outcome,
        seconds: 2 + i / 100,
        outputs: `{"long":"${'\\u00e9"'.slice(0, 6).repeat(3000)}"}`,
      })),
      { name: '=next' },
    );
  });

  it('gives a bootstrapped interval, a verdict and latencies', async () => {
    const answer = await compare();
    const [, result] = keyOf(answer, 'closeness').results;
    expect(result).toMatchObject({
      verdict: 'worse',
      counts: { rows: 40, worse: 40 },
      test: { method: 'paired bootstrap', interval_method: 'paired bootstrap, percentile', n: 40, resamples: 2000 },
    });
    expect(result!.difference).toBeCloseTo(-0.2, 12);
    const [, { latency, error_rate }] = answer.json.experiments;
    expect(error_rate).toBe(0);
    expect(latency.p50).toBeCloseTo(2.195, 9);
    expect(latency.p50_difference).toBeCloseTo(1, 9);
    expect(latency.p99_difference).toBeCloseTo(1, 9);
  });

  it('cuts every cell to 2 KB', async () => {
    const { page } = (await compare('limit=100')).json;
    expect(page.rows).toHaveLength(40);
    for (const row of page.rows as { cells: object[] }[]) {
      for (const cell of row.cells) expect(Buffer.byteLength(JSON.stringify(cell))).toBeLessThan(2048);
      expect(Buffer.byteLength(JSON.stringify(row))).toBeLessThan(3 * 2048);
    }
  });

  it('has a summary below 4 KB, however many keys there are', async () => {
    for (let i = 0; i < 30; i++) {
      const key = `key ${i} ${'x'.repeat(150)}`;
      const [run] = (await reading.post('/runs/query', { session: [base], limit: 1 })).json.runs;
      await reading.insert('feedback', rows.feedback(a, base, { run_id: run.id, key, score: i }));
    }
    const full = await compare('limit=0');
    const short = await compare('format=summary');
    expect(Buffer.byteLength(short.text)).toBeLessThan(4096);
    expect(short.json.keys.length + short.json.omitted).toBe(full.json.keys.length);
    expect(short.json.keys[0]).toMatchObject({
      key: 'closeness',
      results: [{ mean: 0.2875 }, { n: 40, worse: 40, verdict: 'worse' }],
    });
    const many = [base, next];
    while (many.length < 20) many.push(await experiment([right], { name: `${many.length} ${'é"'.repeat(200)}` }));
    expect(Buffer.byteLength((await compare('format=summary', many)).text)).toBeLessThan(4096);
    await reading.pool.query("delete from feedback where key like 'key %'");
    await reading.pool.query('update sessions set version = version + 1 where id = $1', [base]);
  });

  it('is refused before it takes more memory than there is, and told by its keys', async () => {
    const many = 6000;
    const id = await experiment([{ scores: { key0: 1 } }]);
    const copies = (table: string, members: string) =>
      reading.pool.query(
        `insert into ${table} select (jsonb_populate_record(row_of, jsonb_build_object('id', gen_random_uuid(), ${members}))).*
         from ${table} as row_of, generate_series(1, $2) as n where session_id = $1`,
        [id, many],
      );
    // Each of 6,000 keys would have a number for each of 6,000 rows.
    await copies('feedback', `'key', 'key' || n`);
    await copies('runs', `'example_id', gen_random_uuid()`);
    const { status, json } = await compare('limit=0', [id]);
    expect({ status, ...json }).toEqual({
      status: 400,
      detail:
        'The experiments have 6001 keys together, each for 6001 rows, which is too much: name keys with key, or compare fewer experiments.',
    });
    expect((await compare('limit=0&key=key17', [id])).json.keys).toMatchObject([{ key: 'key17' }]);
  });

  it('is exported whole, as CSV and as lines of JSON', async () => {
    const search = `experiments=${base},${next}`;
    const lines = (await reading.get(`/datasets/${dataset}/compare/export?${search}&format=jsonl`)).text
      .trimEnd()
      .split('\n');
    expect(lines).toHaveLength(40);
    expect(lines[0]).toContain(`"inputs":${HOSTILE},"`);
    const [first] = lines.map(
      (line) => JSON.parse(line) as { experiments: { name: string; scores: { closeness: number } }[] },
    );
    expect(first!.experiments.map(({ name }) => name)).toEqual(['reference', '=next']);
    const [before, after] = first!.experiments.map(({ scores }) => scores.closeness);
    expect(after! - before!).toBeCloseTo(-0.2, 12);
    const csv = (await reading.get(`/datasets/${dataset}/compare/export?${search}`)).text.trimEnd().split('\r\n');
    expect(csv).toHaveLength(41);
    expect(csv[0]).toContain(`reference: run_id,`);
    expect(csv[0]).toContain(`,'=next: score closeness`);
    expect(csv[1]).toContain(`"${HOSTILE.replaceAll('"', '""')}"`);
    expect((await reading.get(`/datasets/${dataset}/compare/export?${search}`, 'b')).status).toBe(404);
  });

  it('is exported when its rows are stored, not before', async () => {
    const fresh = await experiment([], { persisted: false });
    const exported = reading.get(`/datasets/${dataset}/compare/export?experiments=${base},${fresh}&format=jsonl`);
    // By the time that these are answered, an export that does not wait has begun.
    for (let i = 0; i < 3; i++) expect(await compare('', [base, fresh])).toMatchObject({ status: 200 });
    const about = { dataset_id: dataset, example_id: examples[0], example_from: '2026-01-01T00:00:00Z' };
    const run = await reading.insert('runs', rows.run(a, fresh, about));
    await reading.pool.query('update sessions set persisted = true, version = version + 1 where id = $1', [fresh]);
    expect((await exported).text).toContain(`"run_id":"${run}"`);
  });
});

describe('A comparison of texts and values', () => {
  let runs: Map<string, string>;
  const tell = async (session: string, row: number, value: string) => {
    const run_id = runs.get(`${session} ${examples[row]}`);
    await reading.insert('feedback', rows.feedback(a, session, { run_id, key: 'tone', value }));
  };

  beforeAll(async () => {
    await newDataset(6, { inputs: '{"question":"How far?"}', outputs: '{"say":"\\"far\\" away"}' });
    const texts = ['A mile', 'a league', '100%', 'C:\\\\x', 'é', 'far'];
    base = await experiment(texts.map((text) => ({ ...right, outputs: `{"answer":"${text}"}` })));
    next = await experiment([{ ...right, status: 'error' }, right, wrong, wrong, right, null]);
    const { rows: found } = await reading.pool.query<{ id: string; about: string }>(
      `select id, session_id || ' ' || example_id as about from runs where session_id in ($1, $2)`,
      [base, next],
    );
    runs = new Map(found.map(({ id, about }) => [about, id]));
    for (const row of [0, 1, 2]) await tell(base, row, '"friendly"');
    await tell(base, 3, '"rude"');
    await tell(next, 0, '"rude"');
    await tell(next, 1, '"friendly"');
    // A row that was told of several times counts for each of them.
    for (const value of ['"rude"', '"friendly"', '"friendly"']) await tell(next, 2, value);
    await tell(next, 3, '{"no":"category"}');
    await tell(next, 4, `"${'long'.repeat(50)}"`);
  });

  it('shows only rows that hold a text, as is asked, and says so', async () => {
    const found = async (q: string, more = '') =>
      (await compare(`q=${encodeURIComponent(q)}&sort=row&${more}`)).json.page as {
        total: number;
        q: string;
        rows: { example_id: string }[];
      };
    const places = async (q: string) =>
      (await found(q)).rows.map(({ example_id }) => examples.indexOf(example_id)).sort();
    expect(await places('HOW FAR')).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await places('mile')).toEqual([0]);
    expect(await places('A LEAGUE')).toEqual([1]);
    expect(await places('"far" away')).toHaveLength(6);
    expect(await places('0%')).toEqual([2]);
    expect(await places('mil_')).toEqual([]);
    expect(await places('C:\\x')).toEqual([3]);
    expect(await places('É')).toEqual([4]);
    expect(await places('it broke')).toEqual([0]);
    expect(await found('nothing of that kind')).toMatchObject({ total: 0, rows: [], q: 'nothing of that kind' });
    const filter = encodeURIComponent(`${next}:worse:correct`);
    expect(await found('a', `rows=${filter}`)).toMatchObject({ total: 2, q: 'a' });
    expect((await compare('')).json.page.q).toBeNull();
    expect((await compare(`q=${'x'.repeat(257)}`)).status).toBe(422);
  });

  it('is exported as it is filtered and sorted', async () => {
    const path = `/datasets/${dataset}/compare/export?experiments=${base},${next}&format=jsonl`;
    const exported = async (search: string) => {
      const { text } = await reading.get(`${path}&${search}`);
      const lines = text.split('\n').filter(Boolean);
      return lines.map((line) => examples.indexOf((JSON.parse(line) as { example_id: string }).example_id));
    };
    const filter = encodeURIComponent(`${next}:worse:correct`);
    const shown = (await compare(`rows=${filter}&sort=row`)).json.page.rows as { example_id: string }[];
    expect(await exported(`rows=${filter}&sort=row`)).toEqual(
      shown.map(({ example_id }) => examples.indexOf(example_id)),
    );
    expect(shown).toHaveLength(2);
    expect(await exported('q=mile')).toEqual([0]);
    expect((await reading.get(`${path}&sort=newest`)).status).toBe(422);
  });

  it('finds a text whose letters a client has sent as escapes', async () => {
    const texts = ['caf\\u00e9', 'CAF\\u00C9', '\\ud83d\\ude00 so', 'cafe'];
    const escaped = await experiment(texts.map((text) => ({ ...right, outputs: `{"answer":"${text}"}` })));
    const found = async (q: string) =>
      (await compare(`q=${encodeURIComponent(q)}`, [escaped])).json.page.total as number;
    expect(await Promise.all(['café', 'Café', '\u{1f600} SO', 'cafe'].map(found))).toEqual([2, 2, 1, 1]);
  });

  it('finds a text that came into an example meanwhile', async () => {
    const total = async () => (await compare('q=somewhere')).json.page.total as number;
    expect(await total()).toBe(0);
    await reading.pool.query(`update examples set inputs = '{"question":"Somewhere?"}' where id = $1`, [examples[5]]);
    await reading.pool.query('update datasets set version = version + 1 where id = $1', [dataset]);
    expect(await total()).toBe(1);
  });

  it('counts the rows by values that are no scores', async () => {
    const { categories, keys } = (await compare('limit=0')).json;
    expect(keys.map(({ key }: { key: string }) => key)).toEqual(['correct']);
    const long = 'long'.repeat(50).slice(0, 99);
    const third = (rows: number) => expect.closeTo(rows / 3, 9);
    expect(categories).toEqual([
      {
        ...{ key: 'tone', kind: 'category', values: ['friendly', 'rude', long] },
        results: [
          { experiment: base, scored: 4, runs: 4, counts: [3, 1, 0], other: 0 },
          {
            ...{ experiment: next, scored: 4, runs: 4, counts: [third(5), third(4), 1], other: 0 },
            row_counts: { rows: 6, same: 1, changed: 2, missing: 1, extra: 0, errored: 0, unscored: 2 },
            shares: [
              { difference: expect.closeTo(-4 / 9, 9), more: 0, fewer: 2, p: 0.5 },
              { difference: expect.closeTo(4 / 9, 9), more: 2, fewer: 0, p: 0.5 },
              { difference: 0, more: 0, fewer: 0, p: 1 },
            ],
            ...{ p: 0.5, verdict: 'not clear', changes: [{ from: 'friendly', to: 'rude', rows: third(4) }] },
          },
        ],
      },
    ]);
  });

  const distributions = (search: string, experiments = [base, next], tenant?: 'a' | 'b') =>
    reading.get(`/datasets/${dataset}/compare/distributions?experiments=${experiments.join(',')}&${search}`, tenant);

  it('tells from which value to which the rows went', async () => {
    const { status, json } = await distributions('key=tone');
    expect({ status, ...json }).toMatchObject({ status: 200, baseline: base, kind: 'category', edges: null });
    expect(json.results[0]).toMatchObject({ experiment: base, counts: [3, 1, 0, 0], grid: null });
    // From friendly, rude, the long one, another one, none.
    expect(json.results[1].grid).toEqual([
      [expect.closeTo(5 / 3, 9), expect.closeTo(4 / 3, 9), 0, 0, 0],
      [0, 0, 0, 0, 1],
      [0, 0, 0, 0, 0],
      [0, 0, 0, 0, 0],
      [0, 0, 1, 0, 0],
    ]);
  });

  it('tells how scores and latencies are distributed, on the same edges', async () => {
    const { json } = await distributions('key=correct');
    expect(json).toMatchObject({ kind: 'pass/fail', edges: [0, 0.5, 1], grid_edges: [0, 0.5, 1], values: null });
    expect(json.results).toMatchObject([
      { experiment: base, counts: [0, 6], grid: null },
      {
        experiment: next,
        counts: [2, 3],
        grid: [
          [0, 0],
          [2, 3],
        ],
      },
    ]);
    expect(json.fractions).toHaveLength(23);
    expect(json.results[0].latency).toEqual(json.fractions.map(() => 1));
    const spread = await experiment([0, 0.1, 0.25, 0.5, 1, 1].map((correct) => ({ scores: { correct } })));
    const numeric = (await distributions('key=correct&bins=4', [base, spread])).json;
    expect(numeric).toMatchObject({ kind: 'numeric', edges: [0, 0.25, 0.5, 0.75, 1] });
    expect(numeric.results).toMatchObject([{ counts: [0, 0, 0, 6] }, { counts: [2, 1, 1, 2] }]);
    const grid = numeric.results[1].grid as number[][];
    expect([grid.length, grid.flat().length, grid[19]]).toMatchObject([20, 400, { 0: 1, 2: 1, 5: 1, 10: 1, 19: 2 }]);
    const alone = (await distributions('key=correct&bins=1', [base])).json;
    expect(alone.results).toMatchObject([{ counts: [0, 6], grid: null }]);
  });

  it('tells what kind a key is that a comparison of many keys leaves out', async () => {
    const scores = Object.fromEntries(Array.from({ length: 50 }, (_, place) => [`a${place}`, 0.5]));
    const many = await experiment([{ scores: { ...scores, last: 1 } }, { scores: { last: 0 } }]);
    expect((await compare('limit=0', [many])).json.keys).toHaveLength(50);
    const { json } = await distributions('key=last', [many]);
    expect(json).toMatchObject({ kind: 'pass/fail', edges: [0, 0.5, 1], results: [{ counts: [1, 1] }] });
  });

  it('has edges for scores that are nearly the largest ones that there are', async () => {
    const huge = 1.5 * 2 ** 1023;
    const session = await experiment([-huge, huge].map((score) => ({ scores: { huge: score } })));
    const { json } = await distributions('key=huge&bins=4', [session]);
    expect(json).toMatchObject({ edges: [-huge, -huge / 2, 0, huge / 2, huge], results: [{ counts: [1, 0, 0, 1] }] });
  });

  it('tells distributions to nobody else, and of nothing else', async () => {
    expect((await distributions('key=correct', undefined, 'b')).status).toBe(404);
    for (const [search, status] of [
      ['key=nothing', 400],
      ['', 422],
      ['key=correct&bins=101', 422],
      ['key=correct&bin=5', 422],
    ] as const) {
      expect([search, (await distributions(search)).status]).toEqual([search, status]);
    }
  });

  it('is answered 304 to who has it already, until it changes', async () => {
    const path = `/datasets/${dataset}/compare?experiments=${base},${next}&q=mile`;
    const first = await reading.get(path);
    const tag = String(first.headers.etag);
    const again = await reading.get(path, 'a', { 'if-none-match': `"other", ${tag}` });
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', tag]);
    await tell(base, 5, '"rude"');
    await reading.pool.query('update sessions set version = version + 1 where id = $1', [base]);
    expect((await reading.get(path, 'a', { 'if-none-match': tag })).status).toBe(200);
  });
});

it('A comparison finds the row of a deleted example by the inputs that it shows', async () => {
  await newDataset(2, { inputs: '{"question":"Where to?"}' });
  const session = await experiment([right, right]);
  await reading.pool.query('update runs set inputs = null where session_id = $1', [session]);
  await reading.pool.query('update examples set valid_to = now() where id = $1', [examples[0]]);
  const { page } = (await compare('q=where', [session])).json;
  expect(page.total).toBe(2);
  for (const { inputs_preview: inputs } of page.rows) expect(inputs).toBe('{"question":"Where to?"}');
});

it('A comparison tells at most a thousand values of a key apart, and of equally frequent ones all or none', async () => {
  await newDataset(0);
  const session = await reading.insert('sessions', rows.session(a, { reference_dataset_id: dataset }));
  await reading.pool.query(
    `insert into runs (id, tenant_id, session_id, name, run_type, start_time, status, row_number, dataset_id, example_id)
     select gen_random_uuid(), $1, $2, 'run', 'chain', now(), 'success', number, $3, gen_random_uuid()
     from generate_series(1, 1100) as number`,
    [a, session, dataset],
  );
  await reading.pool.query(
    `insert into feedback (id, tenant_id, session_id, run_id, key, value, source_type, created_at, modified_at)
     select gen_random_uuid(), tenant_id, session_id, id, 'note',
       to_json('note ' || case when row_number > 1070 then 1 else row_number end)::text, 'api', now(), now()
     from runs where session_id = $1`,
    [session],
  );
  const [category] = (await compare('limit=0', [session])).json.categories;
  expect(category.values).toEqual(['…', 'note 1']);
  expect(category.results).toMatchObject([{ scored: 1100, counts: [1069, 31], other: 0 }]);
});

describe('A gate', () => {
  beforeAll(async () => {
    await newDataset(20);
    const alike = examples.map(() => ({ scores: { correct: 1, cost: 1 } }));
    base = await experiment(alike, { name: 'old' });
    next = await experiment(
      examples.map((_, i) => (i === 19 ? null : { scores: { correct: Number(i > 7), cost: 0.5 }, seconds: 3 })),
      { name: 'new' },
    );
  });

  const gate = async (limits = {}, experiments = [next]) => {
    const answer = await reading.post(`/datasets/${dataset}/compare/gate`, { baseline: base, experiments, ...limits });
    expect(answer).toMatchObject({ status: 200 });
    return answer.json as { outcome: string; pass: boolean; reasons: string[] };
  };

  it('fails on a significant regression, unless that is allowed', async () => {
    expect(await gate({ lower_is_better: ['cost'] })).toMatchObject({
      outcome: 'fail',
      pass: false,
      reasons: [
        'new: correct is significantly worse (difference -0.4211, p 0.007813, n 19).',
        'new: 1 of 20 rows could not be compared on correct: they have no score of it.',
        'new: 1 of 20 rows could not be compared on cost: they have no score of it.',
      ],
    });
    const keys = { correct: { min_scored: 0.95 }, cost: { min_scored: 0.95 } };
    const allowed = { allow_significant_regressions: true, keys };
    expect(await gate(allowed)).toMatchObject({ outcome: 'pass', pass: true, reasons: [] });
  });

  it('tells every limit that is not kept', async () => {
    const limits = {
      allow_significant_regressions: true,
      keys: {
        correct: { min_mean: 0.9, max_drop: 0.1, max_worse: 3, min_scored: 0.96 },
        cost: { max_mean: 0.4, min_scored: 0.9 },
        style: { min_mean: 0.1 },
      },
      max_missing: 0,
      max_error_rate: 0,
      max_latency_p50_increase: 1,
      max_latency_p99_increase: 5,
    };
    expect((await gate(limits)).reasons).toEqual([
      'new: the mean of correct is 0.5789, less than 0.9.',
      'new: correct is worse by 0.4211, more than 0.1.',
      'new: 8 rows are worse on correct, more than 3.',
      'new: the mean of cost is 0.5, more than 0.4.',
      'new: 19 of 20 rows are scored on correct, less than 96 %.',
      'new: the number of missing rows is 1, more than 0.',
      'new: the increase of the median latency is 2, more than 1.',
      'new: there are no scores of style.',
    ]);
  });

  it('checks what it is asked', async () => {
    const wrongly = await reading.post(`/datasets/${dataset}/compare/gate`, { experiments: [] });
    expect(wrongly.status).toBe(422);
    const misspelt = { baseline: base, experiments: [next], max_eror_rate: 0, keys: { correct: { min_maen: 0.9 } } };
    const { status, json } = await reading.post(`/datasets/${dataset}/compare/gate`, misspelt);
    expect([status, json.detail]).toMatchObject([
      422,
      [
        { type: 'extra_forbidden', loc: ['body', 'keys', 'correct', 'min_maen'] },
        { type: 'extra_forbidden', loc: ['body', 'max_eror_rate'] },
      ],
    ]);
    const foreign = await reading.post(
      `/datasets/${dataset}/compare/gate`,
      { baseline: base, experiments: [next] },
      'b',
    );
    expect(foreign.status).toBe(404);
  });
});
