import { v4 as newId } from 'uuid';
import { type Answer, type Reading, rows, startReading } from '../testing/reading';

let reading: Reading;
let a: string;
let dataset: string;
let examples: string[];

const COUNT = 30;
beforeAll(async () => {
  reading = await startReading({}, { maxComparedCells: 10_000 });
  a = reading.tenants.a;
  dataset = await reading.insert('datasets', rows.dataset(a));
  examples = await Promise.all(
    Array.from({ length: COUNT }, () => reading.insert('examples', rows.example(a, dataset))),
  );
});
afterAll(() => reading.stop());

/** Feedback on the runs of a row: a number is a score, a text a label, anything else a value that is neither. */
type Row = readonly unknown[];

/** An experiment with the feedback on the runs of each row under one key, null for rows that it lacks. */
async function experiment(name: string, given: readonly (Row | null)[], key = 'grade'): Promise<string> {
  const session = await reading.insert('sessions', rows.session(a, { reference_dataset_id: dataset, name }));
  for (const [index, runs] of given.entries()) {
    for (const one of runs ?? []) {
      const at = { dataset_id: dataset, example_id: examples[index], row_number: index };
      const run = await reading.insert('runs', rows.run(a, session, at));
      if (one === null) continue;
      const value = typeof one === 'number' ? { score: one } : { value: JSON.stringify(one) };
      await reading.insert('feedback', rows.feedback(a, session, { run_id: run, key, ...value }));
    }
  }
  return session;
}

const all = (label: unknown, count = COUNT): Row[] => Array.from({ length: count }, () => [label]);
const GRADES = { C: 1, P: 0.5, I: 0 };
const VALUES = `&label_values=${encodeURIComponent(JSON.stringify({ grade: GRADES }))}`;

function compared(experiments: readonly string[], more = ''): Promise<Answer> {
  return reading.get(`/datasets/${dataset}/compare?experiments=${experiments.join()}&limit=100${more}`);
}

async function gate(baseline: string, candidate: string, limits = {}) {
  const body = { baseline, experiments: [candidate], ...limits };
  const { status, json } = await reading.post(`/datasets/${dataset}/compare/gate`, body);
  expect(status).toBe(200);
  return json as { outcome: string; reasons: string[] };
}

/** The places of the rows that a filter lets through. */
async function filtered(experiments: readonly string[], filter: string, more = ''): Promise<number[]> {
  const { json } = await compared(experiments, `&rows=${encodeURIComponent(filter)}${more}`);
  return json.page.rows.map((row: { example_id: string }) => examples.indexOf(row.example_id)).sort(ascending);
}
const ascending = (one: number, other: number) => one - other;

describe('Labels that have values', () => {
  let good: string;
  let worse: string;
  beforeAll(async () => {
    good = await experiment('good', all('C'));
    worse = await experiment('worse', [...all('C', 15), ...all('P', 5), ...all('I', 10)]);
  });

  it('are numbers: a mean, a difference, a test, a verdict, and rows that are better or worse', async () => {
    const { keys, categories, page } = (await compared([good, worse], VALUES)).json;
    expect(keys).toMatchObject([
      {
        ...{ key: 'grade', kind: 'numeric', label_values: GRADES },
        results: [
          { mean: 1, scored: 30, runs: 30 },
          { mean: 17.5 / 30, difference: -12.5 / 30, verdict: 'worse', counts: { better: 0, worse: 15, same: 15 } },
        ],
      },
    ]);
    expect(categories).toMatchObject([{ key: 'grade', values: ['C', 'P', 'I'], label_values: [1, 0.5, 0] }]);
    expect(page.rows[0].regression).toBe(1);
    expect(page.rows[0].cells.map(({ scores }: { scores: unknown }) => scores)).toEqual([[1], [0]]);
    expect(await filtered([good, worse], `${worse}:worse:grade`, VALUES)).toEqual(
      Array.from({ length: 15 }, (_, i) => i + 15),
    );
    expect(await filtered([good, worse], `${worse}:changed:grade`, VALUES)).toHaveLength(15);
    const sorted = (await compared([good, worse], `${VALUES}&sort=difference:${worse}:grade`)).json.page.rows;
    expect(examples.indexOf(sorted[0].example_id)).toBeGreaterThan(19);
  });

  it('are held to the limits of scores by a gate', async () => {
    const label_values = { grade: GRADES };
    const { outcome, reasons } = await gate(good, worse, {
      label_values,
      keys: { grade: { max_drop: 0.02, min_mean: 0.8, max_worse: 3 } },
    });
    expect([outcome, reasons]).toEqual([
      'fail',
      [
        'worse: grade is significantly worse (difference -0.4167, p 0.0009995, n 30).',
        'worse: the mean of grade is 0.5833, less than 0.8.',
        'worse: grade is worse by 0.4167, more than 0.02.',
        'worse: 15 rows are worse on grade, more than 3.',
      ],
    ]);
    expect(await gate(worse, good, { label_values, keys: { grade: { max_drop: 0 } } })).toMatchObject({
      outcome: 'pass',
    });
    expect(await gate(worse, good, { label_values, lower_is_better: ['grade'] })).toMatchObject({ outcome: 'fail' });
  });

  it('have the values that the categories of the feedback configuration give, until a request gives others', async () => {
    const [before, after] = [
      await experiment('b', all('C'), 'configured'),
      await experiment('c', all('I'), 'configured'),
    ];
    const values = async (more = '') =>
      (await compared([before, after], `&key=configured${more}`)).json.keys[0].label_values as unknown;
    expect(await values()).toBeUndefined();
    const categories = Object.entries(GRADES).map(([label, value]) => ({ label, value }));
    const config = { feedback_key: 'configured', feedback_config: { type: 'categorical', categories } };
    expect(await reading.post('/feedback-configs', config)).toMatchObject({ status: 200 });
    expect(await values()).toEqual(GRADES);
    expect(await gate(before, after)).toMatchObject({ outcome: 'fail' });
    const own = (given: object) => `&label_values=${encodeURIComponent(JSON.stringify({ configured: given }))}`;
    expect(await values(own({ C: 2, I: 3 }))).toEqual({ C: 2, I: 3 });
    expect(await values(own({}))).toBeUndefined();
    const changed = { type: 'categorical', categories: [...categories, { label: 'C', value: 5 }] };
    await reading.send('PATCH', '/feedback-configs', { feedback_key: 'configured', feedback_config: changed });
    // A label that is given two values has none.
    expect(await values()).toEqual({ P: 0.5, I: 0 });
  });

  it('leave a gate undecided where one has no value, and say which', async () => {
    const odd = await experiment('odd', [...all('C', 27), ...all('X', 2), ['Y']]);
    const limits = { label_values: { grade: GRADES }, keys: { grade: { max_drop: 0.02, min_scored: 0.9 } } };
    const reason = 'odd: 3 of 30 rows have labels of grade that have no value: X (2), Y (1).';
    expect(await gate(good, odd, limits)).toMatchObject({ outcome: 'undecided', reasons: [reason] });
    const { reasons } = await gate(odd, good, { label_values: { grade: GRADES } });
    expect(reasons).toContain(
      'good: 3 of 30 rows of the baseline have labels of grade that have no value: X (2), Y (1).',
    );
    const { warnings } = (await compared([good, odd], VALUES)).json;
    expect(warnings).toContainEqual(expect.objectContaining({ code: 'labels without a value', key: 'grade', rows: 3 }));
  });

  it.each(['{', '[]', '{"grade":1}', '{"grade":{"C":"good"}}'])('are refused as %s', async (text) => {
    const { status, json } = await compared([good, worse], `&label_values=${encodeURIComponent(text)}`);
    expect([status, json.detail[0].loc]).toEqual([422, ['query', 'label_values']]);
  });
});

describe('Labels without values', () => {
  let before: string;
  let after: string;
  beforeAll(async () => {
    before = await experiment('before', [...all('C', 20), ...all('a:b,c%', 10)]);
    after = await experiment('after', [...all('C', 10), ...all('I', 10), ...all('a:b,c%', 8), ['C'], null]);
  });

  it('say how the share of each changed, and whether that is more than chance', async () => {
    const [category] = (await compared([before, after], '&key=grade')).json.categories;
    const [, result] = category.results;
    expect(category.values).toEqual(['C', 'a:b,c%', 'I']);
    expect(result).toMatchObject({
      row_counts: { rows: 30, same: 18, changed: 11, missing: 1, extra: 0, errored: 0, unscored: 0 },
      shares: [
        { difference: expect.closeTo(-9 / 29, 9), more: 1, fewer: 10, p: expect.closeTo(24 / 2048, 9) },
        { difference: expect.closeTo(-1 / 29, 9), more: 0, fewer: 1, p: 1 },
        { difference: expect.closeTo(10 / 29, 9), more: 10, fewer: 0, p: expect.closeTo(2 / 1024, 9) },
      ],
      ...{ p: expect.closeTo(6 / 1024, 9), verdict: 'changed' },
      changes: [
        { from: 'C', to: 'I', rows: 10 },
        { from: 'a:b,c%', to: 'C', rows: 1 },
      ],
    });
  });

  it('are held to limits of their shares, and leave a gate undecided without', async () => {
    const labels = (limits: object) => ({ keys: { grade: { labels: limits, min_scored: 0.9 } } });
    expect(await gate(before, after, { keys: { grade: { min_scored: 0.9 } } })).toMatchObject({
      outcome: 'undecided',
      reasons: ['after: 11 of 29 rows have other labels of grade, which have no order.'],
    });
    expect(await gate(before, after, labels({ C: { min_share: 0.8, max_drop: 0.05 }, I: { max_rise: 0.1 } }))).toEqual(
      expect.objectContaining({
        outcome: 'fail',
        reasons: [
          'after: the share of C in grade is 0.3793, less than 0.8.',
          'after: the share of C in grade fell by 0.3103, more than 0.05.',
          'after: the share of I in grade rose by 0.3448, more than 0.1.',
        ],
      }),
    );
    const kept = labels({ C: { min_share: 0.3 }, I: { max_share: 0.4, max_rise: 0.5 }, never: { max_share: 0 } });
    expect(await gate(before, after, kept)).toMatchObject({ outcome: 'pass', reasons: [] });
    const long = 'x'.repeat(200);
    expect(await gate(before, after, labels({ [long]: { max_share: 1 } }))).toMatchObject({ outcome: 'undecided' });
    const other = await gate(before, after, {
      keys: { mood: { labels: { C: { max_drop: 0 } } }, grade: { labels: { C: {} } } },
    });
    expect(other.outcome).toBe('undecided');
    expect(other.reasons).toContain('after: there are no labels of mood.');
  });

  it('are filtered by what became of them, also in an export', async () => {
    const experiments = [before, after];
    expect(await filtered(experiments, `${after}:changed:grade`)).toEqual(
      [...Array(10).keys()].map((i) => i + 10).concat(28),
    );
    expect(await filtered(experiments, `${after}:same,missing:grade`)).toHaveLength(19);
    const [C, other] = ['C', encodeURIComponent('a:b,c%')];
    expect(await filtered(experiments, `${after}:label=${C},I:grade`)).toHaveLength(10);
    expect(await filtered(experiments, `${after}:label=${other},${C}:grade`)).toEqual([28]);
    expect(await filtered(experiments, `${after}:label=${other},${other}:grade`)).toHaveLength(8);
    expect(await filtered(experiments, `${after}:label=,${C}:grade`)).toEqual([28]);
    expect(await filtered(experiments, `${after}:label=${C},:grade`)).toHaveLength(10);
    const rowsOf = encodeURIComponent(`${after}:label=${other},${C}:grade`);
    const path = `/datasets/${dataset}/compare/export?experiments=${experiments.join()}&format=jsonl&rows=${rowsOf}`;
    const lines = (await reading.get(path)).text.trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { example_id: string }).example_id)).toEqual([examples[28]]);
  });

  it.each(['label=,:grade', 'label=%,C:grade', 'label=C:grade', 'changes:grade', 'label=C,I,P:grade'])(
    'are not filtered by %s',
    async (filter) => {
      const { status } = await compared([before, after], `&rows=${encodeURIComponent(`${after}:${filter}`)}`);
      expect(status).toBe(422);
    },
  );

  it('are neither better nor worse, and a filter that asks for that says so', async () => {
    for (const filter of [`${after}:worse:grade`, `${after}:label=C,I:mood`, `${before}:changed:grade`]) {
      expect(await compared([before, after], `&rows=${encodeURIComponent(filter)}`)).toMatchObject({ status: 400 });
    }
  });
});

describe('Repetitions', () => {
  /** Everything that is told of two experiments, with the names of labels in place of their order. */
  async function told(
    given: readonly (readonly (Row | null)[])[],
    names: Readonly<Record<string, string>>,
    values?: object,
  ) {
    const [before, after] = [
      await experiment(`one ${newId()}`, given[0]!),
      await experiment(`two ${newId()}`, given[1]!),
    ];
    const more = values ? `&label_values=${encodeURIComponent(JSON.stringify({ grade: values }))}` : '';
    const { keys, categories } = (await compared([before, after], `&key=grade${more}`)).json;
    const name = (label: string) => names[label] ?? label;
    const [{ values: labels, results }] = categories;
    const named = (list: readonly unknown[]) =>
      Object.fromEntries((labels as string[]).map((label, place) => [name(label), list[place]]));
    const place = (label: string) => (labels as string[]).findIndex((one) => name(one) === label);
    const grid = (
      await reading.get(`/datasets/${dataset}/compare/distributions?experiments=${before},${after}&key=grade${more}`)
    ).json.results[1].grid as number[][];
    const sorted = [...labels].map(name).sort();
    const limits = Object.fromEntries((labels as string[]).map((label) => [label, { max_drop: 0.05, max_rise: 0.05 }]));
    const judged = await gate(before, after, {
      ...(values && { label_values: { grade: values } }),
      keys: { grade: { labels: limits } },
    });
    return {
      outcome: judged.outcome,
      keys: keys.map(({ results: [one, two] }: { results: [object, object] }) => [
        { ...one, experiment: 0 },
        { ...two, experiment: 1 },
      ]),
      counts: results.map(({ scored, runs, counts }: { scored: number; runs: number; counts: number[] }) => ({
        scored,
        runs,
        ...named(counts),
      })),
      shares: named(results[1].shares),
      ...{ p: results[1].p, verdict: results[1].verdict, rows: results[1].row_counts },
      matrix: sorted.map((from) => sorted.map((to) => grid[place(from)]![place(to)])),
      kept: (
        await Promise.all(
          (labels as string[]).map(async (label) => [
            name(label),
            await filtered([before, after], `${after}:label=${label},:grade`, more),
          ]),
        )
      ).sort(([one], [other]) => (one! < other! ? -1 : 1)),
    };
  }

  it('count in equal parts: a row with C, C and I is two thirds C and one third I', async () => {
    const given = [[['C', 'C', 'I']], [['I', 'C', null]]];
    expect(await told(given, {})).toMatchObject({
      counts: [
        { scored: 1, runs: 3, C: expect.closeTo(2 / 3, 9), I: expect.closeTo(1 / 3, 9) },
        { scored: 1, runs: 2, C: 0.5, I: 0.5 },
      ],
      matrix: [
        [expect.closeTo(1 / 3, 9), expect.closeTo(1 / 3, 9)],
        [expect.closeTo(1 / 6, 9), expect.closeTo(1 / 6, 9)],
      ],
      rows: { changed: 1, same: 0 },
    });
    const same = await told([[['C', 'I']], [['I', 'C', 'C', 'I']]], {}, { C: 0.1, I: 0.3 });
    expect(same).toMatchObject({ rows: { same: 1 }, keys: [[{}, { difference: 0, counts: { same: 1 } }]] });
  });

  it('are told with each row and each line of an export, the largest share first', async () => {
    const session = await experiment('repeated', [['I', 'C', 'C'], ['P']]);
    const shares = ['{"grade":{"C":0.666666667,"I":0.333333333}}', '{"grade":{"P":1}}'];
    const { page } = (await compared([session])).json;
    const cells = page.rows.map(({ cells }: { cells: [{ labels: object }] }) => JSON.stringify(cells[0].labels));
    expect(cells.sort()).toEqual(shares);
    const exported = `/datasets/${dataset}/compare/export?experiments=${session}`;
    const lines = (await reading.get(`${exported}&format=jsonl`)).text.trim().split('\n');
    expect(lines.map((line) => JSON.stringify(JSON.parse(line).experiments[0].labels)).sort()).toEqual([
      ...[shares[0], shares[0], shares[0], shares[1]],
    ]);
    const [header, ...csv] = (await reading.get(`${exported}&format=csv`)).text.trim().split('\r\n');
    expect(header).toMatch(/,value grade,labels grade$/);
    expect(csv.filter((line) => line.endsWith('"{""C"":0.666666667,""I"":0.333333333}"'))).toHaveLength(3);
  });

  const random = (seed: number) => () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;

  it.each([1, 2, 3, 4])('give the same answer in any order and under any names (%s)', async (seed) => {
    const next = random(seed);
    const labels = ['a', 'B', 'z', 'é'];
    const draw = (): Row =>
      Array.from({ length: 1 + Math.floor(next() * 4) }, () => labels[Math.floor(next() ** 2 * 4)]!);
    const given = [0, 1].map(() => Array.from({ length: 12 }, draw));
    const values = seed % 2 ? { a: 0.1, B: 0.7, z: 0.3, é: 0.2 } : undefined;
    const shuffled = given.map((list) => list.map((runs) => [...runs].sort(() => next() - 0.5)));
    const other: Record<string, string> = { a: 'z', B: 'é', z: 'B', é: 'a' };
    const back = Object.fromEntries(Object.entries(other).map(([from, to]) => [to, from]));
    const renamed = shuffled.map((list) => list.map((runs) => runs.map((label) => other[label as string])));
    const valued = values && Object.fromEntries(Object.entries(values).map(([label, value]) => [other[label], value]));
    const answer = await told(given, {}, values);
    expect(await told(shuffled, {}, values)).toEqual(answer);
    expect(await told(renamed, back, valued)).toEqual(answer);
  });
});

describe('What cannot be compared', () => {
  it('is a value that is an object or a list, and is named', async () => {
    const alike = await experiment('alike', all({ answer: 1 }));
    const same = await experiment('same', all({ answer: 1 }));
    const reasons = [
      'same: 30 of 30 rows of the baseline have objects or lists as values of grade, which cannot be compared.',
      'same: 30 of 30 rows have objects or lists as values of grade, which cannot be compared.',
    ];
    const { outcome, reasons: found } = await gate(alike, same);
    expect([outcome, found.slice(0, 2)]).toEqual(['undecided', reasons]);
    const numbers = await experiment('numbers', all(1));
    const mixed = await experiment('mixed', [...all(1, 29), [[1, 2]]]);
    expect((await gate(numbers, mixed)).reasons).toEqual([
      'mixed: 1 of 30 rows have objects or lists as values of grade, which cannot be compared.',
      'mixed: 1 of 30 rows could not be compared on grade: they have no score of it.',
    ]);
    const { warnings } = (await compared([numbers, mixed])).json;
    expect(warnings).toContainEqual(
      expect.objectContaining({ code: 'values not compared', experiment: mixed, rows: 1 }),
    );
  });

  it('is nothing at all where the value is null', async () => {
    const session = await experiment('null', [[null]]);
    const run = (await reading.pool.query<{ id: string }>('select id from runs where session_id = $1', [session]))
      .rows[0]!;
    await reading.insert('feedback', rows.feedback(a, session, { run_id: run.id, key: 'grade', value: 'null' }));
    expect((await compared([session])).json.categories).toEqual([]);
  });

  it('is a key that does not fit: a gate is undecided and names it, and an export says how to ask for it', async () => {
    const many = async (name: string, last: number) => {
      const session = await experiment(name, all(1), 'k000');
      await reading.pool.query(
        `insert into feedback (id, tenant_id, session_id, run_id, key, score, source_type, created_at, modified_at)
         select gen_random_uuid(), tenant_id, session_id, id, 'k' || lpad(number::text, 3, '0'),
           case when number = 200 then $2::float8 else 1 end, 'api', now(), now()
         from runs, generate_series(1, 200) as number where session_id = $1`,
        [session, last],
      );
      return session;
    };
    const [before, after] = [await many('most', 1), await many('least', 0)];
    const { outcome, reasons } = await gate(before, after);
    expect([outcome, reasons.length, reasons.at(-1)]).toEqual([
      'undecided',
      35,
      'k200 could not be read: there are too many keys for so many rows.',
    ]);
    // What a limit names is read before all others.
    expect(await gate(before, after, { keys: { k200: { max_drop: 0.02 } } })).toMatchObject({ outcome: 'fail' });
    for (const format of ['csv', 'jsonl']) {
      const path = `/datasets/${dataset}/compare/export?experiments=${before},${after}&format=${format}`;
      const { status, text } = await reading.get(path);
      expect([status, text]).toEqual([400, expect.stringContaining('name keys with key')]);
      expect(await reading.get(`${path}&key=k200`)).toMatchObject({ status: 200 });
    }
    const alone = `/datasets/${dataset}/compare/export?experiments=${before}&format=csv`;
    expect((await reading.get(alone)).text.split('\r\n')[0]!.match(/score k/g)).toHaveLength(201);
  });
});

it('The worst rows and the warnings of a comparison are about all keys, also those that it does not show', async () => {
  const keys = Array.from({ length: 60 }, (_, key) => `s${String(key).padStart(2, '0')}`);
  const sixty = async (name: string, last: number) => {
    const session = await experiment(name, all(null, 2));
    await reading.pool.query(
      `insert into feedback (id, tenant_id, session_id, run_id, key, score, source_type, created_at, modified_at)
       select gen_random_uuid(), r.tenant_id, r.session_id, r.id, key,
         case when key = 's59' and r.example_id = $3 then $4::float8 else 1 end, 'api', now(), now()
       from runs r, unnest($2::text[]) as key where r.session_id = $1 and not (key = 's58' and $4 = 0)`,
      [session, keys, examples[1], last],
    );
    return session;
  };
  const [before, after] = [await sixty('sixty', 1), await sixty('later', 0)];
  const { page, warnings, keys: shown } = (await compared([before, after])).json;
  expect(shown).toHaveLength(50);
  expect(
    page.rows.map(({ example_id, regression }: { example_id: string; regression: number }) => [
      examples.indexOf(example_id),
      regression,
    ]),
  ).toEqual([
    [1, 1],
    [0, 0],
  ]);
  expect(warnings.map(({ code, key }: { code: string; key?: string }) => [code, key])).toEqual([
    ['keys left out', undefined],
    ['key not scored', 's58'],
  ]);
  expect(await filtered([before, after], `${after}:worse:s59`)).toEqual([1]);
});

it('Warnings beyond 500 are announced', async () => {
  const session = await experiment('many', [[null]]);
  await reading.pool.query(
    `insert into feedback (id, tenant_id, session_id, run_id, key, score, source_type, created_at, modified_at)
     select gen_random_uuid(), tenant_id, session_id, id, 'w' || number, 1, 'api', now(), now()
     from runs, generate_series(1, 600) as number where session_id = $1`,
    [session],
  );
  const other = await experiment('none', [[null]]);
  for (const warnings of [
    (await compared([session, other])).json.warnings as { code: string; message: string }[],
    ((await gate(session, other)) as unknown as { warnings: { code: string; message: string }[] }).warnings,
  ]) {
    expect(warnings).toHaveLength(500);
    expect(warnings.at(-1)).toMatchObject({
      code: 'warnings left out',
      message: expect.stringMatching(/^10\d further/),
    });
  }
});
