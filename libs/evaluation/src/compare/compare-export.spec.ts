import { parse } from 'csv-parse/sync';
import { v4 as newId } from 'uuid';
import { experiment, row, startUploading, type Uploading } from '../testing/uploading';

let service: Uploading;
let dataset: string;
const ids: string[] = [];
const name = `dataset ${newId()}`;
const [first, second] = [newId(), newId()];

const uploaded = async (title: string, rows: readonly unknown[], more = {}) => {
  const { status, json, text } = await service.upload(
    experiment({ dataset_name: name, experiment_name: title, ...more }, rows),
  );
  expect([status, text.slice(0, 300)]).toMatchObject([200, expect.anything()]);
  await service.settled();
  dataset = json.dataset.id;
  ids.push(json.experiment.id as string);
};

beforeAll(async () => {
  service = await startUploading();
  const grades = ['fail', 'pass', 'pass'];
  const repeated = grades.map((grade, place) =>
    row({
      row_id: first,
      inputs: { q: 'one' },
      expected_outputs: { a: 'right' },
      actual_outputs: { a: `answer ${place}`, usage_metadata: { input_tokens: 3, output_tokens: 4, total_cost: 0.5 } },
      run_metadata: { seed: place },
      ...(place === 2 && { error: 'it broke, "badly"' }),
      evaluation_scores: [
        { key: 'grade', value: grade, comment: `because of ${place}` },
        { key: 'big', score: 12345678901234567890n },
        { key: 'twice', score: 1 },
        { key: 'twice', score: 0 },
        ...Array.from({ length: 60 }, (_, key) => ({ key: `k${key}`, score: key + place })),
      ],
    }),
  );
  const body = (rows: readonly unknown[]) =>
    JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? `digits ${value}` : value)).replaceAll(
      /"digits (\d+)"/g,
      '$1',
    );
  const whole = {
    summary_experiment_scores: [
      { key: 'f1', score: 0.7 },
      { key: 'verdict', value: 'good' },
    ],
  };
  const rows = [...repeated, row({ row_id: second, inputs: { q: 'two' } })];
  const text = JSON.stringify(experiment({ dataset_name: name, experiment_name: 'a', ...whole }, [])).replace(
    '"results":[]',
    `"results":${body(rows)}`,
  );
  const { status, json } = await service.upload(text);
  expect(status).toBe(200);
  ids.push(json.experiment.id as string);
  await uploaded('b', [row({ row_id: first, inputs: { q: 'one' }, actual_outputs: { a: 'other' } })]);
});
afterAll(() => service.stop());

const exported = async (experiments: readonly string[], format: string, more = '') => {
  const path = `/api/v1/datasets/${dataset}/compare/export?experiments=${experiments.join()}&format=${format}${more}`;
  return service.get(path);
};
const csv = async (experiments: readonly string[], more = '') =>
  parse<Record<string, string>>((await exported(experiments, 'csv', more)).text, { columns: true });

describe('An export of one experiment', () => {
  it('has a line for each run, with its own outputs, labels, comments, errors and tokens', async () => {
    const lines = await csv([ids[0]!]);
    expect(lines).toHaveLength(4);
    expect(lines.map((line) => [line.example_id, line.repetition, line.runs])).toEqual([
      [first, '1', '3'],
      [first, '2', '3'],
      [first, '3', '3'],
      [second, '1', '1'],
    ]);
    expect(lines.map((line) => line['value grade'])).toEqual(['fail', 'pass', 'pass', '']);
    expect(lines.map((line) => line['comment grade']).slice(0, 2)).toEqual(['because of 0', 'because of 1']);
    expect(lines.map((line) => (line.outputs ? (JSON.parse(line.outputs) as { a: string }).a : ''))).toEqual([
      ...['answer 0', 'answer 1', 'answer 2', ''],
    ]);
    expect(lines.map(({ error, status }) => [error, status])).toEqual([
      ['', 'success'],
      ['', 'success'],
      ['it broke, "badly"', 'error'],
      ['', 'success'],
    ]);
    expect(lines[1]).toMatchObject({
      row_id: first,
      inputs: '{"q":"one"}',
      reference_outputs: '{"a":"right"}',
      metadata: '{"seed":1}',
      prompt_tokens: '3',
      completion_tokens: '4',
      total_tokens: '7',
      total_cost: '0.5',
      'score twice': '0.5',
      'score big': '12345678901234567890',
      'experiment score f1': '0.7',
      'experiment value verdict': 'good',
    });
  });

  it('has a column for every key, however many there are, and only those that are asked for', async () => {
    const [line] = await csv([ids[0]!]);
    const keys = Array.from({ length: 60 }, (_, key) => `score k${key}`);
    expect(keys.filter((key) => line![key] === undefined)).toEqual([]);
    expect(line!['score k59']).toBe('59');
    const [some] = await csv([ids[0]!], '&key=k59&key=grade');
    expect(Object.keys(some!).filter((column) => /^(score|value|comment|experiment)/.test(column))).toEqual([
      ...['value grade', 'comment grade', 'score k59'],
    ]);
  });

  it('is the same as lines of JSON, with all feedback', async () => {
    const { text } = await exported([ids[0]!], 'jsonl');
    expect(text).toContain('"score":12345678901234567890');
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toHaveLength(4);
    expect(lines[2]).toMatchObject({
      example_id: first,
      repetition: 3,
      experiments: [
        {
          outputs: { a: 'answer 2' },
          error: 'it broke, "badly"',
          metadata: { seed: 2 },
          total_tokens: 7,
          scores: { twice: 0.5, k59: 61 },
          experiment_scores: { f1: 0.7, verdict: { good: 1 } },
        },
      ],
    });
    const { feedback } = lines[2].experiments[0] as { feedback: { key: string }[] };
    expect(feedback.filter(({ key }) => key === 'twice')).toHaveLength(2);
    expect(feedback).toContainEqual({ key: 'grade', score: null, value: 'pass', comment: 'because of 2' });
  });
});

it('An export of several experiments has the runs of a row side by side', async () => {
  const lines = await csv([ids[1]!, ids[0]!], '&sort=row');
  expect(
    lines.map((line) => [line.example_id, line.repetition, line['b: run_id'] !== '', line['a: run_id'] !== '']),
  ).toEqual([
    [first, '1', true, true],
    [first, '2', false, true],
    [first, '3', false, true],
    [second, '1', false, true],
  ]);
  expect(lines[0]).toMatchObject({ 'b: outputs': '{"a":"other"}', 'a: value grade': 'fail', regression: '1' });
});

it('An export says what is too much', async () => {
  const scores = Array.from({ length: 10_001 }, (_, key) => ({ key: `many ${key}`, score: 1 }));
  await uploaded('many', [row({ row_id: first, inputs: { q: 'one' }, evaluation_scores: scores })]);
  const answer = await exported([ids.at(-1)!], 'csv');
  expect([answer.status, answer.json.detail]).toEqual([400, expect.stringContaining('name keys with key')]);
  expect((await exported([ids.at(-1)!], 'csv', '&key=many%207')).text).toContain('score many 7');
  expect((await exported([ids.at(-1)!], 'jsonl')).text).toContain('"many 10000":1');
});
