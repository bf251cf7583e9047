import { Answers, Area, asText, Body, CommandContext, Context, Describe, Query, Scope } from '@fairlead/api';
import {
  anyJson,
  BadRequest,
  bool,
  datetime,
  type Infer,
  int,
  list,
  literal,
  note,
  object,
  optional,
  rawDict,
  str,
  uuid,
} from '@fairlead/schema';
import { Controller, Get, Header, HttpCode, Post } from '@nestjs/common';
import { EXPERIMENTS_VIEWS } from '../common/experiments-view';
import { Pool } from 'pg';
import type { Readable } from 'node:stream';
import { found, Id, JSON_TEXT, oneOrMany, sent } from '../common/reading';
import { Attachments } from '../persist/attachments.service';
import { decodeCursor } from './run-cursor';
import { RUN_SELECT } from './run-json';
import { runStatistics, STATS_SELECT } from './run-stats.queries';
import { findReplacedRun } from './replaced-runs.queries';
import { run, runsPage, runStats } from './runs.answers.schema';
import { findRun, queryRuns, type RunFilter, type RunPage } from './runs.queries';

const MOST_RUNS = 100;

const selection = {
  id: note(optional(oneOrMany(uuid())), 'Only these runs.'),
  trace: note(optional(uuid()), 'Only runs of this trace.'),
  parent_run: note(optional(uuid()), 'Only steps of this run.'),
  run_type: note(optional(str()), 'Only runs of this kind.'),
  session: note(optional(oneOrMany(uuid())), 'Only runs of these sessions.'),
  reference_example: note(optional(oneOrMany(uuid())), 'Only runs that were made for these examples.'),
  execution_order: note(optional(int({ ge: 1, le: 1 })), 'Only 1, which every run has.'),
  start_time: note(optional(datetime()), 'Only runs that start at this time or later.'),
  end_time: note(optional(datetime()), 'Only runs that start at this time or earlier.'),
  error: note(optional(bool()), 'True: only runs that failed. False: only others.'),
  query: note(optional(str()), 'Not supported: a query in natural language is answered 400.'),
  filter: note(
    optional(str()),
    'Only runs for which this expression is true, such as `and(eq(status, "error"), gt(latency, 2))`.',
  ),
  trace_filter: note(optional(str()), 'Only runs whose root run fulfils this expression.'),
  tree_filter: note(optional(str()), 'Only runs with a run in their trace that fulfils this expression.'),
  is_root: note(optional(bool()), 'True: only root runs. False: only steps.'),
  data_source_type: note(
    optional(literal(['current', 'historical', 'lite', 'root_lite', 'runs_feedbacks_rmt_wide'])),
    'Accepted because clients send it; it changes nothing.',
  ),
  skip_pagination: note(optional(bool()), 'Accepted because clients send it; it changes nothing.'),
  search_filter: note(optional(str()), 'A further expression, like `filter`; both must be true.'),
  use_experimental_search: note(optional(bool(), false), 'Accepted because clients send it; it changes nothing.'),
};
// Clients look for the sentence of its own that more is answered with.
const fewRuns = { ...int({ ge: 1 }), json: { type: 'integer', minimum: 1, maximum: MOST_RUNS } };
const runsBody = object('BodyParamsForRunsQuerySchema', {
  ...selection,
  cursor: note(optional(str()), 'The `cursors.next` or `cursors.prev` of an earlier page; absent: the first page.'),
  limit: note(optional(fewRuns, MOST_RUNS), 'Largest number of runs in the answer.'),
  select: note(
    optional(list(literal(RUN_SELECT))),
    'Members to answer. The others are null, but for those that clients always need. Default: all.',
  ),
  order: note(optional(literal(['asc', 'desc']), 'desc'), '`desc`: the newest first.'),
  skip_prev_cursor: note(optional(bool(), false), 'True: `cursors.prev` is null, which saves work.'),
});
const statsBody = object('RunStatsQueryParams', {
  ...selection,
  group_by: note(optional(rawDict()), 'Not supported: answered 400.'),
  groups: note(optional(list(anyJson())), 'Not supported: answered 400.'),
  select: note(optional(list(literal(STATS_SELECT))), 'Statistics to answer. Default: all.'),
});
const runQuery = object({
  session_id: note(optional(uuid()), 'Only a run of this session.'),
  start_time: note(optional(datetime()), 'Accepted because clients send it; it changes nothing.'),
  exclude_s3_stored_attributes: note(optional(bool(), false), 'Accepted because clients send it; it changes nothing.'),
  exclude_serialized: note(optional(bool(), false), 'Accepted because clients send it; it changes nothing.'),
  include_messages: note(optional(bool(), false), 'Accepted because clients send it; `messages` is always null.'),
});

@Area('Runs')
@Controller('api/v1/runs')
export class RunsController {
  constructor(
    private readonly pool: Pool,
    private readonly attachments: Attachments,
  ) {}

  @Post('query')
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'Query runs', description: 'Pages follow `cursors.next`; it is null on the last one.' })
  @Answers({ 200: asText(runsPage) })
  async query(
    @Context() context: CommandContext,
    @Body(runsBody) asked: Infer<typeof runsBody>,
  ): Promise<string | Readable> {
    if (asked.limit > MOST_RUNS) throw new BadRequest(`Limit exceeds maximum allowed value of ${MOST_RUNS}`);
    const page: RunPage = {
      order: asked.order,
      limit: asked.limit,
      cursor: decodeCursor(asked.cursor),
      select: asked.select?.length ? asked.select : undefined,
      skipPrevious: asked.skip_prev_cursor,
    };
    return sent(await queryRuns(this.pool, context.tenantId, filterOf(asked), page, this.attachments.links(context)));
  }

  @Post('stats')
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'Get statistics of runs', description: 'Over all runs that the same query would find.' })
  @Answers({ 200: asText(runStats), 400: 'The query cannot be answered.' })
  async stats(@Context() context: CommandContext, @Body(statsBody) asked: Infer<typeof statsBody>): Promise<string> {
    if (asked.group_by || asked.groups) throw new BadRequest('Statistics by group (group_by) are not supported.');
    return runStatistics(this.pool, context.tenantId, filterOf(asked), asked.select);
  }

  @Get(':run_id')
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({
    summary: 'Get a run',
    description: 'Runs that were replaced when their row was filled are found as well.',
  })
  @Answers({ 200: asText(run) })
  async one(
    @Context() context: CommandContext,
    @Id('run_id') id: string,
    @Query(runQuery) { session_id: session }: Infer<typeof runQuery>,
  ): Promise<string> {
    const links = this.attachments.links(context);
    const { tenantId } = context;
    const json =
      (await findRun(this.pool, tenantId, id, links, session)) ??
      (await findReplacedRun(this.pool, tenantId, id, session));
    return found(json, 'Run ID', id);
  }
}

function filterOf(asked: Omit<Infer<typeof statsBody>, 'group_by' | 'groups' | 'select'>): RunFilter {
  if (asked.query) throw new BadRequest('Queries in natural language (member query) are not supported.');
  return {
    id: asked.id,
    trace: asked.trace,
    parentRun: asked.parent_run,
    runType: asked.run_type === undefined ? undefined : [asked.run_type],
    session: asked.session,
    referenceExample: asked.reference_example,
    startTime: asked.start_time?.iso,
    endTime: asked.end_time?.iso,
    error: asked.error,
    isRoot: asked.is_root,
    filters: [asked.filter, asked.search_filter].flatMap((source) => source || []),
    ofRoot: asked.trace_filter,
    ofTree: asked.tree_filter,
  };
}
