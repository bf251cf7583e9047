import { Answers, Area, asText, CommandContext, Context, Describe, Path, Query, Scope } from '@fairlead/api';
import {
  anyJson,
  anyObject,
  BadRequest,
  type Infer,
  int,
  list,
  note,
  NotFound,
  nullable,
  num,
  object,
  optional,
  str,
  timestamp,
  uuid,
} from '@fairlead/schema';
import { Controller, Get, Header } from '@nestjs/common';
import { Pool } from 'pg';
import { found, Id, JSON_TEXT } from '@fairlead/runs';
import { comparison } from '../compare/compare.answers.schema';
import type { Told } from '../cells/cell-comments.queries';
import { comparisonJson } from '../compare/compare-json';
import { type ComparedRow, readPage } from '../compare/compare-rows.queries';
import { chosenRows, parseRowSort, shownRows } from '../compare/row-selection';
import { type Comparison, type ComparisonRequest, Comparisons } from '../compare/comparisons.service';
import { readRowRuns } from '../row/row-runs.queries';
import { rowRuns } from '../row/row-runs.schema';
import { linkedRun } from './linked-run.queries';
import { visibleRuns } from './visible-runs';
import { PublicReading } from './public-reading.service';
import type { Hideable } from './share';
import type { OpenLink } from './share.queries';
import { openedLink } from './share.schema';

const runPath = object({
  link_token: note(uuid(), 'Token of a share link.'),
  run_id: note(uuid(), 'The run that is shared, or one of the compared runs.'),
});
const rowPath = object({
  link_token: note(uuid(), 'Token of a share link.'),
  example_id: note(uuid(), 'The example whose row is given.'),
});
const comparisonQuery = object({
  baseline: note(
    optional(uuid()),
    'Experiment that the others are measured against. Default: the one that the link names first.',
  ),
  offset: note(optional(int({ ge: 0 }), 0), 'Number of rows to skip.'),
  limit: note(optional(int({ ge: 0, le: 100 }), 20), 'Largest number of rows in the answer; 0 for none.'),
  ...chosenRows,
  ...shownRows,
});
const linked = object('LinkedRun', {
  id: note(uuid(), 'Identifier of the run.'),
  session_id: note(uuid(), 'Experiment or session of the run.'),
  reference_example_id: note(nullable(uuid()), 'Example that was run; null for a run without one.'),
  name: note(str(), 'Name of the run.'),
  run_type: note(str(), 'Kind of the run.'),
  status: note(str(), 'Status of the run: `success`, `error` or `pending`.'),
  start_time: note(timestamp(), 'When it began.'),
  end_time: note(nullable(timestamp()), 'When it ended; null while it goes on.'),
  latency_seconds: note(nullable(num()), 'Latency, in seconds; null while it goes on.'),
  'error?': note(nullable(str()), 'Why it failed; null when it did not. Absent when the link hides errors.'),
  'inputs?': note(anyObject(), 'Inputs of the run. Absent when the link hides them.'),
  'outputs?': note(nullable(anyObject()), 'Outputs of the run; null without. Absent when the link hides them.'),
  'reference_outputs?': note(
    nullable(anyObject()),
    'Expected outputs of the example; null without. Absent when the link hides them.',
  ),
  'metadata?': note(nullable(anyObject()), 'Metadata of the run; null without. Absent when the link hides them.'),
  'feedback?': note(
    list(
      object('LinkedFeedback', {
        key: note(str(), 'Feedback key.'),
        score: note(nullable(num()), 'Score; null without.'),
        value: note(anyJson(), 'Value; null without.'),
        'comment?': note(nullable(str()), 'Comment; null without. Absent when the link hides comments.'),
      }),
    ),
    'Feedback on the run, at most 100. Absent when the link hides it.',
  ),
});
const PUBLIC = { description: 'No key is needed: the token stands for one. What the link hides is left out.' };
const SEARCHED: readonly Hideable[] = ['inputs', 'reference_outputs', 'outputs', 'errors'];

@Area('Sharing')
@Controller('api/v1/public/:link_token/link')
export class PublicLinksController {
  constructor(
    private readonly pool: Pool,
    private readonly reading: PublicReading,
    private readonly comparisons: Comparisons,
  ) {}

  @Get()
  @Scope('public', { reads: true })
  @Describe({ summary: 'Get what a share link shows', description: 'No key is needed: the token stands for one.' })
  @Answers({ 200: openedLink })
  async one(@Context() context: CommandContext, @Id('link_token') link_token: string) {
    const { kind, dataset_id, experiments, run_id, hidden, expires_at } = await this.reading.link(context, link_token);
    return { kind, dataset_id, experiments, run_id, hidden, expires_at };
  }

  @Get('comparison')
  @Scope('public', { reads: true, compressed: true })
  @Describe({
    summary: 'Get the comparison of a share link',
    description: `As a comparison with a key. ${PUBLIC.description} A link that hides texts refuses \`q\`, which could find them out.`,
  })
  @Answers({ 200: comparison, 400: 'It hides what `q` would look into, or the baseline is not among the experiments.' })
  async comparison(
    @Context() context: CommandContext,
    @Id('link_token') link_token: string,
    @Query(comparisonQuery) asked: Infer<typeof comparisonQuery>,
  ) {
    const link = await this.reading.link(context, link_token, 'comparison');
    const { tenant, dataset_id: datasetId, hides } = link;
    requireShown(link, asked);
    const compared = await this.comparisons.compare(tenant, requestOf(link, asked.baseline));
    const chosen = await this.comparisons.choose(datasetId!, compared, asked);
    const comments = hides.has('feedback') || hides.has('comments') ? undefined : asked.comments;
    const shown = { ...asked, comments };
    const page = await readPage(this.pool, datasetId!, compared, chosen, shown, (row) => visible(row, hides));
    return { ...comparisonJson(datasetId!, { ...compared, measures: visibleMeasures(compared, link) }), page };
  }

  @Get('comparison/rows/:example_id')
  @Scope('public', { reads: true, compressed: true })
  @Describe({
    summary: 'Get a row of the comparison of a share link run by run',
    description: `As with a key, without what is known of a judge but its kind. ${PUBLIC.description}`,
  })
  @Answers({ 200: rowRuns })
  async row(
    @Context() context: CommandContext,
    @Path(rowPath) { link_token, example_id: example }: Infer<typeof rowPath>,
  ) {
    const { tenant, experiments, hides } = await this.reading.link(context, link_token, 'comparison');
    return visibleRuns(await readRowRuns(this.pool, { tenantId: tenant, example, sessions: experiments }), hides);
  }

  @Get('runs/:run_id')
  @Header(...JSON_TEXT)
  @Scope('public', { reads: true, compressed: true })
  @Describe({
    summary: 'Get a run of a share link',
    description: `The run that the link shows, or one of those that it compares. ${PUBLIC.description} Attachments are not part of it.`,
  })
  @Answers({ 200: asText(linked) })
  async run(
    @Context() context: CommandContext,
    @Path(runPath) { link_token, run_id }: Infer<typeof runPath>,
  ): Promise<string> {
    const link = await this.reading.link(context, link_token);
    if (link.kind === 'run' && link.run_id !== run_id) throw new NotFound(`Run ID ${run_id} not found.`);
    return found(await linkedRun(this.pool, link, run_id), 'Run ID', run_id);
  }
}

/** @throws BadRequest for another experiment as the baseline, and for a search in what the link hides */
function requireShown(link: OpenLink, { baseline, q, sort }: Infer<typeof comparisonQuery>): void {
  const { experiments, hides } = link;
  if (baseline !== undefined && !experiments.includes(baseline)) {
    throw new BadRequest(`Session ${baseline} is not compared.`);
  }
  const hidden = SEARCHED.filter((member) => hides.has(member));
  if (q !== undefined && hidden.length > 0) {
    throw new BadRequest(`This link hides ${hidden.join(', ')}: its rows are not searched for a text.`);
  }
  const order = sort === undefined ? undefined : parseRowSort(sort);
  if (typeof order === 'object' && 'most' in order && order.most !== 'latency' && hidesUsage(link)) {
    throw new BadRequest(`This link hides what its runs used: its rows are not sorted by ${order.most}.`);
  }
}

function visibleMeasures({ measures }: Comparison, link: OpenLink): Comparison['measures'] {
  return hidesUsage(link) ? measures.filter(({ measure }) => measure === 'latency') : measures;
}

/** Tokens and costs are read from outputs and metadata. */
function hidesUsage({ hides }: Pick<OpenLink, 'hides'>): boolean {
  return hides.has('outputs') || hides.has('metadata');
}

function requestOf({ dataset_id, experiments, hides }: OpenLink, baseline: string | undefined): ComparisonRequest {
  // Without keys there is nothing that scores could be told from, neither statistics nor filters nor an order.
  const keys = hides.has('feedback') ? [] : undefined;
  return { datasetId: dataset_id!, experiments, baseline, lowerIsBetter: [], higherIsBetter: [], keys };
}

function visible(row: ComparedRow, hides: OpenLink['hides']): ComparedRow {
  const shown = <T>(member: Hideable, value: T) => (hides.has(member) ? null : value);
  const turn = (member: Hideable, value: ComparedRow['inputsTurn']) => (hides.has(member) ? undefined : value);
  const cells = row.cells.map(
    (cell) =>
      cell && {
        ...cell,
        ...(hidesUsage({ hides }) && { tokens: null, cost: null }),
        error: shown('errors', cell.error),
        outputs: shown('outputs', cell.outputs),
        outputsTurn: turn('outputs', cell.outputsTurn),
        told: cell.told && { ...cell.told, judges: kindsOf(cell.told.judges) },
      },
  );
  return {
    ...row,
    // Names of examples may be made of their inputs.
    name: shown('inputs', row.name),
    regression: shown('feedback', row.regression),
    inputs: shown('inputs', row.inputs),
    inputsTurn: turn('inputs', row.inputsTurn),
    referenceOutputs: shown('reference_outputs', row.referenceOutputs),
    referenceTurn: turn('reference_outputs', row.referenceTurn),
    cells,
  };
}

/** Judges without the runs in which they gave their feedback, which a link does not show. */
function kindsOf(judges: Told['judges']): Told['judges'] {
  const kinds = Object.entries(judges).map(([key, { type }]) => [key, { type, run_id: null, session_id: null }]);
  return Object.fromEntries(kinds) as Told['judges'];
}
