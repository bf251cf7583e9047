import { type Reading, rows, startReading } from '../testing/reading';

let reading: Reading;
let dataset: string;
let base: string;
let next: string;

const labelled = { n: 1, avg: null, stdev: null, min: null, max: null, values: { A: 1 } };
const scored = (avg: number) => ({ n: 1, avg, stdev: 0, min: avg, max: avg, values: {} });

beforeAll(async () => {
  reading = await startReading();
  const { a } = reading.tenants;
  dataset = await reading.insert('datasets', rows.dataset(a));
  const session = (name: string, statistics: object) =>
    reading.insert(
      'sessions',
      rows.session(a, { name, reference_dataset_id: dataset, session_feedback_stats: JSON.stringify(statistics) }),
    );
  base = await session('base', { f1: scored(0.9), cost: scored(1), grade: labelled, only: scored(1) });
  next = await session('next', { f1: scored(0.3), cost: scored(3), both: { ...scored(0.5), n: 3, scores: 2 } });
  for (const id of [base, next]) {
    const example = await reading.insert('examples', rows.example(a, dataset));
    const run = await reading.insert('runs', rows.run(a, id, { dataset_id: dataset, example_id: example }));
    await reading.insert('feedback', rows.feedback(a, id, { run_id: run, key: 'both', score: 1 }));
  }
  await reading.pool.query('update datasets set baseline_experiment_id = $2 where id = $1', [dataset, base]);
});
afterAll(() => reading.stop());

const compared = () => `/datasets/${dataset}/compare?experiments=${base},${next}&lower_is_better=cost`;
const gate = async (keys: object) => {
  // What one of the two has alone is left out of account, unless a limit names it.
  const alone = { both: { min_scored: 0 }, grade: { min_scored: 0 }, only: { min_scored: 0 } };
  const body = { baseline: base, experiments: [next], lower_is_better: ['cost'], keys: { ...alone, ...keys } };
  return (await reading.post(`/datasets/${dataset}/compare/gate`, body)).json as { pass: boolean; reasons: string[] };
};

it('are compared by their values and their differences, which nothing tests', async () => {
  const { experiment_scores: found } = (await reading.get(compared())).json;
  const value = (experiment: string, number: number | null, difference?: number | null, more = {}) => ({
    ...{ experiment, value: number, scored: number === null ? 0 : 1, values: {} },
    ...(difference !== undefined && { difference }),
    ...more,
  });
  expect(found).toEqual([
    { key: 'both', direction: 'higher is better', results: [value(base, null), value(next, 0.5, null, { scored: 2 })] },
    { key: 'cost', direction: 'lower is better', results: [value(base, 1), value(next, 3, 2)] },
    { key: 'f1', direction: 'higher is better', results: [value(base, 0.9), value(next, 0.3, 0.3 - 0.9)] },
    {
      key: 'grade',
      direction: 'higher is better',
      results: [value(base, null, undefined, { values: { A: 1 } }), value(next, null, null)],
    },
    { key: 'only', direction: 'higher is better', results: [value(base, 1), value(next, null, null)] },
  ]);
  const some = (await reading.get(`${compared()}&key=f1`)).json;
  expect(some.experiment_scores.map(({ key }: { key: string }) => key)).toEqual(['f1']);
  const short = (await reading.get(`${compared()}&format=summary`)).json;
  expect(short.experiment_scores).toContainEqual({ key: 'f1', values: [0.9, 0.3] });
});

it('are held to the limits of a gate', async () => {
  expect(await gate({ f1: { min_mean: 0.2, max_mean: 0.4, max_drop: 0.7 }, cost: { max_drop: 2 } })).toMatchObject({
    pass: true,
    reasons: [],
  });
  const of = 'of the whole experiment';
  expect((await gate({ f1: { min_mean: 0.5, max_drop: 0.02 }, cost: { max_mean: 2, max_drop: 1 } })).reasons).toEqual([
    `next: cost ${of} is 3, more than 2.`,
    `next: cost ${of} is worse by 2, more than 1.`,
    `next: f1 ${of} is 0.3, less than 0.5.`,
    `next: f1 ${of} is worse by 0.6, more than 0.02.`,
  ]);
  expect((await gate({ f1: { max_worse: 0 } })).reasons).toEqual([`next: f1 ${of} has no rows that can be worse.`]);
});

it('never pass a limit that cannot be checked', async () => {
  for (const limits of [{ min_mean: 0 }, { max_mean: 9 }, { max_drop: 9 }, { max_worse: 9 }]) {
    for (const key of ['only', 'grade', 'nothing']) {
      expect([key, limits, (await gate({ [key]: limits })).pass]).toEqual([key, limits, false]);
    }
  }
  // The rows have a mean of 1, the experiment as a whole has 0.5: both have to keep the limit.
  expect((await gate({ both: { min_mean: 0.8 } })).pass).toBe(false);
  expect((await gate({ both: { min_mean: 0.5, min_scored: 0 } })).pass).toBe(true);
});

it('leave a gate undecided where the experiment lacks one, whatever the limits of rows are', async () => {
  const missing = (key: string) =>
    `next: ${key} of the whole experiment cannot be compared, one of the two has no score or another label.`;
  const gated = async (keys: object, baseline = base, candidate = next) =>
    (await reading.post(`/datasets/${dataset}/compare/gate`, { baseline, experiments: [candidate], keys })).json as {
      outcome: string;
      reasons: string[];
    };
  const { outcome, reasons } = await gated({ cost: { max_mean: 9 }, f1: { max_mean: 9 } });
  expect(outcome).toBe('undecided');
  expect(reasons).toEqual(expect.arrayContaining([missing('only'), missing('grade'), missing('both')]));
  // A share of rows says nothing of the experiment as a whole.
  const { reasons: turned } = await gated({ both: { min_scored: 0.5 } }, next, base);
  expect(turned).toContain(missing('both').replace('next', 'base'));
});

it('are columns and members of an export', async () => {
  const exported = `/datasets/${dataset}/compare/export?experiments=${base},${next}`;
  const [header, ...lines] = (await reading.get(`${exported}&format=csv`)).text.trim().split('\r\n');
  const place = header!.split(',').indexOf('next: experiment score f1');
  // Texts of these rows hold no commas.
  expect(lines.map((line) => line.split(',')[place])).toEqual(['0.3', '0.3']);
  const first = JSON.parse((await reading.get(`${exported}&format=jsonl`)).text.split('\n')[0]!);
  expect(first.experiments.map((one: { experiment_scores: object }) => one.experiment_scores)).toMatchObject([
    { f1: 0.9, cost: 1, only: 1 },
    { f1: 0.3, cost: 3, only: null },
  ]);
});

it('filter and order lists, and tell the difference from the baseline', async () => {
  const names = async (query: string) =>
    ((await reading.get(`/v1/experiments?${query}`)).json.resources as { name: string }[]).map(({ name }) => name);
  expect(await names(`score=${encodeURIComponent('f1>0.5')}`)).toEqual(['base']);
  expect(await names(`score=${encodeURIComponent('f1<=0.3')}`)).toEqual(['next']);
  expect(await names('sort=-score:cost')).toEqual(['next', 'base']);
  const { resources } = (await reading.get('/v1/experiments?q=next')).json;
  expect(resources[0].against_baseline.differences).toEqual({ f1: 0.3 - 0.9, cost: 2 });
  const filtered = async (filter: string) =>
    ((await reading.get(`/sessions?filter=${encodeURIComponent(filter)}`)).json as { name: string }[]).map(
      ({ name }) => name,
    );
  expect(await filtered('and(eq(feedback_key, "f1"), gt(feedback_score, 0.5))')).toEqual(['base']);
  expect(await filtered('and(eq(feedback_key, "cost"), gt(feedback_score, 2))')).toEqual(['next']);
});

it('are not in a shared comparison that hides feedback', async () => {
  const shared = async (hide: string[]) => {
    const link = await reading.post('/v1/shares', {
      kind: 'comparison',
      dataset_id: dataset,
      experiments: [base, next],
      hide,
    });
    await reading.followers.passed(await reading.store.head(), undefined, 60_000);
    return (await reading.get(`/api/v1/public/${link.json.token}/link/comparison`)).json.experiment_scores as object[];
  };
  expect(await shared([])).toHaveLength(5);
  expect(await shared(['feedback'])).toEqual([]);
});

it('are compared as labels with values, and not at all as objects', async () => {
  const { a } = reading.tenants;
  const graded = async (name: string, values: object) => {
    const told = JSON.stringify({ grade: { ...labelled, n: 2, values } });
    const more = { name, reference_dataset_id: dataset, session_feedback_stats: told };
    return reading.insert('sessions', rows.session(a, more));
  };
  const [good, mixed, structured] = [
    await graded('good', { A: 2 }),
    await graded('mixed', { A: 1, B: 1 }),
    await graded('structured', {}),
  ];
  await reading.insert('feedback', rows.feedback(a, structured, { key: 'grade', value: '{"a":1}' }));
  const label_values = { grade: { A: 1, B: 0 } };
  const path = `/datasets/${dataset}/compare?experiments=${good},${mixed},${structured}&label_values=${encodeURIComponent(JSON.stringify(label_values))}`;
  expect((await reading.get(path)).json.experiment_scores[0].results).toMatchObject([
    { value: 1, scored: 2, values: { A: 2 } },
    { value: 0.5, scored: 2, difference: -0.5 },
    { value: null, scored: 0, structured: true },
  ]);
  const body = { baseline: good, experiments: [mixed, structured], label_values, keys: { grade: { max_drop: 0.2 } } };
  const { outcome, reasons } = (await reading.post(`/datasets/${dataset}/compare/gate`, body)).json;
  expect(outcome).toBe('fail');
  expect(reasons).toContain('mixed: grade of the whole experiment is worse by 0.5, more than 0.2.');
  expect(reasons).toContain(
    'structured: grade of the whole experiment has an object, a list or a long text as its value, which cannot be compared.',
  );
});
