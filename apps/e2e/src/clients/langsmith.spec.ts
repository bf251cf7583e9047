import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { Installation, OPERATOR } from '@fairlead/service/testing';
import { Client } from 'langsmith';
import { evaluate } from 'langsmith/evaluation';
import * as ls from 'langsmith/jest';
import { until } from '@fairlead/postgres/testing';
import { cachedInstall } from '../testing/cached-install';
import { documented } from '../testing/documented-methods';
import { run } from '../testing/langgraph-cli';
import { recorded, Recorder } from '../testing/recorder';

/** The SDK of the incumbent, unmodified: it is given the address of the service and a key. */

/** More than one page of runs. */
const ROWS = 120;
const DATASET = 'arithmetic';

type Scores = Readonly<Record<string, number>>;
type Inputs = Record<'a' | 'b', number>;
type Sum = Readonly<Record<string, number>>;
interface Evaluated {
  readonly outputs: Sum;
  readonly referenceOutputs?: Sum;
}
interface Uploaded {
  readonly dataset: { readonly id: string };
  readonly experiment: { readonly id: string };
}

/** Methods that are no part of the client's interface. */
const INTERNAL = new Set([
  ...[
    'constructor',
    'toString',
    'applyCurrentAuthHeaders',
    'drainAutoBatchQueue',
    'getHostUrl',
    'hasExplicitAuthHeader',
  ],
  ...['getProfileManagedAuthorizationHeader', 'isProfileManagedAuthorizationHeader', 'parseTokenOrUrl'],
  ...['prepareRunCreateOrUpdateInputs', 'processError', 'processInputs', 'processMetadata', 'processOutputs'],
  'processRunOperation',
]);
/** The methods of the client that are called here, also by the SDK itself. */
const called = new Set<string>();
const methods = Object.entries(Object.getOwnPropertyDescriptors(Client.prototype)).flatMap(([name, { value }]) =>
  typeof value === 'function' && !name.startsWith('_') && !INTERNAL.has(name) ? [name] : [],
);
for (const name of methods) {
  const client = Client.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
  const method = client[name]!;
  client[name] = function (this: unknown, ...args) {
    called.add(name);
    return method.apply(this, args);
  };
}

let installation: Installation;
/** The server that the SDK talks to: it hands everything on to the installation. */
let recorder: Recorder;
let dataset: string;
let first: string;
let second: string;

const rowId = (row: number) => `00000000-0000-4000-8000-${String(row).padStart(12, '0')}`;

const send = <T>(...request: Parameters<Installation['ask']>): Promise<T> => installation.ask(...request);

async function upload(name: string, scores: (row: number) => Scores): Promise<Uploaded> {
  const results = Array.from({ length: ROWS }, (_, row) => ({
    row_id: rowId(row),
    inputs: { a: row, b: 1 },
    expected_outputs: { sum: row + 1 },
    actual_outputs: { sum: row + 1 },
    evaluation_scores: Object.entries(scores(row)).map(([key, score]) => ({ key, score })),
    start_time: new Date(Date.UTC(2026, 0, 1, 0, 0, row)).toISOString(),
    end_time: new Date(Date.UTC(2026, 0, 1, 0, 0, row, 250)).toISOString(),
    run_name: `sum ${row}`,
    ...(row === 7 && { error: 'overflow' }),
    run_metadata: { parity: row % 2 ? 'odd' : 'even' },
  }));
  const uploaded = await send<Uploaded>('POST', '/api/v1/datasets/upload-experiment', {
    experiment_name: name,
    dataset_name: DATASET,
    experiment_start_time: '2026-01-01T00:00:00Z',
    experiment_end_time: '2026-01-01T01:00:00Z',
    experiment_metadata: { model: name },
    summary_experiment_scores: [{ key: 'overall', score: 0.9 }],
    results,
  });
  type Session = { run_count: number | null };
  await until(async () => {
    const { run_count } = await send<Session>('GET', `/api/v1/sessions/${uploaded.experiment.id}`);
    return run_count === ROWS;
  });
  return uploaded;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const clientAt = (path: string) =>
  new Client({
    apiUrl: recorder.url + path,
    apiKey: OPERATOR,
    autoBatchTracing: true,
    callerOptions: { maxRetries: 0 },
  });

beforeAll(async () => {
  jest.spyOn(process, 'emitWarning').mockReturnValue(undefined);
  jest.spyOn(console, 'warn').mockReturnValue(undefined);
  jest.spyOn(console, 'log').mockReturnValue(undefined);
  installation = await Installation.start();
  recorder = await Recorder.start(installation.url);
  const uploaded = await upload('model-a', () => ({ correct: 1, closeness: 0.9 }));
  dataset = uploaded.dataset.id;
  first = uploaded.experiment.id;
  second = (await upload('model-b', (row) => ({ correct: Number(row % 10 > 0), closeness: 0.7 }))).experiment.id;
});

afterAll(async () => {
  recorder?.stop();
  await installation?.stop();
  jest.restoreAllMocks();
});

describe.each(['', '/api', '/api/v1'])('The LangSmith client with its endpoint at "%s"', (path) => {
  let client: Client;
  beforeAll(() => {
    client = clientAt(path);
  });

  it('reads, finds and lists projects with their statistics', async () => {
    const project = await client.readProject({ projectId: first, includeStats: true });
    expect(project).toMatchObject({ id: first, name: 'model-a', reference_dataset_id: dataset, run_count: ROWS });
    expect(project.latency_p50).toBeCloseTo(0.25, 6);
    expect(project.feedback_stats).toMatchObject({ correct: { n: ROWS, avg: 1 } });
    expect(await client.readProject({ projectName: 'model-b' })).toMatchObject({ id: second });
    await expect(client.readProject({ projectName: 'model-z' })).rejects.toThrow('not found');
    expect(await client.hasProject({ projectId: first })).toBe(true);
    expect(await client.hasProject({ projectName: 'model-a' })).toBe(true);
    expect(await client.hasProject({ projectName: 'model-z' })).toBe(false);
    const listed = await collect(client.listProjects({ referenceDatasetId: dataset, includeStats: true }));
    const known = listed.filter(({ id }) => [first, second].includes(id));
    expect(known.map(({ name }) => name).sort()).toEqual(['model-a', 'model-b']);
    for (const project of known) expect(project).toMatchObject({ run_count: ROWS, error_rate: 1 / ROWS });
    expect(await collect(client.listProjects({ name: 'model-b' }))).toMatchObject([{ id: second }]);
    expect(await collect(client.listProjects({ referenceDatasetName: DATASET, nameContains: 'el-a' }))).toHaveLength(1);
    expect(await collect(client.listProjects({ metadata: { model: 'model-b' } }))).toMatchObject([{ id: second }]);
  });

  it('reads, finds and lists datasets', async () => {
    expect(await client.readDataset({ datasetName: DATASET })).toMatchObject({ id: dataset, example_count: ROWS });
    expect(await client.readDataset({ datasetId: dataset })).toMatchObject({ name: DATASET, data_type: 'kv' });
    expect(await client.hasDataset({ datasetName: DATASET })).toBe(true);
    expect(await client.hasDataset({ datasetName: 'geometry' })).toBe(false);
    expect(await client.hasDataset({ datasetId: first })).toBe(false);
    expect(await collect(client.listDatasets({ datasetNameContains: 'arith' }))).toMatchObject([{ id: dataset }]);
    expect(await collect(client.listDatasets({ datasetIds: [dataset], limit: 1 }))).toHaveLength(1);
  });

  it('reads and lists examples', async () => {
    const all = await collect(client.listExamples({ datasetId: dataset }));
    expect(new Set(all.map(({ id }) => id)).size).toBe(ROWS);
    expect(await collect(client.listExamples({ datasetName: DATASET, limit: 5 }))).toHaveLength(5);
    const wanted = { datasetId: dataset, exampleIds: [rowId(3), rowId(4)], includeAttachments: true };
    const some = await collect(client.listExamples(wanted));
    expect(some.map(({ inputs, outputs }) => [inputs.a, outputs?.sum]).sort()).toEqual([
      [3, 4],
      [4, 5],
    ]);
    expect(await collect(client.listExamples({ datasetId: dataset, asOf: new Date('2020-01-01') }))).toEqual([]);
    expect(await collect(client.listExamples({ datasetId: dataset, asOf: new Date() }))).toHaveLength(ROWS);
    expect(await client.readExample(rowId(9))).toMatchObject({ id: rowId(9), inputs: { a: 9 }, dataset_id: dataset });
  });

  it('reads and lists runs, past the first page', async () => {
    const runs = await collect(client.listRuns({ projectId: first }));
    expect(new Set(runs.map(({ id }) => id)).size).toBe(ROWS);
    expect(await collect(client.listRuns({ projectName: 'model-a', limit: 100 }))).toHaveLength(100);
    expect(await collect(client.listRuns({ projectId: first, limit: 7, isRoot: true }))).toHaveLength(7);
    const failed = await collect(client.listRuns({ projectId: [first, second], error: true }));
    expect(failed.map(({ error, status }) => [error, status])).toEqual(Array(2).fill(['overflow', 'error']));
    const filter = 'and(eq(feedback_key, "correct"), eq(feedback_score, 0))';
    expect(await collect(client.listRuns({ projectId: second, filter }))).toHaveLength(ROWS / 10);
    const ofExample = await collect(client.listRuns({ projectId: first, referenceExampleId: rowId(5) }));
    expect(ofExample).toMatchObject([
      { name: 'sum 5', inputs: { a: 5 }, outputs: { sum: 6 }, reference_example_id: rowId(5) },
    ]);
    const run = await client.readRun(ofExample[0]!.id);
    expect(run).toMatchObject({ id: ofExample[0]!.id, session_id: first, run_type: 'chain', status: 'success' });
    await expect(client.readRun(first)).rejects.toThrow('not found');
  });

  it('tells statistics of runs', async () => {
    const stats = (error?: boolean) => client.getRunStats({ projectNames: ['model-a'], error });
    expect(await stats()).toMatchObject({
      run_count: ROWS,
      error_rate: 1 / ROWS,
      feedback_stats: { correct: { avg: 1 } },
    });
    expect(await stats(true)).toMatchObject({ run_count: 1, error_rate: 1 });
  });

  it('gives and lists feedback', async () => {
    const [run] = await collect(client.listRuns({ projectId: first, referenceExampleId: rowId(11) }));
    const key = `liked ${path}`;
    await client.createFeedback(run!.id, key, { score: true, comment: 'neat', sessionId: first });
    const given = await collect(client.listFeedback({ runIds: [run!.id], feedbackKeys: [key] }));
    expect(given).toMatchObject([{ key, score: true, comment: 'neat', run_id: run!.id, trace_id: run!.id }]);
    const uploaded = await collect(client.listFeedback({ runIds: [run!.id], feedbackSourceTypes: ['api'] }));
    expect(uploaded.map((one) => one.key)).toEqual(expect.arrayContaining(['correct', 'closeness', key]));
  });

  it('tells addresses of projects and datasets', async () => {
    const { tenant_id: tenant } = await client.readProject({ projectId: first });
    expect(await client.getProjectUrl({ projectId: first })).toContain(`/o/${tenant}/projects/p/${first}`);
    expect(await client.getDatasetUrl({ datasetName: DATASET })).toContain(`/o/${tenant}/datasets/${dataset}`);
  });

  it('queries runs in the second version', async () => {
    const project_ids = [first];
    const bare = await client.runs.query({ project_ids, page_size: 50 });
    expect(bare.items).toHaveLength(50);
    expect(Object.keys(bare.items[0]!)).toEqual(['id']);
    const all = await collect(client.runs.query({ project_ids, page_size: 50, selects: ['ID', 'NAME'] }));
    expect(new Set(all.map(({ id }) => id)).size).toBe(ROWS);
    const selects = ['ID', 'NAME', 'RUN_TYPE', 'STATUS', 'INPUTS', 'OUTPUTS_PREVIEW', 'LATENCY_SECONDS'] as const;
    const failed = await client.runs.query({
      project_ids,
      has_error: true,
      selects: [...selects, 'ERROR', 'METADATA'],
    });
    expect(failed.items).toEqual([
      {
        id: expect.any(String) as string,
        name: 'sum 7',
        run_type: 'CHAIN',
        status: 'ERROR',
        inputs: { a: 7, b: 1 },
        outputs_preview: '{"sum":8}',
        latency_seconds: 0.25,
        error: 'overflow',
        metadata: { parity: 'odd' },
      },
    ]);
    const id = failed.items[0]!.id!;
    const run = await client.runs.retrieve(id, {
      project_id: first,
      selects: ['NAME', 'PROJECT_ID', 'FEEDBACK_STATS'],
    });
    expect(run).toMatchObject({ name: 'sum 7', project_id: first, feedback_stats: { correct: { n: 1, avg: 1 } } });
    await expect(client.runs.retrieve(id, { project_id: second })).rejects.toMatchObject({
      status: 404,
      error: { title: 'Not Found', status: 404, detail: `Run ID ${id} not found.` },
    });
  });

  it('queries the runs of experiments side by side', async () => {
    const experiment_ids = [first, second];
    const pages = client.datasets.experimentRuns.query(dataset, {
      experiment_ids,
      page_size: 50,
      selects: ['ID', 'PROJECT_ID'],
    });
    const examples = await collect(pages);
    expect(new Set(examples.map(({ id }) => id)).size).toBe(ROWS);
    for (const { runs } of examples) expect(runs!.map(({ project_id }) => project_id)).toEqual(experiment_ids);
    const sorted = await client.datasets.experimentRuns.query(dataset, {
      experiment_ids: [second],
      example_ids: [rowId(9), rowId(10), rowId(11)],
      sort: { by: 'feedback.correct', order: 'ASC' },
    });
    expect(sorted.items.map(({ id }) => id)).toEqual([rowId(10), rowId(9), rowId(11)]);
  });

  it('creates comparative experiments', async () => {
    const name = `a against b ${path}`;
    const made = await client.createComparativeExperiment({
      name,
      experimentIds: [first, second],
      metadata: { reason: 'release' },
    });
    expect(made).toMatchObject({ name, reference_dataset_id: dataset, extra: { metadata: { reason: 'release' } } });
    const found = await send<object[]>(
      'GET',
      `/api/v1/datasets/${dataset}/comparative?name=${encodeURIComponent(name)}`,
    );
    expect(found).toMatchObject([{ id: made.id, experiments_info: [{ id: first }, { id: second }] }]);
  });
});

describe('The LangSmith client that finds everything in its environment', () => {
  const NAMES = ['LANGSMITH_ENDPOINT', 'LANGSMITH_API_KEY', 'LANGSMITH_WORKSPACE_ID'] as const;
  const before = Object.fromEntries(NAMES.map((name) => [name, process.env[name]]));
  afterEach(() => {
    for (const name of NAMES) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  });

  it.each(['', '/', '/api', '/api/v1', '/api/v1/'])('works with the endpoint at "%s"', async (path) => {
    process.env.LANGSMITH_ENDPOINT = recorder.url + path;
    process.env.LANGSMITH_API_KEY = OPERATOR;
    const client = new Client();
    expect(await client.readProject({ projectName: 'model-a' })).toMatchObject({ id: first });
    expect(await collect(client.listRuns({ projectId: first, limit: 3 }))).toHaveLength(3);
    expect(await collect(client.runs.query({ project_ids: [first], page_size: 50 }))).toHaveLength(ROWS);
  });

  it('names its workspace for a key of the organisation', async () => {
    const { key } = await send<{ key: string }>('POST', '/api/v1/api-key', { organization: true });
    const [workspace] = await send<{ id: string }[]>('GET', '/api/v1/workspaces');
    process.env.LANGSMITH_ENDPOINT = recorder.url;
    process.env.LANGSMITH_API_KEY = key;
    await expect(new Client().readProject({ projectId: first })).rejects.toThrow('requires workspace specification');
    process.env.LANGSMITH_WORKSPACE_ID = workspace!.id;
    expect(await new Client().readProject({ projectId: first })).toMatchObject({ name: 'model-a' });
  });
});

describe('The LangSmith client that makes a dataset of its own', () => {
  const picture = new Uint8Array([0x89, 0x50, 0x0d, 0x0a, 0, 0xff]);
  let client: Client;
  let own: string;
  beforeAll(async () => {
    client = clientAt('/api/v1');
    own = (await client.createDataset('made by hand', { description: 'about', metadata: { team: 'a' } })).id;
  });
  const texts = async (options: object = {}) =>
    (await collect(client.listExamples({ datasetId: own, ...options })))
      .map(({ inputs }) => JSON.stringify(inputs))
      .sort();

  it('creates, changes and deletes it', async () => {
    const made = await client.createDataset('renamed soon', { dataType: 'chat', inputsSchema: { type: 'object' } });
    expect(made).toMatchObject({ data_type: 'chat', inputs_schema_definition: { type: 'object' } });
    await expect(client.createDataset('renamed soon')).rejects.toThrow('already exists');
    const changed = await client.updateDataset({ datasetName: 'renamed soon', name: 'renamed', description: 'new' });
    expect(changed).toMatchObject({ id: made.id, name: 'renamed', description: 'new' });
    await client.deleteDataset({ datasetName: 'renamed' });
    expect(await client.hasDataset({ datasetName: 'renamed' })).toBe(false);
    const csvFile = new Blob(['country,capital\nPeru,Lima\n']);
    const columns = { inputKeys: ['country'], outputKeys: ['capital'] };
    const csv = await client.uploadCsv({
      csvFile,
      fileName: 'capitals.csv',
      ...columns,
      name: 'capitals of the world',
    });
    const [example] = await collect(client.listExamples({ datasetId: csv.id }));
    expect(example).toMatchObject({ inputs: { country: 'Peru' }, outputs: { capital: 'Lima' } });
  });

  it('creates, changes and deletes examples, with attachments, in every way the SDK knows', async () => {
    const one = await client.createExample({ q: 1 }, { a: 2 }, { datasetId: own, metadata: { m: 1 }, split: 'train' });
    expect(one).toMatchObject({ inputs: { q: 1 }, outputs: { a: 2 }, metadata: { m: 1, dataset_split: ['train'] } });
    const many = await client.createExamples({
      datasetId: own,
      inputs: [{ q: 2 }, { q: 3 }],
      outputs: [{ a: 3 }, { a: 4 }],
    });
    expect(many.map(({ inputs }) => inputs)).toEqual([{ q: 2 }, { q: 3 }]);
    const attachments = {
      picture: { mimeType: 'image/png', data: picture },
      note: ['text/plain', new Uint8Array([1])] as [string, Uint8Array],
    };
    const [attached] = await client.createExamples([
      { dataset_id: own, inputs: { q: 4 }, outputs: { a: 5 }, attachments },
    ]);
    const { presigned_url, mime_type } = attached!.attachments!.picture!;
    expect(mime_type).toBe('image/png');
    expect(new Uint8Array(await (await fetch(presigned_url)).arrayBuffer())).toEqual(picture);
    const { as_of } = await client.readDatasetVersion({ datasetId: own, tag: 'latest' });
    await client.updateDatasetTag({ datasetId: own, asOf: as_of, tag: 'prod' });
    await client.updateExample({ id: one.id, inputs: { q: 10 }, outputs: { a: 11 } });
    const attachments_operations = { rename: { picture: 'image' }, retain: [] };
    await client.updateExamples([{ id: attached!.id, dataset_id: own, attachments_operations }]);
    expect(Object.keys((await client.readExample(attached!.id)).attachments!)).toEqual(['image']);
    await client.updateDatasetSplits({ datasetId: own, splitName: 'hard', exampleIds: [one.id, many[0]!.id] });
    expect(await client.listDatasetSplits({ datasetId: own })).toEqual(['base', 'hard', 'train']);
    expect(await texts({ splits: ['hard'] })).toEqual(['{"q":10}', '{"q":2}']);
    await client.updateDatasetSplits({ datasetId: own, splitName: 'hard', exampleIds: [many[0]!.id], remove: true });
    expect(await texts({ splits: ['hard'] })).toEqual(['{"q":10}']);
    const before = await client.readDatasetVersion({ datasetId: own, tag: 'latest' });
    const inBase = await client.readExample(many[0]!.id);
    expect(inBase.metadata).toEqual({ dataset_split: ['base'] });
    await client.updateExample({ id: inBase.id, inputs: inBase.inputs, metadata: inBase.metadata, split: 'base' });
    expect(await client.readDatasetVersion({ datasetId: own, tag: 'latest' })).toEqual(before);
    expect(await texts({ splits: ['base'] })).toContain('{"q":2}');
    await client.deleteExample(many[1]!.id);
    expect(await texts()).toEqual(['{"q":10}', '{"q":2}', '{"q":4}']);
    const tuning: { messages: { role: string; content: string }[] }[] = await client.readDatasetOpenaiFinetuning({
      datasetId: own,
    });
    const asked = tuning.map(({ messages }) => messages[0]!);
    expect(asked.map(({ role, content }) => `${role} ${content}`).sort()).toEqual([
      ...['user {"q":10}', 'user {"q":2}', 'user {"q":4}'],
    ]);
    expect(await texts({ asOf: 'prod' })).toEqual(['{"q":1}', '{"q":2}', '{"q":3}', '{"q":4}']);
    const diff = await client.diffDatasetVersions({ datasetId: own, fromVersion: 'prod', toVersion: 'latest' });
    expect(diff.examples_removed).toEqual([many[1]!.id]);
    expect(diff.examples_modified).toHaveLength(3);
    await client.deleteExamples([many[0]!.id]);
    expect(await texts()).toHaveLength(2);
  });

  it('evaluates on it', async () => {
    const examples = client.listExamples({ datasetId: own, asOf: 'prod' });
    const results = await evaluate(({ q }: { q: number }) => ({ a: q + 1 }), {
      client,
      data: examples,
      experimentPrefix: 'on an own dataset',
      evaluators: [
        ({ outputs, referenceOutputs }: Evaluated) => ({ key: 'correct', score: outputs.a === referenceOutputs?.a }),
      ],
    });
    expect(results.length).toBe(4);
    const project = await until(async () => {
      const found = await client.readProject({ projectName: results.experimentName, includeStats: true });
      return found.run_count === 4 && found;
    });
    expect(project).toMatchObject({ reference_dataset_id: own, feedback_stats: { correct: { n: 4, avg: 1 } } });
  });

  it('evaluates with attachments', async () => {
    const { id, name } = await client.createDataset('pictures');
    const attachments = { dot: { mimeType: 'image/png', data: Buffer.from('89504e470d0a1a0a', 'hex') } };
    await client.createExamples([{ dataset_id: id, inputs: { q: 1 }, outputs: { a: 'a dot' }, attachments }]);
    const seen: unknown[] = [];
    const target = async (_: object, config?: { attachments?: Record<string, { presigned_url: string }> }) => {
      const { presigned_url: url } = config!.attachments!.dot!;
      seen.push(Buffer.from(await (await fetch(url)).arrayBuffer()));
      return { a: 'a dot' };
    };
    const { results, experimentName } = await evaluate(target, {
      ...{ client, data: name, includeAttachments: true },
      evaluators: [
        ({ attachments }: { attachments?: object }) => ({
          key: 'pictures',
          score: Object.keys(attachments ?? {}).length,
        }),
      ],
    });
    expect(results).toMatchObject([{ run: { outputs: { a: 'a dot' }, error: undefined } }]);
    expect(seen).toEqual([attachments.dot.data]);
    await until(
      () => client.readProject({ projectName: experimentName, includeStats: true }),
      ({ run_count, feedback_stats }) =>
        run_count === 1 && (feedback_stats?.pictures as { avg?: number } | undefined)?.avg === 1,
    );
  });

  it('reads what it selects', async () => {
    const [project] = await collect(client.listProjects({ referenceDatasetId: own }));
    const runs = await collect(client.listRuns({ projectId: project!.id, select: ['id'] }));
    expect(runs).toHaveLength(4);
    for (const run of runs) {
      expect(run).toMatchObject({ name: expect.any(String), run_type: 'chain', start_time: expect.any(String) });
    }
  });
});

describe('evaluate()', () => {
  it('runs an experiment on an uploaded dataset, which then compares with uploaded ones', async () => {
    const client = clientAt('/api/v1');
    const results = await evaluate(({ a, b }: Inputs) => ({ sum: a < 30 ? 0 : a + b }), {
      client,
      data: DATASET,
      experimentPrefix: 'live',
      evaluators: [
        ({ outputs, referenceOutputs }: Evaluated) => ({
          key: 'correct',
          score: outputs.sum === referenceOutputs?.sum ? 1 : 0,
        }),
      ],
      maxConcurrency: 8,
    });
    expect(results.length).toBe(ROWS);
    const project = await until(async () => {
      const found = await client.readProject({ projectName: results.experimentName, includeStats: true });
      return found.run_count === ROWS && found;
    });
    // Two experiments on this dataset were uploaded before.
    expect(project).toMatchObject({ reference_dataset_id: dataset, error_rate: 0, test_run_number: 3 });
    expect(project.feedback_stats).toMatchObject({ correct: { n: ROWS, avg: 0.75 } });
    type Result = { experiment: string; verdict: string; counts: object; test: object };
    const compared = await send<{ keys: { results: Result[] }[]; warnings: { code: string }[] }>(
      'GET',
      `/api/v1/datasets/${dataset}/compare?experiments=${first},${project.id}&key=correct`,
    );
    const counts = { rows: ROWS, better: 0, worse: 30, same: 90, missing: 0, extra: 0, errored: 0, unscored: 0 };
    expect(compared.keys[0]!.results[1]).toMatchObject({ experiment: project.id, verdict: 'worse', counts });
    expect(compared.warnings.map(({ code }) => code)).toEqual(['score sources differ']);
  });

  it('compares experiments pairwise', async () => {
    const client = clientAt('/api/v1');
    const compared = await evaluate(['model-a', 'model-b'], {
      client,
      experimentPrefix: 'pairwise',
      evaluators: [
        ({ runs }: { runs: { id: string }[] }) => ({
          key: 'preferred',
          scores: Object.fromEntries(runs.map(({ id }, place) => [id, 1 - place])),
        }),
      ],
    });
    expect(compared.results).toHaveLength(ROWS);
    type Listed = { name: string; feedback_stats: Record<string, { n: number; avg: number }> };
    const listed = await send<Listed[]>('GET', `/api/v1/datasets/${dataset}/comparative?name_contains=pairwise`);
    expect(listed).toMatchObject([{ feedback_stats: { preferred: { n: 2 * ROWS, avg: 0.5 } } }]);
    const { feedback_stats: alone } = await client.readProject({ projectId: first, includeStats: true });
    expect(alone).not.toHaveProperty('preferred');
  });
});

describe('The LangSmith client that shares', () => {
  let client: Client;
  let stranger: Client;
  beforeAll(() => {
    client = clientAt('/api/v1');
    const apiUrl = `${recorder.url}/api/v1`;
    stranger = new Client({ apiUrl, apiKey: 'placeholder', callerOptions: { maxRetries: 0 } });
  });

  it('shows a shared dataset to a stranger, who can clone it, until it is unshared', async () => {
    const { share_token: token } = await client.shareDataset(dataset);
    expect(await client.readDatasetSharedSchema(dataset)).toMatchObject({
      dataset_id: dataset,
      share_token: token,
      url: expect.stringContaining(`/public/${token}/d`) as string,
    });
    expect(await stranger.readSharedDataset(token)).toMatchObject({ id: dataset, name: DATASET });
    expect(await stranger.listSharedExamples(token)).toHaveLength(ROWS);
    expect(await stranger.listSharedExamples(token, { exampleIds: [rowId(3)] })).toMatchObject([{ inputs: { a: 3 } }]);
    await client.clonePublicDataset(token, { datasetName: 'cloned by hand' });
    const cloned = await collect(client.listExamples({ datasetName: 'cloned by hand' }));
    const sums = cloned.map(({ inputs, outputs }) => [inputs.a, outputs?.sum] as [number, number]);
    expect(sums.sort(([a], [b]) => a - b)).toEqual(Array.from({ length: ROWS }, (_, row) => [row, row + 1]));
    await client.unshareDataset(dataset);
    await expect(stranger.readSharedDataset(token)).rejects.toThrow('not found');
  });

  it('shows a shared run to a stranger until it is unshared', async () => {
    const [run] = await collect(client.listRuns({ projectId: first, referenceExampleId: rowId(5) }));
    const { id } = run!;
    expect(await client.readRunSharedLink(id)).toBeUndefined();
    const address = await client.shareRun(id);
    expect(await client.readRunSharedLink(id)).toBe(address);
    const [token] = address.split('/').slice(-2);
    const selects = ['NAME' as const, 'ID' as const];
    expect((await stranger.public.runs.query(token!, { selects })).items).toEqual([{ id, name: 'sum 5' }]);
    await client.unshareRun(id);
    expect(await client.readRunSharedLink(id)).toBeUndefined();

    const { share_token } = await client.runs.share.create(id, { session_id: first, trace_id: id });
    expect(share_token).not.toBe(token);
    const asked = { share_token: share_token!, selects: ['INPUTS'], start_time: '2026-01-01T00:00:05Z' };
    expect(await stranger.public.runs.retrieve(id, asked)).toEqual({ inputs: { a: 5, b: 1 } });
    const url = await client.runs.retrieve(id, { project_id: first, selects: ['SHARE_URL'] });
    expect(url.share_url).toContain(`/public/${share_token}/r`);
    await client.runs.share.delete(id, { session_id: first });
    await expect(stranger.public.runs.query(share_token!, {})).rejects.toMatchObject({ status: 404 });
  });
});

describe('The LangSmith client with projects and feedback', () => {
  it('keeps, changes and deletes them', async () => {
    const client = clientAt('/api/v1');
    const { id } = await client.createProject({ projectName: 'kept by hand', description: 'first' });
    await client.updateProject(id, { description: 'second' });
    expect(await client.readProject({ projectId: id })).toMatchObject({ description: 'second' });
    const run_id = crypto.randomUUID();
    const start_time = new Date().toISOString();
    const extra = { metadata: { thread_id: 'talk by hand' } };
    const run = { id: run_id, name: 'a run', run_type: 'chain', inputs: { q: 1 }, start_time, extra };
    await client.createRun({ ...run, project_name: 'kept by hand' });
    await client.updateRun(run_id, { outputs: { a: 2 }, end_time: start_time });
    await client.awaitPendingTraceBatches();
    expect(await client.readRun(run_id)).toMatchObject({ outputs: { a: 2 }, session_id: id });
    const asked = { threadId: 'talk by hand', projectId: id };
    expect(await collect(client.readThread(asked))).toMatchObject([{ id: run_id }]);
    expect(await client.listThreads({ projectId: id })).toMatchObject([{ thread_id: 'talk by hand' }]);
    expect(await client.getRunUrl({ runId: run_id })).toContain(run_id);

    const given = await client.createFeedback(run_id, 'liked by hand', { score: 0.5 });
    expect(await client.readFeedback(given.id)).toMatchObject({ score: 0.5 });
    await client.updateFeedback(given.id, { score: 1, comment: 'now' });
    const listed = await collect(client.listFeedback({ runIds: [run_id] }));
    expect(listed).toMatchObject([{ score: 1, comment: 'now' }]);
    await client.deleteFeedback(given.id);
    expect(await collect(client.listFeedback({ runIds: [run_id] }))).toEqual([]);
    const config = { feedbackKey: 'liked by hand', feedbackConfig: { type: 'continuous' as const, min: 0, max: 1 } };
    await client.createFeedbackConfig(config);
    await client.updateFeedbackConfig('liked by hand', { isLowerScoreBetter: true });
    const configs = await collect(client.listFeedbackConfigs({ feedbackKeys: ['liked by hand'] }));
    expect(configs).toMatchObject([{ feedback_key: 'liked by hand', is_lower_score_better: true }]);
    await client.deleteFeedbackConfig('liked by hand');
    await client.deleteProject({ projectName: 'kept by hand' });
    expect(await client.hasProject({ projectName: 'kept by hand' })).toBe(false);
  });
});

/** Its address is known when the tests run, after they were described. */
const plugged = new Client({ apiUrl: 'http://127.0.0.1:1', apiKey: OPERATOR, callerOptions: { maxRetries: 0 } });
beforeAll(() => {
  Object.assign(plugged, { apiUrl: `${recorder.url}/api/v1` });
});

/** Each is a run of the suite, as each start of jest is. */
const SUITE_RUNS = 2;
for (let run = 0; run < SUITE_RUNS; run++)
  ls.describe(
    'capitals by jest',
    () => {
      const example = { inputs: { country: 'Peru' }, referenceOutputs: { capital: 'Lima' } };
      ls.test('names a capital', example, async ({ inputs, referenceOutputs }) => {
        const capital = inputs.country === 'Peru' ? 'Lima' : 'unknown';
        ls.logOutputs({ capital });
        // A function without a name: the run of the evaluator has an empty one.
        const graded = ls.wrapEvaluator(async (answer: { capital: string }) =>
          Promise.resolve({ key: 'graded', score: answer.capital.length }),
        );
        await graded({ capital });
        ls.logFeedback({ key: 'letters', score: capital.length });
        expect(capital).toBe(referenceOutputs?.capital);
      });
      ls.test.each([{ inputs: { country: 'Fiji' }, referenceOutputs: { capital: 'Suva' } }])(
        'another',
        ({ inputs }) => {
          ls.logOutputs({ capital: inputs.country === 'Fiji' ? 'Suva' : 'unknown' });
        },
      );
    },
    { client: plugged, enableTestTracking: true },
  );

describe('The plugin of the SDK for jest', () => {
  it('keeps tests as examples, and each run of them as an experiment', async () => {
    const { id } = await plugged.readDataset({ datasetName: 'capitals by jest' });
    const examples = await collect(plugged.listExamples({ datasetId: id }));
    expect(examples.map(({ outputs }) => outputs?.capital as string).sort()).toEqual(['Lima', 'Suva']);
    const projects = await collect(plugged.listProjects({ referenceDatasetId: id }));
    const numbers: unknown[] = [];
    for (const { id: projectId } of projects) {
      const evaluated = await until(async () => {
        const found = await plugged.readProject({ projectId, includeStats: true });
        const { pass } = (found.feedback_stats ?? {}) as Readonly<Record<string, { n: number } | undefined>>;
        return found.run_count === 2 && pass?.n === 2 && found;
      });
      numbers.push((evaluated as unknown as { test_run_number: number }).test_run_number);
      expect(evaluated).toMatchObject({
        feedback_stats: { pass: { n: 2, avg: 1 }, letters: { n: 1, avg: 4 }, graded: { n: 1, avg: 4 } },
      });
    }
    expect(numbers.sort()).toEqual([1, 2]);
  });
});

describe('The plugin of the SDK for vitest', () => {
  const folder = cachedInstall('vitest');
  (folder === undefined ? it.skip : it)(
    'keeps tests as examples, and each run of them as an experiment, whether they pass or fail',
    async () => {
      copyFileSync(join(__dirname, '../testing/vitest/capitals.test.mjs'), join(folder!, 'capitals.test.mjs'));
      const program = ['node_modules/vitest/vitest.mjs', 'run', '--reporter', 'langsmith/vitest/reporter'];
      const rounds = ['first', 'second'];
      for (const round of rounds) {
        const { code, output, errors } = await run(process.execPath, program, folder!, {
          PATH: process.env.PATH!,
          LANGSMITH_ENDPOINT: `${recorder.url}/api/v1`,
          LANGSMITH_API_KEY: OPERATOR,
          LANGSMITH_TRACING: 'true',
          NO_COLOR: '1',
          ROUND: round,
        });
        const said = output + errors;
        expect({ code, said }).toEqual({ code: 1, said: expect.stringContaining('1 failed | 2 passed') });
        // Ids and ports can contain these digits too.
        expect(said).not.toMatch(/(?<![\w-])404(?![\w-])/);
      }
      const client = clientAt('/api/v1');
      const { id } = await client.readDataset({ datasetName: 'capitals by vitest' });
      const examples = await collect(client.listExamples({ datasetId: id, splits: ['base'] }));
      expect(examples.map(({ inputs }) => inputs.country as string).sort()).toEqual(['Chad', 'Fiji', 'Peru']);
      expect(examples.find(({ inputs }) => inputs.country === 'Peru')?.outputs).toEqual({
        capital: 'Lima',
        round: 'second',
      });
      const projects = await collect(client.listProjects({ referenceDatasetId: id }));
      expect(projects).toHaveLength(rounds.length);
      for (const { id: projectId } of projects) {
        const evaluated = await until(async () => {
          const found = await client.readProject({ projectId, includeStats: true });
          const { pass } = (found.feedback_stats ?? {}) as Readonly<Record<string, { n: number } | undefined>>;
          return found.run_count === 3 && pass?.n === 3 && found;
        });
        expect(evaluated).toMatchObject({
          error_rate: 1 / 3,
          feedback_stats: { pass: { n: 3, avg: 2 / 3 }, letters: { n: 1, avg: 4 }, graded: { n: 1, avg: 4 } },
        });
        const runs = await collect(client.listRuns({ projectId, isRoot: true }));
        expect(runs.flatMap(({ outputs }) => (outputs?.capital as string | undefined) ?? []).sort()).toEqual([
          'Lima',
          'Suva',
        ]);
      }
    },
  );
});

it('works as docs/reference/clients.md says, method by method', () => {
  const { works, others } = documented('JavaScript');
  expect([...called].filter((name) => !works.has(name)).sort()).toEqual([]);
  expect([...works].filter((name) => !called.has(name)).sort()).toEqual([]);
  expect(methods.filter((name) => !works.has(name) && !others.has(name))).toEqual([]);
});

it('sends what it sent when its requests were recorded', () => {
  const seen = recorder.take();
  expect(seen).toEqual(recorded('javascript', seen));
});
