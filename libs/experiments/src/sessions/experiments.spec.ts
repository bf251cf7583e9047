import { type Reading, rows, startReading } from '../testing/reading';

let reading: Reading;
let a: string;
let questions: string;
beforeAll(async () => {
  reading = await startReading();
  a = reading.tenants.a;
  questions = await reading.insert('datasets', rows.dataset(a, { name: 'support questions' }));
  const others = await reading.insert('datasets', rows.dataset(a, { name: 'other 100%' }));
  await insert(questions, 1, 'baseline', { metadata: '{"model":"x","k":10}', feedback_stats: stats(0.5) });
  await insert(questions, 2, 'candidate', { metadata: '{"model":"y","k":9}', feedback_stats: stats(0.9) });
  await insert(questions, 3, 'uploading', { persisted: false, feedback_stats: stats(1) });
  await insert(others, 4, 'elsewhere', { description: 'A Baseline of its own', feedback_stats: '{}' });
  await reading.insert('sessions', rows.session(a, { name: 'a tracing project', reference_dataset_id: null }));
});
afterAll(() => reading.stop());

const stats = (avg: number) => JSON.stringify({ correct: { n: 2, avg }, 'a>b': { n: 1, avg: -1 } });
const insert = (dataset: string, day: number, name: string, row: object) =>
  reading.insert(
    'sessions',
    rows.session(a, { name, reference_dataset_id: dataset, start_time: `2026-01-0${day}T00:00:00Z`, ...row }),
  );
const list = async (search: Record<string, string | string[]> = {}, tenant?: 'a' | 'b') => {
  const query = Object.entries(search).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}=${encodeURIComponent(one)}`),
  );
  return reading.get(`/v1/experiments?${query.join('&')}`, tenant);
};
const names = async (search: Record<string, string | string[]> = {}) =>
  ((await list(search)).json.resources as { name: string }[]).map(({ name }) => name);

it('are those of all datasets, the newest first, with what the list as a whole has', async () => {
  const { json } = await list();
  expect(json.resources).toMatchObject([
    { name: 'elsewhere', dataset_name: 'other 100%' },
    { name: 'uploading', dataset_name: 'support questions', run_count: null },
    { name: 'candidate', dataset_name: 'support questions', feedback_stats: { correct: { avg: 0.9 } } },
    { name: 'baseline', dataset_name: 'support questions', reference_dataset_id: questions },
  ]);
  expect(json).toMatchObject({ total: 4, next_cursor: null });
  expect(json.facets.datasets).toEqual([
    { dataset_id: questions, dataset_name: 'support questions', count: 3 },
    { dataset_id: expect.any(String), dataset_name: 'other 100%', count: 1 },
  ]);
  expect((await list({}, 'b')).json).toEqual({
    ...{ resources: [], next_cursor: null, total: 0, facets: { datasets: [] } },
  });
});

it('are found by text, dataset, metadata and mean scores', async () => {
  expect(await names({ q: 'BASELINE' })).toEqual(['elsewhere', 'baseline']);
  expect(await names({ q: '100%' })).toEqual(['elsewhere']);
  expect(await names({ q: '100_' })).toEqual([]);
  expect(await names({ dataset_id: questions, sort: 'name' })).toEqual(['baseline', 'candidate', 'uploading']);
  expect(await names({ metadata: '{"model":"y"}' })).toEqual(['candidate']);
  expect(await names({ score: 'correct>0.8' })).toEqual(['candidate']);
  expect(await names({ score: 'correct>=0.5' })).toEqual(['candidate', 'baseline']);
  expect(await names({ score: ['correct>=0.5', 'correct<0.9'] })).toEqual(['baseline']);
  expect(await names({ score: 'a>b=-1', sort: 'name' })).toEqual(['baseline', 'candidate']);
});

it('are ordered by members, scores and metadata, what has none last', async () => {
  expect(await names({ sort: 'start_time' })).toEqual(['baseline', 'candidate', 'uploading', 'elsewhere']);
  expect(await names({ sort: '-score:correct', dataset_id: questions })).toEqual([
    'uploading',
    'candidate',
    'baseline',
  ]);
  expect((await names({ sort: 'metadata:k' })).slice(0, 2)).toEqual(['candidate', 'baseline']);
  expect((await names({ sort: '-metadata:k' })).slice(0, 2)).toEqual(['baseline', 'candidate']);
});

it('tell how their means differ from those of the baseline of their dataset', async () => {
  expect((await list()).json.resources[0].against_baseline).toBeNull();
  const { rows: found } = await reading.pool.query<{ id: string; name: string }>('select id, name from sessions');
  const baseline = found.find(({ name }) => name === 'baseline')!.id;
  await reading.pool.query('update datasets set baseline_experiment_id = $2 where id = $1', [questions, baseline]);
  const { json } = await list({ sort: 'name' });
  const told = (json.resources as { name: string; against_baseline: object }[]).map(({ name, against_baseline }) => [
    name,
    against_baseline,
  ]);
  expect(Object.fromEntries(told)).toEqual({
    baseline: null,
    candidate: {
      experiment_id: baseline,
      differences: { correct: 0.9 - 0.5, 'a>b': 0 },
      verdicts: { correct: 'not clear', 'a>b': 'same' },
      lower_is_better: [],
    },
    elsewhere: null,
    uploading: null,
  });
});

it('are better or worse by the directions of the workspace and, before them, of the dataset', async () => {
  await reading.insert('feedback_configs', { tenant_id: a, key: 'correct', config: '{}', is_lower_score_better: true });
  const spread = (avg: number) => JSON.stringify({ correct: { n: 50, avg, stdev: 0.1 } });
  const set = (name: string, avg: number) =>
    reading.pool.query('update sessions set feedback_stats = $2 where name = $1', [name, spread(avg)]);
  await set('baseline', 0.5);
  await set('candidate', 0.9);
  const against = async () => {
    const { resources } = (await list({ q: 'candidate' })).json;
    const { verdicts, lower_is_better } = resources[0].against_baseline;
    return { verdicts, lower_is_better };
  };
  expect(await against()).toEqual({ verdicts: { correct: 'worse' }, lower_is_better: ['correct'] });
  const directions = '{"lower_is_better":[],"higher_is_better":["correct"]}';
  await reading.pool.query('update datasets set score_directions = $2 where id = $1', [questions, directions]);
  expect(await against()).toEqual({ verdicts: { correct: 'better' }, lower_is_better: [] });
});

it('are paged by cursors', async () => {
  const first = (await list({ sort: 'name', limit: '3' })).json;
  expect(first).toMatchObject({ total: 4, resources: [{}, { name: 'candidate' }, {}] });
  const last = (await list({ sort: 'name', limit: '3', cursor: first.next_cursor })).json;
  expect(last).toMatchObject({ total: 4, next_cursor: null, resources: [{ name: 'uploading' }] });
});

it.each([
  [{ score: 'correct' }, 422],
  [{ score: 'correct>high' }, 422],
  [{ sort: 'colour' }, 422],
  [{ datasets: 'all' }, 422],
  [{ limit: '101' }, 422],
  [{ metadata: '[]' }, 400],
  [{ cursor: 'x' }, 400],
  [{ score: Array.from({ length: 11 }, () => 'correct>0') }, 400],
])('does not take %j', async (search, status) => {
  expect((await list(search as Record<string, string | string[]>)).status).toBe(status);
});
