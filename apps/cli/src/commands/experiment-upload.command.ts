import { basename, extname } from 'node:path';
import { type Command, Option } from 'commander';
import { isUuid } from '../api/api';
import { assigned } from '../body/assignments';
import { type Context, does } from '../api/context';
import { mapping } from '../upload/csv.rows';
import { waitForRows } from '../upload/experiment-wait';
import { examples, lined } from '../output/help';
import { showExperiment } from '../output/experiments.show';
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
  readonly dataset?: string;
  readonly experimentName?: string;
  readonly description?: string;
  readonly metadata?: string[];
  readonly start?: string;
  readonly end?: string;
  readonly map?: string[];
  readonly rowIds?: 'inputs' | 'number';
  readonly gzip: boolean;
  readonly wait: boolean;
}

const HELP = `
JSON is the whole body of an upload. JSON Lines and CSV hold one row a line.
The columns of CSV, and the members of JSON Lines, are
${lined(TARGETS)}.
"inputs.NAME:json" is a column that holds JSON. Rows without a row_id get one
that is the same for the same inputs, so that experiments on the same questions
can be compared.`;

export function addUpload(group: Command): void {
  const upload = group
    .command('upload')
    .description('upload a finished experiment: JSON, JSON Lines or CSV of any size')
    .argument('<file>', '- reads standard input')
    .addOption(new Option('--format <format>', 'when the name does not tell').choices(['json', 'jsonl', 'csv', 'tsv']))
    .option('--dataset <id|name>', 'what it was run on; made when there is none')
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
    .option('--no-gzip', 'send it as it is')
    .option('--no-wait', 'do not wait until its rows are stored')
    .addHelpText('after', HELP);
  examples(
    upload,
    'experiments upload experiment.json',
    'experiments upload model-a.csv --dataset questions --metadata model=a',
    'experiments upload answers.csv --dataset questions --map prompt=inputs.question --map grade=scores.grade',
    'experiments upload - --format jsonl --dataset questions --experiment-name nightly',
  );
  reaches(upload, 'POST /api/v1/datasets/upload-experiment');
  does<UploadOptions>(upload, async (context, [path], options) => {
    const file = uploadFile(path!, options.format);
    const body = file.format === 'json' ? wholeBody(options) : bodyOptions(file, options);
    const sending = { body, map: mapping(options.map ?? []), gzip: options.gzip };
    const answer = await new Upload(context, file, sending).send();
    const sent = JSON.parse(answer.text) as { dataset: Dataset; experiment: Session };
    if (!options.wait) return show(context, answer.text, sent.dataset, sent.experiment);
    const experiment = await waitForRows(context, sent.experiment.id);
    const dataset = JSON.stringify(sent.dataset);
    show(context, `{"dataset":${dataset},"experiment":${experiment}}`, sent.dataset, JSON.parse(experiment) as Session);
  });
}

function show(context: Context, json: string, dataset: Dataset, experiment: Session): void {
  if (context.out.json) context.out.text(json);
  else showExperiment(context, experiment, dataset.name);
}

/** A JSON file says everything itself. */
function wholeBody(options: UploadOptions): undefined {
  const said = (
    ['dataset', 'experimentName', 'description', 'metadata', 'start', 'end', 'map', 'rowIds'] as const
  ).find((name) => options[name] !== undefined);
  if (!said) return undefined;
  const option = said.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new Usage(`--${option} is for JSON Lines and CSV: a JSON file is the whole body of an upload.`);
}

function bodyOptions(file: UploadFile, options: UploadOptions): BodyOptions {
  const { dataset, start, end, rowIds = 'inputs' } = options;
  if (!dataset) throw new Usage('Say with --dataset what the experiment was run on.');
  const name = options.experimentName ?? (file.path === '-' ? undefined : basename(file.path, extname(file.path)));
  if (!name) throw new Usage('Name the experiment with --experiment-name.');
  const header: Header = {
    experiment_name: name,
    experiment_description: options.description,
    ...(isUuid(dataset) ? { dataset_id: dataset } : { dataset_name: dataset }),
    experiment_metadata: options.metadata && assigned(options.metadata),
  };
  return { header, start, end, rowIds, time: new Date().toISOString() };
}
