import { examples } from '../output/help';
import { type Command, Option } from 'commander';
import { type Context, does } from '../api/context';
import { rowFilter } from '../upload/labels';
import { addCompare, compared, type CompareOptions, compareOptions } from './experiment-compare.command';
import { addTrend } from './experiment-trend.command';
import { addUpload } from './experiment-upload.command';
import { addLines, filters, reaches } from '../table/group';
import { type Repetitions, showExperiment, showExperiments } from '../output/experiments.show';
import type { Comparison } from '../output/comparison';
import { Refusal } from '../failure';
import { collect, type ListOptions, listed, type PageQuery } from '../api/lists';
import { findExperiment } from '../api/lookups';
import type { Session } from '../api/records';
import { save } from '../upload/saved';

const ONE = '/api/v1/sessions/{session_id}';
const COMPARE = '/api/v1/datasets/{dataset_id}/compare';

export function addExperiments(all: Command): void {
  const group = all
    .command('experiments')
    .alias('experiment')
    .description('upload experiments that were run elsewhere, and compare them');
  addUpload(group);
  addList(group);
  const get = group.command('get').description('show one experiment').argument('<experiment>', 'id or name');
  examples(get, 'experiments get model-a');
  reaches(get, `GET ${ONE}`, 'GET /api/v1/datasets/{dataset_id}/compare');
  does(get, async (context, [name]) => {
    const { id } = await findExperiment(context.api, name!);
    const json = await context.api.read(`/api/v1/sessions/${id}`);
    if (context.out.json) return context.out.text(json);
    const session = JSON.parse(json) as Session;
    showExperiment(context, session, undefined, await repetitionsOf(context, session));
  });
  addCompare(group);
  addTrend(group);
  addExport(group);
  addLines(group, {
    find: {
      route: 'GET /v1/experiments',
      example: '--q nightly',
      columns: ['name', 'dataset_name', 'run_count', 'error_rate', 'start_time'],
    },
    distributions: {
      route: `GET ${COMPARE}/distributions`,
      example: 'questions --experiment-key correct --experiments 0198c1f0-0000-7000-8000-000000000001',
    },
    slices: {
      route: `GET ${COMPARE}/slices`,
      example:
        'questions --experiments 0198c1f0-0000-7000-8000-000000000001 --baseline 0198c1f0-0000-7000-8000-000000000002',
    },
    row: {
      route: `GET ${COMPARE}/rows/{example_id}`,
      example:
        'questions 0198c1f0-0000-7000-8000-000000000002 --experiments 0198c1f0-0000-7000-8000-000000000001 --json',
    },
    'replaced-runs': { route: 'GET /v1/experiments/{experiment_id}/replaced-runs', example: 'model-a' },
    create: { route: 'POST /api/v1/sessions', example: '--name nightly --reference-dataset-id questions' },
    patch: { route: `PATCH ${ONE}`, example: "model-a --description 'with the new prompt'" },
    delete: { route: `DELETE ${ONE}`, example: 'model-a' },
  });
}

/** The repetitions of one experiment, from its comparison; undefined where it cannot be compared. */
async function repetitionsOf({ api }: Context, session: Session): Promise<Repetitions | undefined> {
  const { id, reference_dataset_id: dataset, run_count: runs } = session;
  if (dataset === null || !runs) return undefined;
  try {
    const json = await api.read(`/api/v1/datasets/${dataset}/compare`, { experiments: id, limit: 0 });
    const { rows, keys } = JSON.parse(json) as Comparison;
    const spreads = keys.flatMap(({ key, results: [own] }) =>
      own?.spread === undefined ? [] : [[key, own.spread] as const],
    );
    return { rows, spreads: new Map(spreads) };
  } catch (error) {
    // Scores that are too many to be compared have no spread either.
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

function addList(group: Command): void {
  const list = group.command('list').alias('ls').description('list experiments, the newest first');
  examples(list, 'experiments list --dataset questions');
  const query = filters(list, 'GET /api/v1/sessions', 'experiment');
  does<ListOptions>(list, async (context, _args, options) => {
    const { api, out } = context;
    const filter = { reference_free: false, ...(await query(context, options)) };
    const read = (page: PageQuery, count?: true) => api.page('/api/v1/sessions', { ...filter, ...page, count });
    const { items, json } = await listed<Session>(context, options, read);
    if (out.json) out.text(json);
    else showExperiments(context, items);
  });
}

interface ExportOptions extends CompareOptions {
  readonly rows?: string[];
  readonly find?: string;
  readonly sort?: string;
  readonly format: 'csv' | 'jsonl';
  readonly output?: string;
}

function addExport(group: Command): void {
  const command = compareOptions(group.command('export'), 'one or more')
    .description('a line for each run of one experiment, or for the runs of a row side by side, with whole texts')
    .option('--rows <filter>', 'only rows such as worse:KEY or C->I:KEY, repeatable (default: all)', collect)
    .option('--find <text>', 'only rows that hold this text')
    .option('--sort <order>', 'regression, improvement, row, latency:<id> or difference:<id>:<key>')
    .addOption(new Option('--format <format>', 'of the rows').choices(['csv', 'jsonl']).default('csv'))
    .option('-o, --output <file>', 'where to (default: standard output)');
  examples(command, 'experiments export model-a -o model-a.csv', 'experiments export model-a model-b -o compared.csv');
  reaches(command, `GET ${COMPARE}/export`);
  does<ExportOptions>(command, async (context, [names], options) => {
    const { dataset, query, sessions } = await compared(context, names as unknown as string[], options, 1);
    const path = `/api/v1/datasets/${dataset}/compare/export`;
    const others = sessions.map(({ id }) => id).filter((id) => id !== query.baseline);
    const { format, find: q, sort } = options;
    const chosen = { rows: options.rows?.map((filter) => rowFilter(filter, others)), q, sort };
    const rows = await context.api.open({ method: 'GET', path, query: { ...query, format, ...chosen } });
    await save(context, rows, options.output);
  });
}
