import { Readable } from 'node:stream';
import { Answers, Area, asText, Body, CommandContext, Context, Describe, Query, Scope } from '@fairlead/api';
import { publicAddress } from '@fairlead/edge';
import {
  BadRequest,
  bool,
  datetime,
  type Infer,
  int,
  list,
  literal,
  note,
  NotFound,
  object,
  optional,
  record,
  str,
  uuid,
} from '@fairlead/schema';
import { Controller, Get, Header, HttpCode, Post } from '@nestjs/common';
import { Pool } from 'pg';
import {
  Attachments,
  batches,
  decodeCursor,
  EXPERIMENTS_VIEWS,
  findRunPage,
  Id,
  JSON_TEXT,
  oneOrMany,
  placeOfRun,
  pageV2,
  pieces,
  PublicUrl,
  type Rendering,
  renderRowsV2,
  renderRunsV2,
  type RunFilter,
  type RunRow,
  runsPageV2,
  runV2,
  text,
  V2_SELECTS,
  type V2Select,
} from '@fairlead/runs';
import { experimentRuns } from '../view/compared-runs.answers.schema';
import { renderExamples } from '../view/comparison-view-rows.queries';
import { findView, findViewExamples, orderOf } from '../view/comparison-view.queries';
import { ShareQueries } from '../sharing/share.queries';

const MOST_EXAMPLES = 1000;
const SELECTS = 'Members to answer; what is not known of a run is absent.';
const selects = note(optional(list(literal(V2_SELECTS)), ['ID']), SELECTS);
const pageSize = note(optional(int({ ge: 1, le: 1000 }), 100), 'Largest number of items in the answer.');
const queryBody = object('QueryRunsRequestBody', {
  ai_query: note(optional(str()), 'Not supported: a query in natural language is answered 400.'),
  cursor: note(optional(str()), 'The `next_cursor` of the previous page; absent: the first page.'),
  filter: note(optional(str()), 'Only runs for which this expression is true, such as `eq(status, "error")`.'),
  has_error: note(optional(bool()), 'True: only runs that failed. False: only others.'),
  ids: note(optional(list(uuid())), 'Only these runs.'),
  is_root: note(optional(bool()), 'True: only root runs. False: only steps.'),
  max_feedback_modified_at: note(
    optional(datetime()),
    'Conditions on feedback in the filters count only feedback that was last changed before this time.',
  ),
  max_start_time: note(optional(datetime()), 'Only runs that start at this time or earlier.'),
  min_feedback_modified_at: note(
    optional(datetime()),
    'Conditions on feedback in the filters count only feedback that was last changed at this time or later.',
  ),
  min_start_time: note(optional(datetime()), 'Only runs that start at this time or later. Default: no bound.'),
  page_size: pageSize,
  project_ids: note(optional(list(uuid())), 'Only runs of these sessions.'),
  reference_dataset_id: note(optional(uuid()), 'Only runs that were made for examples of this dataset.'),
  reference_examples: note(optional(list(uuid())), 'Only runs that were made for these examples.'),
  run_type: note(optional(str()), 'Only runs of this kind, as it was sent or in upper case.'),
  selects,
  sort_order: note(optional(literal(['ASC', 'DESC']), 'DESC'), '`DESC`: the newest first.'),
  trace_filter: note(optional(str()), 'Only runs whose root run fulfils this expression.'),
  trace_id: note(optional(uuid()), 'Only runs of this trace.'),
  tree_filter: note(optional(str()), 'Only runs with a run in their trace that fulfils this expression.'),
});
const oneQuery = object({
  project_id: note(uuid(), 'Session of the run.'),
  selects: note(optional(oneOrMany(literal(V2_SELECTS)), ['ID']), `${SELECTS} Repeatable.`),
  start_time: note(optional(datetime()), 'Accepted because clients send it; it changes nothing.'),
});
const experimentBody = object('QueryExperimentRunsRequestBody', {
  experiment_ids: note(list(uuid(), { min: 1 }), 'Experiments whose runs are shown, all on the dataset of the path.'),
  example_ids: note(optional(list(uuid(), { max: MOST_EXAMPLES })), 'Only these examples.'),
  comparative_experiment_id: note(optional(uuid()), 'Only feedback of this comparative experiment is shown.'),
  filters: note(
    optional(record(list(str())), {}),
    'By session id: expressions that the runs of the session must fulfil.',
  ),
  selects,
  sort: note(
    optional(
      object({
        by: note(optional(str()), 'Feedback key whose scores count, with or without `feedback.` in front.'),
        order: note(optional(literal(['ASC', 'DESC']), 'DESC'), '`DESC`: the highest scores first.'),
      }),
    ),
    'How the examples are sorted; absent: the newest first.',
  ),
  page_size: pageSize,
  cursor: note(optional(str()), 'The `next_cursor` of the previous page; absent: the first page.'),
});

@Area('Runs')
@Controller('v2')
export class RunsV2Controller {
  constructor(
    private readonly pool: Pool,
    private readonly attachments: Attachments,
    private readonly shares: ShareQueries,
    private readonly publicUrl: PublicUrl,
  ) {}

  /** Without bounds every run counts, from the start of its session on. */
  @Post('runs/query')
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({
    summary: 'Query runs (second version)',
    description: 'Members are those of `selects`. Pages follow `next_cursor`.',
  })
  @Answers({ 200: asText(runsPageV2), 404: 'There is no such session.' })
  async query(@Context() context: CommandContext, @Body(queryBody) body: Infer<typeof queryBody>): Promise<Readable> {
    const { tenantId } = context;
    if (body.ai_query) throw new BadRequest('Queries in natural language (member ai_query) are not supported.');
    const cursor = decodeCursor(body.cursor);
    await this.mustHaveSessions(tenantId, body.project_ids ?? []);
    const order = body.sort_order === 'ASC' ? 'asc' : 'desc';
    const page = { order, limit: body.page_size, cursor, skipPrevious: true } as const;
    const { keys, next } = await findRunPage(this.pool, tenantId, filterOf(body), page);
    return Readable.from(pageV2(this.rendering(context, body.selects), keys, `,${cursorJson(next)}`));
  }

  @Get('runs/:run_id')
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'Get a run (second version)' })
  @Answers({ 200: asText(runV2) })
  async one(
    @Context() context: CommandContext,
    @Id('run_id') runId: string,
    @Query(oneQuery) query: Infer<typeof oneQuery>,
  ): Promise<string> {
    await this.mustHaveSessions(context.tenantId, [query.project_id]);
    const { tenantId } = context;
    const place = await placeOfRun(this.pool, tenantId, runId);
    if (place?.session_id !== query.project_id) throw new NotFound(`Run ID ${runId} not found.`);
    return (await renderRunsV2(this.rendering(context, query.selects), [runId]))[0] ?? '{}';
  }

  @Post('datasets/:dataset_id/experiment-runs')
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'Get the runs of experiments side by side (second version)' })
  @Answers({ 200: asText(experimentRuns) })
  async experiments(
    @Context() context: CommandContext,
    @Id('dataset_id') datasetId: string,
    @Body(experimentBody) body: Infer<typeof experimentBody>,
  ): Promise<Readable> {
    const { experiment_ids, filters, example_ids, sort, page_size: size } = body;
    const view = await findView(this.pool, context.tenantId, datasetId, experiment_ids, filters, example_ids);
    const offset = offsetOf(body.cursor);
    const order = orderOf(sort?.by, sort?.order);
    const found = await findViewExamples(this.pool, context.tenantId, view, { ...order, offset, limit: size + 1 });
    const next = found.length > size ? encodeOffset(offset + size) : null;
    const renderRuns = (runs: readonly RunRow[]) => renderRowsV2(this.rendering(context, body.selects), runs);
    const render = (group: typeof found) => renderExamples(this.pool, context.tenantId, view, group, renderRuns);
    return Readable.from(pieces('{"items":[', batches(found.slice(0, size)), render, `],${cursorJson(next)}}`));
  }

  private rendering(context: CommandContext, selects: readonly V2Select[]): Rendering {
    const { tenantId } = context;
    const shareUrls = async (ids: readonly string[]) => {
      const tokens = await this.shares.tokens(tenantId, 'run', ids);
      if (tokens.size === 0) return tokens;
      const base = publicAddress(context, this.publicUrl.value).replace(/\/$/, '');
      return new Map([...tokens].map(([id, token]) => [id, `${base}/public/${token}/r`]));
    };
    return { pool: this.pool, tenantId, selects, links: this.attachments.links(context), shareUrls };
  }

  private async mustHaveSessions(tenantId: string, ids: readonly string[]): Promise<void> {
    const { rows } = await this.pool.query<{ id: string }>(
      'select id from sessions where tenant_id = $1 and id = any($2::uuid[])',
      [tenantId, ids],
    );
    const missing = ids.find((id) => !rows.some((row) => row.id === id));
    if (missing) throw new NotFound(`Session ID ${missing} not found.`);
  }
}

function filterOf(body: Infer<typeof queryBody>): RunFilter {
  return {
    id: body.ids,
    trace: body.trace_id,
    runType: body.run_type === undefined ? undefined : [body.run_type, body.run_type.toLowerCase()],
    session: body.project_ids,
    referenceExample: body.reference_examples,
    referenceDataset: body.reference_dataset_id,
    startTime: body.min_start_time?.iso,
    endTime: body.max_start_time?.iso,
    error: body.has_error,
    isRoot: body.is_root,
    filters: body.filter ? [body.filter] : [],
    ofRoot: body.trace_filter,
    ofTree: body.tree_filter,
    feedbackFrom: body.min_feedback_modified_at?.iso,
    feedbackBefore: body.max_feedback_modified_at?.iso,
  };
}

/** Clients take an absent cursor for the end. */
function cursorJson(next: string | null): string {
  return next === null ? '"has_more":false' : `"has_more":true,"next_cursor":${text(next)}`;
}

function encodeOffset(offset: number): string {
  return Buffer.from(`o${offset}`).toString('base64url');
}

function offsetOf(cursor: string | undefined): number {
  if (!cursor) return 0;
  const match = /^o(\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  if (!match) throw new BadRequest('The cursor is none that this service gave out.');
  return Number(match[1]);
}
