import { Installation, OPERATOR } from '@fairlead/service/testing';
import { until } from '@fairlead/postgres/testing';
import { documented } from '../testing/documented-methods';
import { pythonWithOlderSdk, pythonWithSdk, runProgram } from '../testing/langsmith-python';
import { recorded, Recorder } from '../testing/recorder';

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
/** The server that the SDK talks to: it hands everything on to the installation. */
let recorder: Recorder;
/** The methods of the client that the programs have called. */
const called = new Set<string>();

/** Result of the program, with the address and the key of the installation in its environment. */
async function run(program: string, args: readonly string[] = [], interpreter = python!) {
  const seen: Record<string, unknown> = await runProgram(interpreter, program, args, {
    LANGSMITH_ENDPOINT: `${recorder.url}/api/v1`,
    LANGSMITH_API_KEY: OPERATOR,
    LANGSMITH_TRACING: 'true',
  });
  if (interpreter === python) for (const name of seen.calls as string[]) called.add(name);
  return seen;
}

const session = async (name: string): Promise<Session> => {
  const found = (await installation.ask('GET', `/api/v1/sessions?include_stats=true&name=${name}`)) as Session[];
  return found[0]!;
};

describeSdk(`The SDK for Python${python === undefined ? ' (skipped: it is not installed)' : ''}`, () => {
  let made: Readonly<Record<string, string>>;

  beforeAll(async () => {
    installation = await Installation.start();
    recorder = await Recorder.start(installation.url);
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
    made = (await run('evaluate.py', [DATASET])) as Readonly<Record<string, string>>;
  });
  afterAll(async () => {
    recorder?.stop();
    await installation?.stop();
  });

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
      // After the upload and the other evaluation.
      test_run_number: 3,
    });
  });

  it('compares two experiments', async () => {
    expect(made.compared).toBe(ROWS);
    const [dataset] = (await installation.ask('GET', `/api/v1/datasets?name=${DATASET}`)) as { id: string }[];
    const found = await installation.ask('GET', `/api/v1/datasets/${dataset!.id}/comparative?name_contains=compared`);
    expect(found).toMatchObject([{ feedback_stats: { preferred: { n: 3 * ROWS } } }]);
  });

  const shared = {
    url: true,
    dataset: 'about',
    examples: true,
    one: 1,
    projects: [true],
    cloned: true,
    again: true,
    not_shared: [null, false],
    same: true,
    run: { a: 2 },
    child: 'child',
    other: 'LangSmithNotFoundError',
    runs: ['child', 'root'],
    some: ['child'],
    unshared: 'LangSmithNotFoundError',
    unshared_dataset: 'LangSmithNotFoundError',
  };

  it('shares runs and datasets with strangers, and clones a shared dataset', async () => {
    const second = [['child', 'root'], 'child', { a: 2 }];
    expect(await run('sharing.py')).toMatchObject({ ...shared, second });
  });

  it('works with projects, runs and feedback, and says which families are not offered', async () => {
    const { refused, ...seen } = await run('projects.py');
    expect(seen).toMatchObject({
      description: 'second',
      has: [true, false],
      runs: ['None', 'broken'],
      stats: 2,
      thread: [true],
      threads: ['talk'],
      url: true,
      given: 0.5,
      changed: [[1, 'now']],
      deleted: 0,
      configs: [['liked', true]],
      gone: false,
      results: [[{ q: 1 }, [{ a: 2 }]]],
      finetuning: expect.arrayContaining([
        { messages: expect.arrayContaining([expect.objectContaining({ role: 'user' })]) },
      ]),
    });
    for (const sentence of refused as string[]) expect(sentence).toContain('Fairlead does not offer');
  });

  /** Runs tests with the plugin for pytest, twice on one dataset, and expects all of both runs to be kept. */
  const runsTests = async (suite: string, interpreter?: string) => {
    const { projects, ...seen } = await run('plugin.py', [suite], interpreter);
    expect(seen.results).toEqual(['1 failed, 2 passed', '1 failed, 2 passed']);
    expect(seen.examples).toEqual([
      ['Chad', null, ['base']],
      ['Fiji', 'second', ['base']],
      ['Peru', 'second', ['base']],
    ]);
    expect(seen.splits).toEqual(['base']);
    expect(projects).toHaveLength(2);
    const outputs = ['Lima', 'Paris', 'Suva'];
    expect(seen.outputs).toEqual([outputs, outputs]);
    for (const name of projects as string[]) {
      await until(async () => {
        const { run_count, feedback_stats } = await session(encodeURIComponent(name));
        return (run_count === 3 && 'letters' in feedback_stats && 'pass' in feedback_stats) || undefined;
      });
      const { feedback_stats } = await session(encodeURIComponent(name));
      expect(feedback_stats).toMatchObject({ letters: { n: 2, avg: 4 }, pass: { n: 3, avg: 2 / 3 } });
    }
  };

  it('runs tests with the plugin for pytest, again and again', () => runsTests('capitals by pytest'));

  it('sends an attachment with a run and reads it back', () => {
    expect(made).toMatchObject({ picture: '89504e470d0a00ff', picture_type: 'image/png' });
  });

  it('makes datasets and examples, and evaluates on them', async () => {
    const seen = await run('datasets.py');
    expect(seen).toMatchObject({
      metadata: 'a',
      one: [{ q: 1 }, { a: 2 }, { n: 1, dataset_split: ['train'] }],
      legacy: 2,
      picture: '89504e470d0a1a0a00ff',
      picture_type: 'image/png',
      listed_attachments: ['note', 'picture'],
      renamed: ['image'],
      splits: ['base', 'hard', 'test', 'train'],
      in_base: 2,
      again: true,
      moved: [['base'], ['train']],
      in_split: 1,
      tagged: [1, 2, 3, 4],
      current: [2, 3, 4, 10],
      modified: true,
      version_tags: ['prod'],
      csv: expect.arrayContaining([[{ country: 'Peru' }, { capital: 'Lima' }]]),
      from_run: [{ q: 7 }, { a: 8 }],
      whole_run: [{ q: 7 }, true],
      frame: [[{ country: 'Chad' }, { capital: "N'Djamena" }]],
      llm: [{ input: 'Hello' }, { output: 'World' }],
      chat: [true, true],
      rows: 4,
      conflict: 'LangSmithConflictError',
      has: false,
    });
    const name = encodeURIComponent(String(seen.experiment));
    const evaluated = await until(async () => {
      const found = await session(name);
      return found.run_count === 4 ? found : undefined;
    });
    expect(evaluated.feedback_stats).toMatchObject({ correct: { n: 4, avg: 1 } });
  });

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

  it('works as docs/reference/clients.md says, method by method', async () => {
    const { works, others } = documented('Python');
    expect([...called].filter((name) => !works.has(name)).sort()).toEqual([]);
    expect([...works].filter((name) => !called.has(name)).sort()).toEqual([]);
    const { public: methods } = (await run('methods.py')) as { public: string[] };
    expect(methods.filter((name) => !works.has(name) && !others.has(name))).toEqual([]);
  });

  const asRecorded = (version: string) => {
    const seen = recorder.take();
    expect(seen).toEqual(recorded(`python-${version}`, seen));
  };

  it('sends what it sent when its requests were recorded', () => asRecorded('0.15.0'));

  const older = pythonWithOlderSdk();
  (older === undefined ? it.skip : it)('also works in version 0.4.46', async () => {
    const evaluated = await run('evaluate.py', [DATASET], older);
    expect(evaluated).toMatchObject({ rows: 2 * ROWS, compared: ROWS, picture: '89504e470d0a00ff' });
    expect(await run('sharing.py', ['older'], older)).toMatchObject(shared);
    await runsTests('capitals by an older pytest', older);
    asRecorded('0.4.46');
  });
});
