import { type Reading, rows, startReading } from '../testing/reading';

let reading: Reading;
let a: string;
let dataset: string;
let examples: string[];

beforeAll(async () => {
  reading = await startReading();
  a = reading.tenants.a;
  dataset = await reading.insert('datasets', rows.dataset(a));
  examples = [];
  for (let i = 0; i < 30; i++) examples.push(await reading.insert('examples', rows.example(a, dataset)));
});
afterAll(() => reading.stop());

type Given = Readonly<Record<string, number | string>>;

/** An experiment with the scores and labels of each row, null for rows that it lacks. */
async function experiment(name: string, given: readonly (Given | null)[]): Promise<string> {
  const session = await reading.insert('sessions', rows.session(a, { reference_dataset_id: dataset, name }));
  for (const [index, scores] of given.entries()) {
    if (!scores) continue;
    const at = { dataset_id: dataset, example_id: examples[index], row_number: index };
    const run = await reading.insert('runs', rows.run(a, session, at));
    for (const [key, one] of Object.entries(scores)) {
      const value = typeof one === 'number' ? { score: one } : { value: JSON.stringify(one) };
      await reading.insert('feedback', rows.feedback(a, session, { run_id: run, key, ...value }));
    }
  }
  return session;
}

async function gate(baseline: string, candidate: string, limits = {}) {
  const body = { baseline, experiments: [candidate], ...limits };
  const { json } = await reading.post(`/datasets/${dataset}/compare/gate`, body);
  return json as { outcome: string; pass: boolean; reasons: string[] };
}

const all = (given: Given, count = 30) => Array.from({ length: count }, () => given);

it('reads every key, however many there are', async () => {
  const sixty = (last: number) =>
    Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`k${String(i).padStart(2, '0')}`, i < 59 ? 1 : last]));
  const before = await experiment('before', all(sixty(1), 8));
  const after = await experiment('after', all(sixty(0), 8));
  const significant = 'after: k59 is significantly worse (difference -1, p 0.007813, n 8).';
  expect(await gate(before, after)).toMatchObject({ outcome: 'fail', reasons: [significant] });
  const limited = await gate(before, after, { keys: { k59: { max_drop: 0.02 } } });
  expect(limited.reasons).toEqual([significant, 'after: k59 is worse by 1, more than 0.02.']);
  expect(await gate(before, before)).toMatchObject({ outcome: 'undecided' });
  const exported = await reading.get(`/datasets/${dataset}/compare/export?experiments=${before},${after}&format=csv`);
  expect(exported.text.split('\r\n')[0]!.match(/after: score/g)).toHaveLength(60);
});

describe('Evidence that is missing', () => {
  const good = { ok: 1, judge: 0.9 };
  const limits = [{}, { keys: { judge: { max_drop: 0.02 } } }, { keys: { judge: { min_mean: 0.8 } } }];
  let baseline: string;
  beforeAll(async () => {
    baseline = await experiment('all', all(good));
  });

  it.each([
    ['a judge that crashed', [good, ...all({ ok: 1 }, 29)], '29 of 30 rows could not be compared on judge'],
    ['rows that failed', [...all({}, 20), ...all(good, 10)], '20 of 30 rows could not be compared on judge'],
    ['one row', [good], '29 of 30 rows could not be compared on judge'],
    ['no scores', all({}), '30 of 30 rows could not be compared on judge'],
    ['no row in common', [...all(null as never)], 'no row is in both experiments'],
  ])('leaves a gate undecided: %s', async (name, given, reason) => {
    const candidate = await experiment(name, given);
    for (const asked of limits) {
      const { outcome, pass, reasons } = await gate(baseline, candidate, asked);
      expect([outcome, pass, reasons.join()]).toEqual(['undecided', false, expect.stringContaining(reason)]);
    }
    const enough = { ok: { min_scored: 0.95 }, judge: { min_scored: 0.95 } };
    expect(await gate(baseline, candidate, { keys: enough })).toMatchObject({ outcome: 'fail' });
  });

  it('goes after limits that are broken, and is not missed when enough is there', async () => {
    const candidate = await experiment('worse', [...all({ ok: 1, judge: 0.1 }, 29), { ok: 1 }]);
    const { outcome, reasons } = await gate(baseline, candidate);
    expect([outcome, reasons.length]).toEqual(['fail', 2]);
    const most = await experiment('most', [...all(good, 29), { ok: 1 }]);
    expect(await gate(baseline, most)).toMatchObject({ outcome: 'undecided' });
    const enough = { keys: { judge: { min_scored: 0.95 } } };
    expect(await gate(baseline, most, enough)).toMatchObject({ outcome: 'pass', pass: true, reasons: [] });
  });

  it('is a key that only the experiment has, and a gate without a score', async () => {
    const more = await experiment('more', all({ ...good, extra: 1 }));
    expect(await gate(baseline, more)).toMatchObject({
      outcome: 'undecided',
      reasons: ['more: extra could not be compared: the baseline has no score of it.'],
    });
    for (const limit of [{ min_mean: 0.5 }, { min_scored: 1 }]) {
      expect(await gate(baseline, more, { keys: { extra: limit } })).toMatchObject({ outcome: 'pass' });
    }
    const [one, two] = [await experiment('one', all({})), await experiment('two', all({}))];
    expect(await gate(one, two)).toMatchObject({ outcome: 'undecided', reasons: ['two: nothing could be compared.'] });
    expect(await gate(one, two, { max_error_rate: 0 })).toMatchObject({ outcome: 'pass' });
  });

  it('is a label that changed, because labels have no order', async () => {
    const graded = await experiment('graded', all({ grade: 'pass' }));
    const alike = await experiment('alike', all({ grade: 'pass' }));
    expect(await gate(graded, alike)).toMatchObject({ outcome: 'pass' });
    const other = await experiment('other', [...all({ grade: 'pass' }, 28), ...all({ grade: 'fail' }, 2)]);
    expect(await gate(graded, other)).toMatchObject({
      outcome: 'undecided',
      reasons: ['other: 2 of 30 rows have other labels of grade, which have no order.'],
    });
    const limited = await gate(graded, alike, { keys: { grade: { max_drop: 0 } } });
    expect(limited.reasons).toEqual(['alike: grade has labels and no scores, so its limits could not be checked.']);
  });
});

describe('Latency, tokens and cost', () => {
  const DATE = Date.UTC(2026, 0, 1);
  /** An experiment whose rows used so many tokens, at a cost of a thousandth each; null for a row that says nothing. */
  async function used(name: string, tokens: readonly (number | null)[], seconds: number): Promise<string> {
    const session = await reading.insert('sessions', rows.session(a, { reference_dataset_id: dataset, name }));
    for (const [index, total_tokens] of tokens.entries()) {
      const end_time = new Date(DATE + seconds * 1000).toISOString();
      const at = { dataset_id: dataset, example_id: examples[index], row_number: index, end_time };
      const total_cost = total_tokens === null ? null : total_tokens / 1000;
      await reading.insert('runs', rows.run(a, session, { ...at, total_tokens, total_cost }));
    }
    return session;
  }
  const tokens = (of: (row: number) => number | null) => Array.from({ length: 30 }, (_, row) => of(row));
  let [baseline, dear] = ['', ''];
  beforeAll(async () => {
    baseline = await used(
      'few tokens',
      tokens((row) => 100 + row),
      1,
    );
    dear = await used(
      'many tokens',
      tokens((row) => (row === 0 ? null : 110 + row + (row % 3))),
      3,
    );
  });
  const compare = (more = '') =>
    reading.get(`/datasets/${dataset}/compare?experiments=${baseline},${dear}&limit=2${more}`);

  it('are compared like scores of which lower ones are better, each where a run has it', async () => {
    const { json } = await compare();
    expect(json.measures).toMatchObject([
      {
        measure: 'latency',
        results: [
          { mean: 1, scored: 30 },
          { mean: 3, difference: 2, verdict: 'worse' },
        ],
      },
      {
        ...{ measure: 'tokens', direction: 'lower is better' },
        results: [
          { experiment: baseline, mean: 114.5, scored: 30, runs: 30 },
          {
            ...{ experiment: dear, scored: 29, runs: 29, verdict: 'worse', test: { n: 29, p: expect.any(Number) } },
            ...{ difference: expect.closeTo(11, 1), counts: { rows: 30, worse: 29, unscored: 1 } },
          },
        ],
      },
      {
        measure: 'cost',
        results: [{ mean: expect.closeTo(0.1145, 6) }, { difference: expect.closeTo(0.011, 4), verdict: 'worse' }],
      },
    ]);
    const summary = (await compare('&format=summary')).json;
    expect(summary.measures).toMatchObject([{ measure: 'latency' }, { measure: 'tokens' }, { measure: 'cost' }]);
    const plain = await experiment('no usage', all({ ok: 1 }));
    const alone = (await reading.get(`/datasets/${dataset}/compare?experiments=${plain}`)).json;
    expect(alone.measures.map(({ measure }: { measure: string }) => measure)).toEqual(['latency']);
  });

  it('stand with each row, and order the rows', async () => {
    const { page } = (await compare(`&sort=cost:${dear}`)).json;
    expect(page.rows.map((row: { cells: object[] }) => row.cells[1])).toMatchObject([
      { total_tokens: 141, total_cost: '0.141' },
      { total_tokens: 139, total_cost: '0.139' },
    ]);
    const [first] = (await compare(`&sort=tokens:${baseline}`)).json.page.rows;
    expect(first.cells[0]).toMatchObject({ total_tokens: 129, total_cost: '0.129' });
    expect((await compare(`&sort=money:${dear}`)).status).toBe(422);
  });

  it('of a live run are those of the runs below it, unless it says them itself', async () => {
    const session = await used(
      'live',
      tokens((row) => (row === 0 ? null : 50)),
      1,
    );
    const { rows: roots } = await reading.pool.query<{ id: string }>(
      'select id from runs where session_id = $1 and row_number < 2 order by row_number',
      [session],
    );
    for (const { id } of roots)
      for (const total_tokens of [7, 8])
        await reading.insert('runs', rows.run(a, session, { parent_run_id: id, trace_id: id, total_tokens }));
    const { json } = await reading.get(`/datasets/${dataset}/compare?experiments=${session}`);
    const [, ofTokens] = json.measures as { results: unknown[] }[];
    expect(ofTokens!.results).toMatchObject([{ scored: 30, mean: (15 + 29 * 50) / 30 }]);
  });

  it('pass, fail or leave undecided a gate that limits them, and no other one', async () => {
    const reasons = async (measures: object, candidate = dear) =>
      (({ outcome, reasons: why }) => [outcome, ...why])(await gate(baseline, candidate, { measures, max_missing: 0 }));
    expect(await reasons({})).toEqual(['pass']);
    const one = '1 of 30 rows could not be compared on tokens: they have none.';
    expect(await reasons({ tokens: { max_increase: 12 } })).toEqual(['undecided', `many tokens: ${one}`]);
    expect(await reasons({ tokens: { max_increase: 12, min_known: 0.9 } })).toEqual(['pass']);
    expect(await reasons({ tokens: { max_mean: 120, max_increase: 10, min_known: 0.99 } })).toEqual([
      'fail',
      'many tokens: the mean of tokens is 126, more than 120.',
      'many tokens: the mean increase of tokens is 11.03, more than 10.',
      'many tokens: 29 of 30 rows have tokens, less than 99 %.',
    ]);
    expect(await reasons({ latency: { max_increase: 1 } })).toEqual([
      'fail',
      'many tokens: the mean increase of latency is 2, more than 1.',
    ]);
    const silent = await used(
      'silent',
      tokens(() => null),
      1,
    );
    expect(await reasons({ cost: { max_mean: 1 } }, silent)).toEqual([
      'undecided',
      'silent: the mean of cost is not known.',
      'silent: 30 of 30 rows could not be compared on cost: they have none.',
    ]);
    const body = { baseline, experiments: [dear], measures: { money: { max_mean: 1 } } };
    expect((await reading.post(`/datasets/${dataset}/compare/gate`, body)).status).toBe(422);
  });
});

describe('A trend', () => {
  const of = (more: string) => reading.get(`/datasets/${followed}/trend?${more}`);
  let followed = '';
  const sessions: string[] = [];
  beforeAll(async () => {
    followed = await reading.insert('datasets', rows.dataset(a));
    const example = await Promise.all([0, 1, 2, 3].map(() => reading.insert('examples', rows.example(a, followed))));
    // Scores of the runs of each row, by experiment.
    const given = [
      [[1], [1], [0], [1]],
      [
        [0.2, 0.4],
        [0.6, 0.8],
        [0.5, 0.5],
      ],
      [[1], [1], [1], [1]],
    ];
    for (const [day, rowScores] of given.entries()) {
      const at = { start_time: `2026-02-0${day + 1}T00:00:00Z`, name: `day ${day}`, test_run_number: day + 1 };
      const metadata = JSON.stringify({ revision_id: `r${day}`, even: day % 2 === 0 });
      const session = await reading.insert(
        'sessions',
        rows.session(a, { ...at, metadata, reference_dataset_id: followed, run_count: rowScores.flat().length }),
      );
      sessions.push(session);
      for (const [index, scores] of rowScores.entries()) {
        for (const score of scores) {
          const status = score === 0 ? 'error' : 'success';
          const about = { dataset_id: followed, example_id: example[index], row_number: index, status };
          const run = await reading.insert('runs', rows.run(a, session, { ...about, total_tokens: 10 + day }));
          await reading.insert('feedback', rows.feedback(a, session, { run_id: run, key: 'ok', score }));
        }
      }
    }
  });

  it('has the mean of each experiment, its interval, and how far it moves when rows are run again', async () => {
    const { json } = await of('key=ok');
    expect(json).toMatchObject({ dataset_id: followed, key: 'ok', measure: null, direction: 'higher is better' });
    expect(json.resources).toMatchObject([
      {
        ...{ experiment_id: sessions[2], name: 'day 2', revision_id: 'r2', mean: 1, scored: 4, runs: 4, rerun: null },
        interval: { low: expect.closeTo(0.5101, 4), high: 1 },
      },
      // Row means 0.3, 0.7 and 0.5; the runs of the rows have the variances 0.02, 0.02 and 0.
      {
        ...{ experiment_id: sessions[1], mean: expect.closeTo(0.5), scored: 3, runs: 6 },
        spread: expect.closeTo((2 * Math.sqrt(0.02)) / 3, 6),
        interval: { low: expect.closeTo(0.5 - (4.303 * 0.2) / Math.sqrt(3), 4), high: expect.closeTo(0.99686, 4) },
        rerun: { low: expect.closeTo(0.5 - 1.96 * Math.sqrt(0.04 / 9 / 2), 3), high: expect.closeTo(0.5924, 3) },
      },
      { experiment_id: sessions[0], mean: 0.75, interval: { low: expect.closeTo(0.3006, 4) } },
    ]);
    const known = await of('key=ok');
    expect(known.json).toEqual(json);
  });

  it('follows errors, latency, tokens and cost as well', async () => {
    const means = async (measure: string) =>
      (await of(`measure=${measure}`)).json.resources.map(({ mean }: { mean: number | null }) => mean);
    expect(await means('errors')).toEqual([0, 0, 0.25]);
    expect(await means('tokens')).toEqual([12, 11, 10]);
    expect(await means('latency')).toEqual([1, 1, 1]);
    expect(await means('cost')).toEqual([null, null, null]);
    expect((await of('measure=errors')).json.direction).toBe('lower is better');
  });

  it('comes in pages, of the experiments with some metadata, and to its workspace only', async () => {
    const first = (await of('key=ok&limit=2')).json;
    expect(first.resources.map(({ name }: { name: string }) => name)).toEqual(['day 2', 'day 1']);
    const second = (await of(`key=ok&limit=2&cursor=${first.next_cursor}`)).json;
    expect(second).toMatchObject({ resources: [{ name: 'day 0' }], next_cursor: null });
    const even = encodeURIComponent('{"even":true}');
    expect((await of(`key=ok&metadata=${even}`)).json.resources).toMatchObject([{ name: 'day 2' }, { name: 'day 0' }]);
    for (const wrong of ['', 'key=ok&measure=cost', 'key=ok&cursor=x', 'key=ok&metadata=x'])
      expect((await of(wrong)).status).toBe(400);
    expect((await of('measure=money')).status).toBe(422);
    expect((await reading.get(`/datasets/${followed}/trend?key=ok`, 'b')).status).toBe(404);
  });

  it('is read anew when scores are added', async () => {
    const { rows: runs } = await reading.pool.query<{ id: string }>(
      'select id from runs where session_id = $1 order by row_number limit 1',
      [sessions[2]],
    );
    await of('key=late');
    await reading.insert('feedback', rows.feedback(a, sessions[2]!, { run_id: runs[0]!.id, key: 'late', score: 0.5 }));
    await reading.pool.query('update sessions set feedback_stats = feedback_stats where id = $1', [sessions[2]]);
    expect((await of('key=late')).json.resources[0]).toMatchObject({ mean: 0.5, scored: 1, interval: null });
  });
});
