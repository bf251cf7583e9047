import { Installation, OPERATOR } from '@fairlead/service/testing';
import { pythonWithSdk, runProgram } from './testing/langsmith-python';

/** The SDK of the incumbent for Python, unmodified: it is given the address of the service and a key. */

const python = pythonWithSdk();
const describeSdk = python === undefined ? describe.skip : describe;
const ROWS = 3;
const DATASET = 'questions';

interface Session {
  readonly id: string;
  readonly run_count: number;
  readonly feedback_stats: Readonly<Record<string, object>>;
  readonly session_feedback_stats: Readonly<Record<string, object>>;
  readonly total_tokens: number | null;
  readonly total_cost: string | null;
}

let installation: Installation;

async function until<T>(found: () => Promise<T | undefined>): Promise<T> {
  for (const deadline = Date.now() + 30_000; ;) {
    const value = await found();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error('It did not happen.');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const session = async (name: string): Promise<Session> => {
  const found = (await installation.ask('GET', `/api/v1/sessions?include_stats=true&name=${name}`)) as Session[];
  return found[0]!;
};

describeSdk(`The SDK for Python${python === undefined ? ' (skipped: it is not installed)' : ''}`, () => {
  let made: Readonly<Record<string, string>>;

  beforeAll(async () => {
    installation = await Installation.start();
    const start_time = '2026-01-01T00:00:00Z';
    const results = Array.from({ length: ROWS }, (_, question) => ({
      row_id: `00000000-0000-4000-8000-${String(question).padStart(12, '0')}`,
      inputs: { question },
      expected_outputs: { answer: question + 1 },
      actual_outputs: { answer: question + 1 },
      start_time,
      end_time: start_time,
      run_name: 'uploaded',
    }));
    await installation.ask('POST', '/api/v1/datasets/upload-experiment', {
      experiment_name: 'uploaded',
      dataset_name: DATASET,
      experiment_start_time: start_time,
      experiment_end_time: start_time,
      results,
    });
    await until(async () => ((await session('uploaded')).run_count === ROWS ? true : undefined));
    made = await runProgram(python!, 'evaluate.py', [DATASET], {
      LANGSMITH_ENDPOINT: `${installation.url}/api/v1`,
      LANGSMITH_API_KEY: OPERATOR,
      LANGSMITH_TRACING: 'true',
    });
  }, 240_000);
  afterAll(() => installation?.stop());

  it('evaluates with repetitions: every score is kept, so are errors of evaluators, summaries, tokens and costs', async () => {
    expect(Number(made.rows)).toBe(2 * ROWS);
    const evaluated = await session(made.evaluated!);
    expect(evaluated).toMatchObject({
      run_count: 2 * ROWS,
      feedback_stats: { correct: { n: 2 * ROWS, avg: 1 }, broken: { n: 2 * ROWS, avg: null } },
      session_feedback_stats: { overall: { n: 1, avg: 0.5 } },
      total_tokens: 15 * 2 * ROWS,
      total_cost: String(0.25 * 2 * ROWS),
    });
    const feedback = await installation.ask('GET', `/api/v1/feedback?session=${evaluated.id}&key=broken`);
    expect(feedback).toHaveLength(2 * ROWS);
    for (const one of feedback) {
      expect(one).toMatchObject({ extra: { error: true }, comment: expect.stringContaining('the evaluator broke') });
    }
  });

  it('evaluates asynchronously', async () => {
    expect(await session(made.async!)).toMatchObject({
      run_count: ROWS,
      feedback_stats: { correct: { n: ROWS, avg: 0 } },
      total_tokens: null,
      total_cost: null,
    });
  });

  it('sends an attachment with a run and reads it back', () => {
    expect(made).toMatchObject({ picture: '89504e470d0a00ff', picture_type: 'image/png' });
  });

  it('makes datasets and examples, and evaluates on them', async () => {
    const seen = await runProgram(python!, 'datasets.py', [], {
      LANGSMITH_ENDPOINT: `${installation.url}/api/v1`,
      LANGSMITH_API_KEY: OPERATOR,
      LANGSMITH_TRACING: 'true',
    });
    expect(seen).toMatchObject({
      metadata: 'a',
      one: [{ q: 1 }, { a: 2 }, { n: 1, dataset_split: ['train'] }],
      legacy: 2,
      picture: '89504e470d0a1a0a00ff',
      picture_type: 'image/png',
      listed_attachments: ['note', 'picture'],
      renamed: ['image'],
      splits: ['hard', 'test', 'train'],
      in_split: 1,
      tagged: [1, 2, 3, 4],
      current: [2, 3, 4, 10],
      modified: true,
      version_tags: ['prod'],
      csv: expect.arrayContaining([[{ country: 'Peru' }, { capital: 'Lima' }]]),
      from_run: [{ q: 7 }, { a: 8 }],
      whole_run: [{ q: 7 }, true],
      rows: 4,
      conflict: 'LangSmithConflictError',
      has: false,
    });
    const name = encodeURIComponent(seen.experiment!);
    const evaluated = await until(async () => {
      const found = await session(name);
      return found.run_count === 4 ? found : undefined;
    });
    expect(evaluated.feedback_stats).toMatchObject({ correct: { n: 4, avg: 1 } });
  }, 120_000);

  it('gives feedback on a trace before it sends the run', async () => {
    expect(await installation.ask('GET', `/api/v1/feedback/${made.feedback}`)).toMatchObject({
      key: 'early',
      run_id: made.run,
      session_id: (await session('by%20hand')).id,
    });
    expect(await installation.ask('GET', `/api/v1/runs/${made.run}`)).toMatchObject({
      total_tokens: 15,
      total_cost: '0.25',
      feedback_stats: { early: { n: 1, avg: 1 } },
    });
  });
});
