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
