import { type Command, Option } from 'commander';
import {
  CATEGORY_COLUMNS,
  categoryRows,
  type ComparedSlice,
  type Comparison,
  EXPERIMENT_COLUMNS,
  experimentRows,
  keyTable,
  measureTable,
  regressed,
  rowCells,
  SLICE_COLUMNS,
  sliceRows,
  WHOLE_COLUMNS,
  wholeRows,
} from '../output/comparison';
import { examples } from '../output/help';
import { type Context, does } from '../api/context';
import { waitForRows } from '../upload/experiment-wait';
import { EXIT, Refusal, Usage } from '../failure';
import { differenceKeys, GATE_HELP, gateLimits, gateOption } from '../upload/gate';
import { LABELS_HELP, type LabelValues, labelValuesOption, rowFilter } from '../upload/labels';
import { reaches } from '../table/group';
import { collect } from '../api/lists';
import { findExperiment } from '../api/lookups';
import type { Session } from '../api/records';
import { clean, fit, score, width } from '../output/text';

/** Which experiments to compare, and how. */
export interface CompareOptions {
  readonly baseline?: string;
  readonly score?: string[];
  readonly lowerIsBetter?: string[];
  readonly higherIsBetter?: string[];
  readonly labelValues?: LabelValues;
}

interface GateOptions {
  readonly rows: number;
  readonly find?: string;
  readonly only?: string[];
  readonly sort?: string;
  readonly gate?: string[];
  readonly failOnRegression?: boolean;
  readonly allowSignificantRegressions?: boolean;
  readonly markdown?: boolean;
  readonly measures?: string[];
}

interface Verdict {
  /** Absent from servers that are older than undecided gates. */
  readonly outcome?: 'pass' | 'fail' | 'undecided';
  readonly pass: boolean;
  readonly reasons: readonly string[];
}

const MOST_ROWS = 100;
/** Slices that are shown. */
const WORST_SLICES = 5;
const CODES = { pass: EXIT.ok, fail: EXIT.failed, undecided: EXIT.unchecked };

export function addCompare(group: Command): void {
  const compare = compareOptions(group.command('compare'))
    .description('compare experiments on the same dataset, row by row; the first one is the baseline')
    .option('--rows <n>', 'show so many of the worst regressions', rowCount, 5)
    .option('--find <text>', 'show the rows that hold this text in place of the worst regressions')
    .option('--only <filter>', 'show rows such as worse:KEY or C->I:KEY in place of them, repeatable', collect)
    .option(
      '--sort <order>',
      'of these rows: regression, improvement, row, latency:<id>, tokens:<id>, cost:<id> or difference:<id>:<key>',
    )
    .option(
      '--gate <limit>',
      'fail (exit code 1) when this is not kept; exit code 6 when undecided; repeatable',
      gateOption,
    )
    .option('--fail-on-regression', 'fail when any score is significantly worse')
    .option('--allow-significant-regressions', 'hold the experiments to the limits of --gate only')
    .option('--measures <measure>', 'test slices by latency, tokens or cost as well, repeatable', collect)
    .addOption(
      new Option('--markdown', 'print a report for a pull request, as the console copies it').conflicts([
        'find',
        'only',
        'sort',
      ]),
    )
    .addHelpText('after', GATE_HELP + LABELS_HELP);
  examples(
    compare,
    'experiments compare model-a model-b',
    "experiments compare model-a model-b --gate 'correct>=-0.02' --gate 'error_rate<=1%'",
    "experiments compare model-a model-b --lower-is-better cost --gate 'cost<=0.01' --json",
    "experiments compare model-a model-b --gate 'increase(cost)<=0.001'",
    "experiments compare model-a model-b --gate 'correct>=-0.02' --markdown",
    "experiments compare model-a model-b --label-values 'grade:C=1,P=0.5,I=0' --gate 'grade>=-0.02'",
    "experiments compare model-a model-b --gate 'share(grade=C)>=80%' --only 'C->I:grade'",
  );
  const route = '/api/v1/datasets/{dataset_id}/compare';
  reaches(compare, `GET ${route}`, `GET ${route}/slices`, `GET ${route}/report`, `POST ${route}/gate`);
  does<CompareOptions & GateOptions>(compare, async (context, [names], options) => {
    if (options.markdown && context.out.json) throw new Usage('--markdown prints no JSON: leave out --json or --jq.');
    const { dataset, query, sessions } = await compared(context, names as unknown as string[], options);
    const others = sessions.map(({ id }) => id).filter((id) => id !== query.baseline);
    for (const { id, run_count } of sessions) if (run_count === null) await waitForRows(context, id);
    const path = `/api/v1/datasets/${dataset}/compare`;
    const { measures } = options;
    const json = await context.api.read(path, {
      ...query,
      q: options.find,
      rows: options.only?.map((filter) => rowFilter(filter, others)),
      sort: options.sort,
      limit: options.rows,
    });
    const comparison = JSON.parse(json) as Comparison;
    const gated = options.gate !== undefined || options.failOnRegression;
    const verdict = gated
      ? await pass(context, path, await withDirections(context, path, query, comparison, options), options)
      : undefined;
    if (options.markdown) {
      const report = await context.api.read(`${path}/report`, { ...query, measures, limit: options.rows });
      for (const line of report.split('\n')) context.out.line(clean(line));
      if (verdict) showVerdict(context, JSON.parse(verdict) as Verdict, (line) => context.out.note(line));
    } else if (!context.out.json) {
      showComparison(context, comparison, await worseSlices(context, path, { ...query, measures }), options);
      if (verdict) showVerdict(context, JSON.parse(verdict) as Verdict);
    } else context.out.text(verdict ? `{"comparison":${json.trim()},"gate":${verdict.trim()}}` : json);
    return verdict ? CODES[outcomeOf(JSON.parse(verdict) as Verdict)] : EXIT.ok;
  });
}

export function compareOptions(command: Command, count = 'two or more'): Command {
  return command
    .argument('<experiments...>', `ids or names, ${count}`)
    .option('--baseline <id|name>', 'what the others are measured against (default: the first)')
    .option('--score <key>', 'compare this score, repeatable (default: all)', collect)
    .option('--lower-is-better <key>', 'repeatable', collect)
    .option('--higher-is-better <key>', 'repeatable', collect)
    .option('--label-values <key:label=number,…>', 'numbers that stand for labels, repeatable', labelValuesOption);
}

/** The experiments that were named, `least` of them or more, their dataset, and the query that compares them. */
export async function compared(context: Context, names: readonly string[], options: CompareOptions, least = 2) {
  const all = options.baseline === undefined ? names : [options.baseline, ...names];
  if (new Set(all).size < least) throw new Usage('Name two experiments at least.');
  const found = await Promise.all([...new Set(all)].map((name) => findExperiment(context.api, name)));
  const sessions = [...new Map(found.map((session) => [session.id, session])).values()];
  const [baseline] = sessions as [Session, ...Session[]];
  if (sessions.length < least) throw new Usage('Name two experiments at least.');
  const { reference_dataset_id: dataset } = baseline;
  if (dataset === null) throw new Usage(`${baseline.name} was not run on a dataset, so it cannot be compared.`);
  const other = sessions.find(({ reference_dataset_id }) => reference_dataset_id !== dataset);
  if (other) throw new Usage(`${baseline.name} and ${other.name} were run on different datasets.`);
  const query = {
    experiments: sessions.map(({ id }) => id).join(','),
    baseline: baseline.id,
    key: options.score,
    lower_is_better: options.lowerIsBetter?.join(','),
    higher_is_better: options.higherIsBetter?.join(','),
    label_values: options.labelValues && JSON.stringify(options.labelValues),
  };
  return { dataset, query, sessions };
}

/** The slices that got worse most; none from a service that is older than slices. A refusal is told. */
async function worseSlices(
  { api, out }: Context,
  path: string,
  query: Awaited<ReturnType<typeof compared>>['query'] & Pick<GateOptions, 'measures'>,
): Promise<readonly ComparedSlice[]> {
  try {
    const json = await api.read(`${path}/slices`, { ...query, verdict: 'worse', limit: WORST_SLICES });
    return (JSON.parse(json) as { slices: ComparedSlice[] }).slices;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.status !== 404) out.warn(`Slices were not compared: ${error.message}`);
    return [];
  }
}

/** A comparison that also has the keys of `--gate` that it did not show, for their directions. */
async function withDirections(
  { api }: Context,
  path: string,
  query: Awaited<ReturnType<typeof compared>>['query'],
  comparison: Comparison,
  { gate = [] }: GateOptions,
): Promise<Comparison> {
  const known = new Set([...comparison.keys, ...(comparison.experiment_scores ?? [])].map(({ key }) => key));
  const key = differenceKeys(gate).filter((name) => !known.has(name));
  if (key.length === 0) return comparison;
  const { keys } = JSON.parse(await api.read(path, { ...query, key, limit: 0 })) as Comparison;
  return { ...comparison, keys: [...comparison.keys, ...keys] };
}

/** The gate's answer as JSON. */
async function pass(
  { api }: Context,
  path: string,
  { baseline, experiments, keys, experiment_scores = [] }: Comparison,
  options: CompareOptions & GateOptions,
): Promise<string> {
  const lower = [...keys, ...experiment_scores]
    .filter(({ direction }) => direction === 'lower is better')
    .map(({ key }) => key);
  const body = JSON.stringify({
    baseline,
    experiments: experiments.map(({ id }) => id).filter((id) => id !== baseline),
    lower_is_better: options.lowerIsBetter,
    higher_is_better: options.higherIsBetter,
    label_values: options.labelValues,
    allow_significant_regressions: options.allowSignificantRegressions,
    ...gateLimits(options.gate ?? [], new Set(lower)),
  });
  return (await api.send({ method: 'POST', path: `${path}/gate`, body, repeatable: true })).text;
}

function showComparison(
  context: Context,
  comparison: Comparison,
  slices: readonly ComparedSlice[],
  { find, only, sort }: GateOptions,
): void {
  const { out } = context;
  out.table(EXPERIMENT_COLUMNS, experimentRows(comparison, out.cell));
  const { columns, rows } = keyTable(comparison, out.cell, out.columns);
  const used = measureTable(comparison, out.cell, out.columns);
  const tables = [
    [columns, rows],
    [WHOLE_COLUMNS, wholeRows(comparison, out.cell)],
    [CATEGORY_COLUMNS, categoryRows(comparison, out.cell)],
    [used.columns, used.rows],
    [SLICE_COLUMNS, sliceRows(comparison, slices, out.cell)],
  ] as const;
  const filled = tables.filter(([, lines]) => lines.length > 0);
  if (filled.every(([titles]) => titles === SLICE_COLUMNS || titles === used.columns))
    out.line('\nNo scores to compare.');
  for (const [titles, lines] of filled) {
    out.line();
    out.table(titles, lines);
  }
  if ((find ?? only ?? sort) === undefined) showRows(context, comparison, 'Worst regressions', regressed(comparison));
  else showRows(context, comparison, 'Rows', comparison.page.rows);
  for (const { message } of comparison.warnings) out.warn(clean(message));
}

function showRows({ out }: Context, comparison: Comparison, title: string, rows: Comparison['page']['rows']): void {
  if (rows.length === 0) return;
  const columns = Math.min(out.columns, 160);
  out.line(`\n${out.paint('bold', title)}`);
  for (const row of rows) {
    const text = fit(clean(row.inputs_preview ?? '-'), columns - 8);
    out.line(
      `${(row.regression === null ? '' : score(row.regression)).padEnd(6)}  ${text}  ${out.paint('dim', row.example_id)}`,
    );
    const cells = rowCells(comparison, row);
    const widest = Math.max(...cells.map(([name]) => width(name)));
    for (const [name, came, scores] of cells) {
      const space = ' '.repeat(widest - width(name));
      const shown = fit(came, Math.max(20, columns - widest - width(scores) - 12));
      out.line(`        ${out.paint('dim', name)}${space}  ${shown}  ${scores}`.trimEnd());
    }
  }
}

function outcomeOf({ outcome, pass }: Verdict): 'pass' | 'fail' | 'undecided' {
  return outcome ?? (pass ? 'pass' : 'fail');
}

function showVerdict(
  { out }: Context,
  verdict: Verdict,
  print: (line: string) => void = (line) => out.line(line),
): void {
  const told = {
    pass: out.paint('green', 'Gate passed.'),
    fail: out.paint('red', 'Gate failed:'),
    undecided: out.paint('yellow', 'Gate undecided:'),
  };
  print(`\n${told[outcomeOf(verdict)]}`);
  for (const reason of verdict.reasons) print(`  ${clean(reason)}`);
}

function rowCount(text: string): number {
  const rows = /^\d+$/.test(text) ? Number(text) : MOST_ROWS + 1;
  if (rows <= MOST_ROWS) return rows;
  throw new Usage(`--rows is a whole number from 0 to ${MOST_ROWS}.`);
}
