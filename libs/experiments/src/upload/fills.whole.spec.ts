import { filling, fillsOf, numbered, scored, type Tenant, type Uploaded } from '../testing/filling';
import { startUploading } from '@fairlead/evaluation/testing';
import type { Uploading } from '../testing/uploading';

let service: Uploading;
beforeAll(async () => {
  service = await startUploading();
});
afterAll(() => service.stop());
const { post, fill, uploaded, runsOf } = fillsOf(() => service);

const HOSTED = ['a', 'b'] as const;

describe('after a fill, each route answers as if the experiment had been uploaded whole', () => {
  const plan = Array.from({ length: 6 }, (_, number) => numbered(number));
  const scores = (n: number) => [
    scored('judge', n / 10, n),
    {
      key: 'kind',
      value: n % 2 ? 'odd' : 'even',
      created_at: `2026-01-01T12:01:0${n}Z`,
      modified_at: '2026-01-01T12:02:00Z',
    },
  ];
  const done = (n: number) => ({ ...plan[n]!, actual_outputs: { a: n }, evaluation_scores: scores(n) });
  const name = (what: string) => ({ experiment_name: `${what} whole`, dataset_name: 'filled whole' });
  const summary = { summary_experiment_scores: [{ ...scored('f1', 0.5, 30) }] };
  interface Of {
    readonly base: Uploaded;
    readonly whole: Uploaded;
    /** Token of the shared dataset. */
    readonly token: string;
  }
  const ids = {} as Record<Tenant, Of>;

  beforeAll(async () => {
    const base = plan.map((one, n) => ({ ...one, evaluation_scores: [scored('judge', 0.4, 40 + n)] }));
    for (const tenant of HOSTED) {
      const first = await uploaded(base, name('base'), tenant);
      const rows = [0, 1, 2, 3, 4].map(done);
      const broken = (n: number) => ({ ...plan[n]!, error: 'broken', evaluation_scores: [scored('judge', 0, 50 + n)] });
      const sent = tenant === 'a' ? [done(0), broken(1), done(2), broken(3), done(4)] : rows;
      // Of the last row, the filled experiment has no run at first.
      const whole = await uploaded(tenant === 'a' ? sent : [...rows, done(5)], { ...name('next'), ...summary }, tenant);
      const key = { 'x-api-key': tenant };
      const shared = await service.send('PUT', `/api/v1/datasets/${whole.dataset}/share`, [], key);
      ids[tenant] = { base: first, whole, token: shared.json.share_token };
    }
    const { whole } = ids.a;
    for (const run of await runsOf(whole.id)) {
      if (run.status === 'error') await post('/api/v1/feedback', { run_id: run.id, key: 'late', score: 0 });
    }
    for (const rows of [[done(5), done(3)], [done(1)]]) {
      const { status, text } = await fill(whole.id, filling(whole, rows, { summary_experiment_scores: undefined }));
      if (status !== 200) throw new Error(text);
    }
    await service.settled();
  });

  /** Answers with ids by the order in which they come, without times of today, and with twelve digits of numbers. */
  function plain(text: string): string {
    const known = new Map<string, string>();
    const name = (id: string) => known.get(id) ?? known.set(id, `#${known.size}`).get(id)!;
    return text
      .replaceAll(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, name)
      .replaceAll(/(?!2026-01-0)\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)?/g, 'T')
      .replaceAll(/\d+\.\d{12,}/g, (number) => String(Number(Number(number).toPrecision(12))))
      .replaceAll(/"cursor":"[^"]*"|"(?:next|prev)":"[^"]*"/g, 'cursor');
  }

  type Asked = (of: Of) => readonly [string, unknown?];
  const compare = (of: Of) => `/api/v1/datasets/${of.whole.dataset}/compare`;
  const routes: Readonly<Record<string, Asked>> = {
    session: ({ whole }) => [`/api/v1/sessions/${whole.id}?include_stats=true`],
    sessions: ({ whole }) => [`/api/v1/sessions?reference_dataset=${whole.dataset}&sort_by=name`],
    experiments: ({ whole }) => [`/v1/experiments?dataset_id=${whole.dataset}&sort=name`],
    'experiments by score': ({ whole }) => [`/v1/experiments?dataset_id=${whole.dataset}&score=judge%3E0.2&sort=name`],
    dataset: ({ whole }) => [`/api/v1/datasets/${whole.dataset}`],
    examples: ({ whole }) => [`/api/v1/examples?dataset=${whole.dataset}`],
    'dataset as CSV': ({ whole }) => [`/api/v1/datasets/${whole.dataset}/csv`],
    runs: ({ whole }) => ['/api/v1/runs/query', { session: [whole.id], order: 'asc' }],
    'root runs': ({ whole }) => ['/api/v1/runs/query', { session: [whole.id], is_root: true, order: 'asc' }],
    'failed runs': ({ whole }) => ['/api/v1/runs/query', { session: [whole.id], error: true }],
    'runs by filter': ({ whole }) => [
      '/api/v1/runs/query',
      { session: [whole.id], order: 'asc', filter: 'and(eq(feedback_key, "judge"), gte(feedback_score, 0))' },
    ],
    'runs of examples': ({ whole }) => [
      '/api/v1/runs/query',
      { session: [whole.id], order: 'asc', reference_example: plan.map(({ row_id }) => row_id) },
    ],
    'statistics of runs': ({ whole }) => ['/api/v1/runs/stats', { session: [whole.id] }],
    'runs (second version)': ({ whole }) => ['/v2/runs/query', { project_ids: [whole.id], sort_order: 'ASC' }],
    feedback: ({ whole }) => [`/api/v1/feedback?session=${whole.id}`],
    'feedback of a key': ({ whole }) => [`/api/v1/feedback?session=${whole.id}&key=judge`],
    comparison: (of) => [`${compare(of)}?experiments=${of.whole.id}&baseline=${of.base.id}`],
    'one experiment alone': (of) => [`${compare(of)}?experiments=${of.whole.id}`],
    'summary of a comparison': (of) => [
      `${compare(of)}?experiments=${of.whole.id}&baseline=${of.base.id}&format=summary`,
    ],
    distributions: (of) => [`${compare(of)}/distributions?experiments=${of.whole.id}&baseline=${of.base.id}&key=judge`],
    'export as CSV': (of) => [`${compare(of)}/export?experiments=${of.whole.id}`],
    'export as JSON Lines': (of) => [`${compare(of)}/export?experiments=${of.whole.id}&format=jsonl`],
    'export of two': (of) => [`${compare(of)}/export?experiments=${of.whole.id}&baseline=${of.base.id}&format=jsonl`],
    gate: (of) => [
      `${compare(of)}/gate`,
      {
        baseline: of.base.id,
        experiments: [of.whole.id],
        max_error_rate: 0,
        max_missing: 0,
        keys: { judge: { max_drop: 9 } },
      },
    ],
    'runs side by side': ({ base, whole }) => [
      `/api/v1/datasets/${whole.dataset}/runs`,
      { session_ids: [base.id, whole.id], limit: 10 },
    ],
    'number of examples': ({ whole }) => [`/api/v1/examples/count?dataset=${whole.dataset}`],
    'shared experiments': ({ token }) => [`/api/v1/public/${token}/datasets/sessions?name=next%20whole`],
    'shared comparison': ({ base, whole, token }) => [
      `/api/v1/public/${token}/datasets/compare?experiments=${whole.id}&baseline=${base.id}`,
    ],
    differences: ({ base, whole }) => [
      `/api/v1/datasets/${whole.dataset}/runs/delta`,
      { baseline_session_id: base.id, comparison_session_ids: [whole.id], feedback_key: 'judge' },
    ],
    'runs side by side (second version)': ({ base, whole }) => [
      `/v2/datasets/${whole.dataset}/experiment-runs`,
      { experiment_ids: [base.id, whole.id] },
    ],
  };

  it.each(Object.entries(routes))('%s', async (_, asked) => {
    const answers = [];
    for (const tenant of HOSTED) {
      const [path, body] = asked(ids[tenant]);
      const { status, text } = body ? await post(path, body, tenant) : await service.get(path, tenant);
      expect({ status, text }).toMatchObject({ status: 200 });
      answers.push(plain(text));
    }
    expect(answers[0]).toBe(answers[1]);
  });

  it('each run', async () => {
    const shown = [];
    for (const tenant of HOSTED) {
      const texts = [];
      for (const { id } of await runsOf(ids[tenant].whole.id))
        texts.push(plain((await service.get(`/api/v1/runs/${String(id)}`, tenant)).text));
      shown.push(texts);
    }
    expect(shown[0]).toHaveLength(6);
    expect(shown[0]).toEqual(shown[1]);
  });
});
