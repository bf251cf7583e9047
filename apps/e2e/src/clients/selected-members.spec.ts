import { join } from 'node:path';
import { readFileSync, writeFileSync } from 'node:fs';
import { Installation, OPERATOR } from '@fairlead/service/testing';
import { until } from '@fairlead/postgres/testing';
import { run } from '../testing/langgraph-cli';
import { pythonWithOlderSdk, pythonWithSdk } from '../testing/langsmith-python';

/** Names of members by routes. */
type Reads = Readonly<Record<'/examples' | '/runs/query', readonly string[]>>;

const PROGRAMS = join(__dirname, '../testing/selected');
const RECORDED = join(__dirname, '../testing/sdk-recorded/members-read.json');
const DATASET = 'selected';
const EXPERIMENTS = ['selected base', 'selected next'];
const START = '2026-01-01T00:00:00Z';

/** Members of the clients' own objects, which no answer has. */
const OF_CLIENTS = /^(?:address|attachments|child_runs|getReader|next|then|toJSON)$/;

const CLIENTS = {
  'JavaScript 0.10.5': { program: process.execPath, args: ['reads.mjs', 'langsmith'] },
  'JavaScript 0.12.0': { program: process.execPath, args: ['reads.mjs', 'langsmith-0.12'] },
  'Python 0.15.0': { program: pythonWithSdk(), args: ['reads.py'] },
  'Python 0.4.46': { program: pythonWithOlderSdk(), args: ['reads.py'] },
};

let installation: Installation;
let experiment: string;

const recordings = (): Record<string, Reads> => JSON.parse(readFileSync(RECORDED, 'utf8')) as Record<string, Reads>;

beforeAll(async () => {
  installation = await Installation.start();
  for (const name of EXPERIMENTS) {
    const sent = {
      experiment_name: name,
      dataset_name: DATASET,
      experiment_start_time: START,
      experiment_end_time: START,
      results: [
        {
          row_id: '5e1ec7ed-0000-4000-8000-000000000001',
          ...{ inputs: { q: 1 }, expected_outputs: { a: 2 }, actual_outputs: { a: 2 } },
          ...{ start_time: START, end_time: START, run_metadata: { thread_id: 'talk' } },
        },
      ],
    };
    const uploaded = await installation.ask('POST', '/api/v1/datasets/upload-experiment', sent);
    experiment = uploaded.experiment.id;
    await until(
      () => installation.ask('GET', `/api/v1/sessions/${experiment}`),
      ({ run_count }: { run_count: number | null }) => run_count === 1,
    );
  }
});
afterAll(() => installation?.stop());

describe('What a client reads of records that it asked for with a selection', () => {
  for (const [client, { program, args }] of Object.entries(CLIENTS)) {
    const why = program === undefined ? ' (skipped: it is not installed)' : '';
    (program === undefined ? it.skip : it)(`is what was recorded of ${client}${why}`, async () => {
      const { code, output, errors } = await run(program!, [...args, DATASET, ...EXPERIMENTS], PROGRAMS, {
        PATH: process.env.PATH!,
        ...{ PYTHONDONTWRITEBYTECODE: '1', NODE_OPTIONS: '--no-deprecation' },
        LANGSMITH_ENDPOINT: `${installation.url}/api/v1`,
        ...{ LANGSMITH_API_KEY: OPERATOR, LANGSMITH_TRACING: 'true' },
      });
      expect({ code, errors }).toMatchObject({ code: 0 });
      const read = JSON.parse(/^made (.*)$/m.exec(output)![1]!) as Reads;
      const names = (route: keyof Reads) => read[route].filter((name) => !OF_CLIENTS.test(name));
      const now: Reads = { '/examples': names('/examples'), '/runs/query': names('/runs/query') };
      if (process.env.WRITE_RECORDINGS) {
        writeFileSync(RECORDED, `${JSON.stringify({ ...recordings(), [client]: now }, null, 2)}\n`);
      }
      expect(now).toEqual(recordings()[client]);
    });
  }
});

describe('A record has every member that some client reads, whatever is selected', () => {
  /** Every name that `select` may hold in a part of the description of the service, which a path leads to. */
  const selectable = async (...path: readonly string[]): Promise<readonly string[]> => {
    const document: unknown = await installation.ask('GET', '/openapi.json');
    const part = path.reduce((inner, name) => (inner as Record<string, unknown>)[name], document);
    return JSON.parse(/"select".*?"enum":(\[[^\]]*\])/.exec(JSON.stringify(part))![1]!) as string[];
  };
  const readOf = (route: keyof Reads) => [...new Set(Object.values(recordings()).flatMap((reads) => reads[route]))];
  const missing = (record: object, route: keyof Reads) => readOf(route).filter((name) => !(name in record));

  it('of examples', async () => {
    for (const name of await selectable('paths', '/api/v1/examples', 'get')) {
      const [example] = await installation.ask('GET', `/api/v1/examples?limit=1&select=${name}`);
      expect({ name, missing: missing(example, '/examples') }).toEqual({ name, missing: [] });
      expect(example).toMatchObject({ modified_at: expect.any(String), created_at: expect.any(String) });
    }
  });

  it('of runs', async () => {
    for (const name of await selectable('components', 'schemas', 'BodyParamsForRunsQuerySchema')) {
      const asked = { session: [experiment], select: [name] };
      const { runs } = await installation.ask('POST', '/api/v1/runs/query', asked);
      expect({ name, missing: missing(runs[0], '/runs/query') }).toEqual({ name, missing: [] });
      expect(runs[0]).toMatchObject({ inputs: expect.any(Object), parent_run_ids: [] });
    }
  });
});
