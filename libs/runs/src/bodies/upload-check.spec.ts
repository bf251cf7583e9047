import { experiment, row } from '@fairlead/experiments/testing';
import { ExperimentLimits } from './experiment-limits';
import { UploadCheck, type Verdict } from './upload-check';

function verdict(body: string | Buffer | object, limits: Partial<ExperimentLimits> = {}): Verdict {
  const check = new UploadCheck(new ExperimentLimits(limits));
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  for (let i = 0; i < bytes.length; i += 7) if (!check.push(bytes.subarray(i, i + 7))) break;
  return check.finish();
}

/** Type and place of every problem. */
function problems(body: string | Buffer | object): [string, string][] {
  const found = verdict(body);
  if (found.kind !== 'invalid') throw new Error(`The verdict is ${JSON.stringify(found)}`);
  return found.problems.map(({ type, loc }) => [type, loc.join('.')]);
}

const without = (name: string, from: object) =>
  Object.fromEntries(Object.entries(from).filter(([key]) => key !== name));

describe('the check of an upload', () => {
  it('tells what it found', () => {
    const body = experiment({ experiment_metadata: { a: 1 }, summary_experiment_scores: [{ key: 'k' }] }, [
      row(),
      row(),
    ]);
    expect(verdict(body)).toMatchObject({
      kind: 'valid',
      upload: {
        rows: 2,
        summaryScores: 1,
        metadata: '{"a":1}',
        header: { experiment_name: body.experiment_name, experiment_start_time: { iso: '2026-01-01T00:00:00+00:00' } },
      },
    });
  });

  it.each(['experiment_name', 'experiment_start_time', 'experiment_end_time', 'results'])('requires %s', (name) => {
    expect(problems(without(name, experiment()))).toEqual([['missing', `body.${name}`]]);
  });

  it.each(['row_id', 'inputs', 'start_time', 'end_time'])('requires %s of every row', (name) => {
    expect(problems(experiment({}, [row(), without(name, row())]))).toEqual([['missing', `body.results.1.${name}`]]);
  });

  it('requires the key of a score', () => {
    const scores = [{ key: 'k' }, { score: 1 }];
    const body = experiment({ summary_experiment_scores: scores }, [row({ evaluation_scores: scores })]);
    expect(problems(body)).toEqual([
      ['missing', 'body.summary_experiment_scores.1.key'],
      ['missing', 'body.results.0.evaluation_scores.1.key'],
    ]);
  });

  describe('of rows with the same row_id', () => {
    const one = row({ expected_outputs: { a: 1, b: [{ c: 1, d: 2 }] }, inputs: { q: 1, r: 2 } });
    const same = { ...one, expected_outputs: { b: [{ d: 2, c: 1 }], a: 1 }, inputs: { r: 2, q: 1 } };
    const bare = { ...one, expected_outputs: undefined };

    it('takes repetitions that say the same, in any spelling, or leave the reference out', () => {
      const found = verdict(experiment({}, [one, row(), same, bare, { ...one, expected_outputs: null }]));
      expect(found).toMatchObject({ kind: 'valid', upload: { otherInputs: { count: 0 } } });
    });

    it('refuses other expected outputs than those of the first one, which would be lost', () => {
      const other = { ...one, expected_outputs: { a: 2 } };
      expect(problems(experiment({}, [row(), one, other]))).toEqual([
        ['value_error', 'body.results.2.expected_outputs'],
      ]);
      expect(problems(experiment({}, [bare, row(), one]))).toEqual([
        ['value_error', 'body.results.2.expected_outputs'],
      ]);
    });

    it('counts other inputs, which stay with their run', () => {
      const other = { ...one, inputs: { q: 2 } };
      const found = verdict(experiment({}, [row(), one, other, one, other]));
      expect(found).toMatchObject({ kind: 'valid', upload: { otherInputs: { count: 2, row: 2, first: 1 } } });
    });

    it('finds them among thousands', () => {
      const many = Array.from({ length: 5000 }, (_, n) => row({ expected_outputs: { n } }));
      const wrong = { ...many[4321], expected_outputs: { n: -1 } };
      expect(problems(experiment({}, [...many, ...many.slice(0, 100), wrong]))).toEqual([
        ['value_error', 'body.results.5100.expected_outputs'],
      ]);
    });
  });

  it('requires one of dataset_id and dataset_name', () => {
    expect(problems(without('dataset_name', experiment()))).toEqual([['value_error', 'body']]);
    expect(problems(experiment({ dataset_name: null }))).toEqual([['value_error', 'body']]);
  });

  it('lists problems in the order of the schema, however the members come', () => {
    const { results, ...rest } = experiment({ experiment_name: 1, dataset_id: 'x' }, [
      row({ row_id: 'z', inputs: [] }),
    ]);
    const expected = [
      ['string_type', 'body.experiment_name'],
      ['uuid_parsing', 'body.dataset_id'],
      ['uuid_parsing', 'body.results.0.row_id'],
      ['dict_type', 'body.results.0.inputs'],
    ];
    expect(problems({ ...rest, results })).toEqual(expected);
    expect(problems({ results, ...rest })).toEqual(expected);
  });

  it.each([
    ['before the experiment', { start_time: '2025-12-31T23:59:59.999999Z' }, 'start_time'],
    ['after it', { end_time: '2026-01-02T00:00:00.000001Z' }, 'end_time'],
    ['backwards', { start_time: '2026-01-01T11:00:00Z', end_time: '2026-01-01T10:00:00Z' }, 'end_time'],
  ])('refuses a row that lies %s, header first or last', (_, times, member) => {
    const { results, ...rest } = experiment({}, [row(), row(times)]);
    expect(problems({ ...rest, results })).toEqual([['value_error', `body.results.1.${member}`]]);
    expect(problems({ results, ...rest })).toEqual([['value_error', `body.results.1.${member}`]]);
  });

  it.each([
    ['before', '2025-12-31T10:00:00Z'],
    ['after', '2026-01-02T10:00:00Z'],
  ])('refuses both times of a row that lies wholly %s the experiment', (_, time) => {
    expect(problems(experiment({}, [row({ start_time: time, end_time: time })]))).toEqual([
      ['value_error', 'body.results.0.start_time'],
      ['value_error', 'body.results.0.end_time'],
    ]);
  });

  it('counts both ends of the experiment as within it', () => {
    const whole = { start_time: '2026-01-01T00:00:00', end_time: '2026-01-02T01:00:00+01:00' };
    expect(verdict(experiment({}, [row(whole)])).kind).toBe('valid');
  });

  it('takes a row, and a whole experiment, that takes no time', () => {
    const [start_time, end_time] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'];
    const instant = { experiment_start_time: start_time, experiment_end_time: end_time };
    expect(verdict(experiment(instant, [row({ start_time, end_time })])).kind).toBe('valid');
  });

  it('refuses an experiment that ends before it starts', () => {
    const body = experiment({ experiment_end_time: '2025-01-01T00:00:00Z' });
    expect(problems(body)).toEqual([['value_error', 'body.experiment_end_time']]);
  });

  it('answers as the service that clients know does', () => {
    const body = experiment(
      { experiment_name: 1, experiment_start_time: 'yesterday', experiment_end_time: null, dataset_id: 'x' },
      [row({ row_id: 'z', inputs: [], evaluation_scores: [{ score: 'a' }] })],
    );
    const score = ['body', 'results', 0, 'evaluation_scores', 0, 'score'];
    const wrong = (loc: unknown[], input: string) => ({
      type: 'uuid_parsing',
      loc,
      msg: `Input should be a valid UUID, invalid character: found \`${input}\` at 1`,
      input,
      ctx: { error: `invalid character: found \`${input}\` at 1` },
    });
    expect(verdict(body)).toMatchObject({
      problems: [
        { type: 'string_type', loc: ['body', 'experiment_name'], msg: 'Input should be a valid string', input: 1 },
        { type: 'datetime_from_date_parsing', loc: ['body', 'experiment_start_time'], input: 'yesterday' },
        { type: 'datetime_type', loc: ['body', 'experiment_end_time'], input: null },
        wrong(['body', 'dataset_id'], 'x'),
        wrong(['body', 'results', 0, 'row_id'], 'z'),
        {
          type: 'dict_type',
          loc: ['body', 'results', 0, 'inputs'],
          msg: 'Input should be a valid dictionary',
          input: [],
        },
        { type: 'missing', loc: [...score.slice(0, -1), 'key'], msg: 'Field required', input: { score: 'a' } },
        { type: 'float_parsing', loc: [...score, 'float'], input: 'a' },
        { type: 'int_parsing', loc: [...score, 'int'], input: 'a' },
        { type: 'bool_parsing', loc: [...score, 'bool'], input: 'a' },
      ],
    });
  });

  it('lists a hundred problems and counts them all', () => {
    const rows = Array.from({ length: 150 }, () => row({ row_id: 'x' }));
    const found = verdict(experiment({}, rows));
    expect(found).toMatchObject({ kind: 'invalid', total: 150 });
    expect(found.kind === 'invalid' && found.problems).toHaveLength(100);
  });

  it('refuses a second list of results', () => {
    const text = JSON.stringify(experiment());
    expect(problems(`${text.slice(0, -1)},"results":[]}`)).toEqual([['value_error', 'body.results']]);
  });

  it.each([
    ['nothing', '', [['missing', 'body']]],
    ['a list', '[]', [['model_attributes_type', 'body']]],
    ['text that is cut off', '{"results":[{', [['json_invalid', 'body.13']]],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), [['json_invalid', 'body.1']]],
  ])('refuses %s', (_, body, expected) => {
    expect(problems(body)).toEqual(expected);
  });

  it.each([
    ['depth', `{"inputs":${'['.repeat(100_000)}`, { limit: 'depth', allowed: 100 }],
    ['row bytes', JSON.stringify(experiment({}, [row({ inputs: { a: 'x'.repeat(900) } })])), { limit: 'row bytes' }],
    [
      'header bytes',
      JSON.stringify(experiment({ experiment_description: 'x'.repeat(300) })),
      { limit: 'header bytes' },
    ],
  ])('stops at the limit of %s', (_, body, expected) => {
    expect(verdict(body, { maxRowBytes: 800, maxHeaderBytes: 300 })).toMatchObject({ kind: 'limit', ...expected });
  });

  it.each([
    ['score', 'NaN-like text', 'nan'],
    ['score', 'text', 'a'],
    ['score', 'more than a number holds', '1e400'],
    ['value', 'a list', []],
    ['comment', 'a number', 1],
    ['feedback_source', 'an unknown source', { type: 'human' }],
    ['feedback_source', 'a source without a type', {}],
    ['feedback_config', 'an unknown type', { type: 'x' }],
    ['feedback_config', 'a category without a value', { type: 'categorical', categories: [{ label: 'a' }] }],
    ['key', 'an empty key', ''],
    ['key', 'a key of 181 characters', 'k'.repeat(181)],
    ['key', 'a key with U+0000', 'a\0b'],
    ['created_at', 'no time', 'yesterday'],
  ])('refuses as %s of a score %s', (member, _, value) => {
    const text = JSON.stringify(experiment({}, [row({ evaluation_scores: [{ key: 'k', [member]: '@' }] })]));
    const found = problems(text.replace('"@"', JSON.stringify(value)));
    expect(found.length).toBeGreaterThan(0);
    for (const [, place] of found) expect(place).toContain(`body.results.0.evaluation_scores.0.${member}`);
  });

  it.each(['null', '[]', '1'])('refuses the body %s as no object', (body) => {
    expect(problems(body).map(([type, place]) => [type, place])).toEqual([['model_attributes_type', 'body']]);
  });

  it('accepts every kind of score, value, source and correction', () => {
    const scores = [
      { key: 'k'.repeat(180), score: true },
      { key: 'a', score: 0.5, value: 'v', comment: 'c' },
      { key: 'a', value: 12, correction: 'better' },
      { key: 'a', value: { x: 1 }, correction: { y: 1 }, created_at: '2026-01-01', modified_at: 1767225600 },
      { key: 'a', value: false, feedback_source: { type: 'model', metadata: { m: 1 } } },
      { key: 'a', score: null, feedback_config: { type: 'categorical', categories: [{ value: 1, label: 'good' }] } },
    ];
    expect(verdict(experiment({}, [row({ evaluation_scores: scores })])).kind).toBe('valid');
  });
});
