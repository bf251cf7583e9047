import { type Command, Option } from 'commander';
import { isUuid } from '../api/api';
import { assigned } from '../body/assignments';
import { type Context, does } from '../api/context';
import { warnOf } from '../api/deployment-answers';
import { findExperiment } from '../api/lookups';
import { mapping } from '../upload/mapping';
import { waitForRows } from '../upload/experiment-wait';
import { examples, lined } from '../output/help';
import { showExperiment } from '../output/experiments.show';
import { counted } from '../output/text';
import { Usage } from '../failure';
import { reaches } from '../table/group';
import { collect } from '../api/lists';
import type { Dataset, Session } from '../api/records';
import { TARGETS } from '../upload/row-target';
import { Upload } from '../upload/upload';
import type { BodyOptions, Header } from '../upload/upload-body';
import { type Format, uploadFile, type UploadFile } from '../upload/upload.file';

interface UploadOptions {
  readonly format?: Format;
  readonly into?: string;
  readonly dataset?: string;
  readonly experimentName?: string;
  readonly description?: string;
  readonly metadata?: string[];
  readonly start?: string;
  readonly end?: string;
  readonly map?: string[];
  readonly rowIds?: 'inputs' | 'number';
  readonly delimiter?: string;
  readonly decimal?: '.' | ',';
  readonly textScores?: string[];
  readonly strict?: boolean;
  readonly gzip: boolean;
  readonly wait: boolean;
}

const HELP = `
CSV and JSON Lines hold one row a line, a JSON array one row an element; a JSON
object is the whole body of an upload. All of them can be packed with gzip. The
columns of CSV, and the members of JSON, are
${lined(TARGETS)}.
"inputs.NAME:json" is a column that holds JSON. Rows without a row_id get one
that is the same for the same inputs, so that experiments on the same questions
can be compared. --map also takes paths with dots into JSON, units, and keys of
scores that hold columns: response.output=actual_outputs.text,
ms=latency:ms, match=scores.{filter}/match.`;

export function addUpload(group: Command): void {
  const upload = group
    .command('upload')
    .description('upload a finished experiment: CSV, JSON Lines or JSON of any size')
    .argument('<file>', '- reads standard input')
    .addOption(new Option('--format <format>', 'when the name does not tell').choices(['json', 'jsonl', 'csv', 'tsv']))
    .option('--dataset <id|name>', 'what it was run on; made when there is none')
    .option('--into <id|name>', 'fill rows of this experiment whose last run failed, or that have none')
    .option('--experiment-name <name>', 'default: the name of the file')
    .option('--description <text>', 'of the experiment')
    .option('--metadata <name=value>', 'of the experiment, repeatable; the value is JSON or else text', collect)
    .option('--start <time>', 'when it began (default: with its first row)')
    .option('--end <time>', 'when it ended (default: with its last row)')
    .option('--map <column=target>', 'what a column is, repeatable', collect)
    .addOption(
      new Option('--row-ids <by>', 'what rows without a row_id are known by')
        .choices(['inputs', 'number'])
        .default(undefined, 'inputs'),
    )
    .option(
      '--delimiter <character>',
      'between the columns of CSV, or "tab" (default: , ; or tab, as the first line has it)',
    )
    .addOption(
      new Option('--decimal <mark>', 'decimal mark of numbers in CSV').choices(['.', ',']).default(undefined, '.'),
    )
    .option('--text-scores <key>', 'keep the scores of a key as text, repeatable', collect)
    .option('--strict', 'upload nothing when something would be left out')
    .option('--no-gzip', 'send it as it is')
    .option('--no-wait', 'do not wait until its rows are stored')
    .addHelpText('after', HELP);
  examples(
    upload,
    'experiments upload experiment.json',
    'experiments upload model-a.csv --dataset questions --metadata model=a',
    'experiments upload again.csv --into model-a',
    'experiments upload answers.csv --dataset questions --map prompt=inputs.question --map grade=scores.grade',
    'experiments upload - --format jsonl --dataset questions --experiment-name nightly',
  );
  reaches(upload, 'POST /api/v1/datasets/upload-experiment');
  does<UploadOptions>(upload, async (context, [path], options) => {
    const file = await uploadFile(path!, options.format);
    const into = options.into === undefined ? undefined : await findExperiment(context.api, options.into);
    const body = file.format === 'json' ? wholeBody(options) : bodyOptions(file, options, into);
    const { map = [], decimal = '.', textScores = [], strict = false, gzip } = options;
    const rows = { map: mapping(map), decimal, textScores: new Set(textScores) };
    const upload = new Upload(context, file, {
      ...{ into: into?.id, body, rows },
      ...{ delimiter: delimiterOf(options), strict, gzip },
    });
    const answer = await upload.send();
    warnOf(context, answer);
    const sent = JSON.parse(answer.text) as { dataset: Dataset; experiment: Session; filled_rows?: number };
    const filled = sent.filled_rows === undefined ? '' : `"filled_rows":${sent.filled_rows},`;
    const leftOut = JSON.stringify(upload.report.json());
    if (sent.filled_rows !== undefined && !context.out.json)
      context.out.note(`${counted(sent.filled_rows, 'row')} filled.`);
    if (!options.wait) {
      return show(
        context,
        `${answer.text.trimEnd().slice(0, -1)},"left_out":${leftOut}}`,
        sent.dataset,
        sent.experiment,
      );
    }
    const experiment = await waitForRows(context, sent.experiment.id);
    const dataset = JSON.stringify(sent.dataset);
    const json = `{"dataset":${dataset},"experiment":${experiment},${filled}"left_out":${leftOut}}`;
    show(context, json, sent.dataset, JSON.parse(experiment) as Session);
  });
}

/** @throws Usage when it is more than one character */
function delimiterOf({ delimiter }: UploadOptions): string | undefined {
  if (delimiter === undefined || delimiter.length === 1) return delimiter;
  if (/^(?:tab|\\t)$/i.test(delimiter)) return '\t';
  throw new Usage(`--delimiter ${delimiter}: write one character, or tab.`);
}

function show(context: Context, json: string, dataset: Dataset, experiment: Session): void {
  if (context.out.json) context.out.text(json);
  else showExperiment(context, experiment, dataset.name);
}

const OF_BODY = ['dataset', 'experimentName', 'description', 'metadata', 'start', 'end', 'rowIds'] as const;
const OF_ROWS = ['map', 'delimiter', 'decimal', 'textScores', 'strict'] as const;

/** A JSON object says everything itself. */
function wholeBody(options: UploadOptions): undefined {
  const said = ([...OF_BODY, ...OF_ROWS] as const).find((name) => options[name] !== undefined);
  if (!said) return undefined;
  const option = said.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new Usage(
    `--${option} is for rows in CSV, JSON Lines or a JSON array: a JSON object is the whole body of an upload.`,
  );
}

/** `into` is the experiment that the rows fill: its name and its dataset are known. */
function bodyOptions(file: UploadFile, options: UploadOptions, into: Session | undefined): BodyOptions {
  const { start, end, rowIds = 'inputs' } = options;
  const dataset = options.dataset ?? into?.reference_dataset_id;
  if (!dataset) throw new Usage('Say with --dataset what the experiment was run on.');
  const name = options.experimentName ?? into?.name ?? file.name;
  if (!name) throw new Usage('Name the experiment with --experiment-name.');
  const header: Header = {
    experiment_name: name,
    experiment_description: options.description,
    ...(isUuid(dataset) ? { dataset_id: dataset } : { dataset_name: dataset }),
    experiment_metadata: options.metadata && assigned(options.metadata),
  };
  return { header, start, end, rowIds, time: new Date().toISOString() };
}
