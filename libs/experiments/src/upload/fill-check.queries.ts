import { memberSlices } from '@fairlead/blobs';
import { type Problem, Problems, Unprocessable } from '@fairlead/schema';
import type { Pool } from 'pg';
import {
  type CheckedUpload,
  contentDigest,
  exampleTexts,
  type Filled,
  type FillExample,
  type FillRow,
  type FillRows,
  fillRows,
  type FillTarget,
  findFillTargets,
  placesOf,
} from '@fairlead/runs';
import { sameJson } from '@fairlead/datasets';
import type { ExperimentFacts } from './upload-answer';

interface Known {
  readonly experiment: ExperimentFacts;
  readonly dataset: { readonly id: string; readonly name: string; readonly description: string | null };
}

/**
 * Checks that a fill adds runs and nothing else: members that say something of the experiment or the dataset have to say
 * what is known already.
 * @throws Unprocessable
 */
export function checkFillHeader({ header, metadata, summaryScores, rows }: CheckedUpload, known: Known): void {
  const problems = new Problems();
  const { experiment, dataset } = known;
  const mustBe = (member: keyof typeof header, is: string | null, of: string) => {
    const given = header[member];
    if (given !== undefined && given !== is)
      problems.add(broken(['body', member], `must be ${of}, which a fill does not change: ${shown(is)}`, given));
  };
  mustBe('experiment_name', experiment.name, 'the name of the experiment');
  mustBe('experiment_description', experiment.description, 'the description of the experiment');
  mustBe('dataset_id', dataset.id, 'the dataset of the experiment');
  mustBe('dataset_name', dataset.name, 'the name of its dataset');
  mustBe('dataset_description', dataset.description, 'the description of its dataset');
  const stored = experiment.extra === null ? undefined : memberSlices(Buffer.from(experiment.extra)).get('metadata');
  if (metadata !== null && !(stored && sameJson(Buffer.from(metadata), stored))) {
    const error = 'must be those of the experiment, which a fill does not change: leave them out';
    problems.add(broken(['body', 'experiment_metadata'], error, null));
  }
  if (summaryScores > 0) {
    const error = 'a fill takes no scores of the whole experiment: give them with POST /feedback and its session_id';
    problems.add(broken(['body', 'summary_experiment_scores'], error, null));
  }
  if (rows === 0) problems.add(broken(['body', 'results'], 'a fill has at least one row', []));
  if (problems.total > 0) throw new Unprocessable(problems);
}

/** Checks that every row of a fill can be filled, with the inputs of its example. @throws Unprocessable */
export async function checkFillRows(pool: Pool, filled: Filled, sent: FillRows): Promise<void> {
  const ids = [...fillRows(sent)].map(({ id }) => id);
  const targets = await findFillTargets(pool, filled, ids);
  const places = placesOf(ids, targets);
  const problems = new Problems();
  let number = 0;
  for (const row of fillRows(sent)) {
    const loc = ['body', 'results', number] as const;
    const place = places[number++];
    if (!place) problems.add(broken([...loc, 'row_id'], refusal(targets.get(row.id)), row.id));
    else await checkContents(pool, filled, row, place.example, loc, problems);
  }
  if (problems.total > 0) throw new Unprocessable(problems);
}

function refusal(target: FillTarget | undefined): string {
  if (!target) return 'there is no such row in the experiment, and no such example in its dataset';
  const { runs, failed } = target;
  if (runs === 0) return 'the row has no run, so that a fill can bring one: it comes more than once';
  if (failed.length === 0)
    return 'the last run of the row did not fail: a fill is for rows whose last run failed, or that have none';
  return `the row comes more often in the fill than its last runs failed (${failed.length})`;
}

async function checkContents(
  pool: Pool,
  filled: Filled,
  row: FillRow,
  example: FillExample,
  loc: Problem['loc'],
  problems: Problems,
): Promise<void> {
  const { inputs, expected } = row;
  const isSame = inputs === example.inputs && (expected === undefined || expected.sent === example.outputs);
  if (isSame) return;
  const texts = await exampleTexts(pool, filled, example);
  const differs = (text: string | null, digest: Buffer) => text === null || !digestOf(text).equals(digest);
  if (inputs !== example.inputs && differs(texts.inputs, row.inputsContent)) {
    problems.add(broken([...loc, 'inputs'], 'must be the inputs of the example, which a fill does not change', row.id));
  }
  if (expected && expected.sent !== example.outputs && differs(texts.outputs, expected.content)) {
    const error = 'must be the expected outputs of the example, which a fill does not change, or be left out';
    problems.add(broken([...loc, 'expected_outputs'], error, row.id));
  }
}

function digestOf(text: string): Buffer {
  return contentDigest(JSON.parse(text));
}

function shown(text: string | null): string {
  return text === null ? 'it has none' : `'${text}'`;
}

function broken(loc: Problem['loc'], error: string, input: unknown): Problem {
  return { type: 'value_error', loc, msg: `Value error, ${error}`, input, ctx: { error } };
}
