import { Access, Area, body, Describe, path, query } from '@fairlead/api';
import {
  anyJson,
  BadRequest,
  bool,
  datetime,
  type Infer,
  int,
  list,
  literal,
  object,
  optional,
  rawDict,
  str,
  uuid,
} from '@fairlead/schema';
import { Controller, Get, Header, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { experimentsView } from '../sessions/experiments.view';
import { Pool } from 'pg';
import type { Readable } from 'node:stream';
import { found, idPath, iso, JSON_TEXT, oneOrMany, sent } from '../reading.http';
import { RunAttachments } from '../storage/attachment.urls';
import { decodeCursor } from './run-cursor';
import { RUN_SELECT, RUN_TYPES } from './run-json';
import { runStatistics, STATS_SELECT } from './run-stats.queries';
import { run, runsPage, runStats } from './runs.answers.schema';
import { findRun, queryRuns, type RunFilter, type RunPage } from './runs.queries';

const MOST_RUNS = 100;

const selection = {
  id: optional(oneOrMany(uuid())),
  trace: optional(uuid()),
  parent_run: optional(uuid()),
  run_type: optional(literal(RUN_TYPES)),
  session: optional(oneOrMany(uuid())),
  reference_example: optional(oneOrMany(uuid())),
  execution_order: optional(int({ ge: 1, le: 1 })),
  start_time: optional(datetime()),
  end_time: optional(datetime()),
  error: optional(bool()),
  query: optional(str()),
  filter: optional(str()),
  trace_filter: optional(str()),
  tree_filter: optional(str()),
  is_root: optional(bool()),
  data_source_type: optional(literal(['current', 'historical', 'lite', 'root_lite', 'runs_feedbacks_rmt_wide'])),
  skip_pagination: optional(bool()),
  search_filter: optional(str()),
  use_experimental_search: optional(bool(), false),
};
// Clients look for the sentence of its own that more is answered with.
const fewRuns = { ...int({ ge: 1 }), json: { type: 'integer', minimum: 1, maximum: MOST_RUNS } };
const runsBody = object(
  {
    ...selection,
    cursor: optional(str()),
    limit: optional(fewRuns, MOST_RUNS),
    select: optional(list(literal(RUN_SELECT))),
    order: optional(literal(['asc', 'desc']), 'desc'),
    skip_prev_cursor: optional(bool(), false),
  },
  'BodyParamsForRunsQuerySchema',
);
const statsBody = object(
  {
    ...selection,
    group_by: optional(rawDict()),
    groups: optional(list(anyJson())),
    select: optional(list(literal(STATS_SELECT))),
  },
  'RunStatsQueryParams',
);
const runPath = idPath('run_id');
const runQuery = object({
  session_id: optional(uuid()),
  start_time: optional(datetime()),
  exclude_s3_stored_attributes: optional(bool(), false),
  exclude_serialized: optional(bool(), false),
  include_messages: optional(bool(), false),
});

@Area('Runs')
@Controller('api/v1/runs')
export class RunsController {
  constructor(
    private readonly pool: Pool,
    private readonly attachments: RunAttachments,
  ) {}

  @Post('query')
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({
    summary: 'Query runs',
    description: 'Pages follow `cursors.next`; it is null on the last one.',
    body: runsBody,
    answers: { 200: runsPage },
  })
  async query(@Req() request: FastifyRequest): Promise<string | Readable> {
    const asked = body(runsBody, request);
    if (asked.limit > MOST_RUNS) throw new BadRequest(`Limit exceeds maximum allowed value of ${MOST_RUNS}`);
    const page: RunPage = {
      order: asked.order,
      limit: asked.limit,
      cursor: cursorOf(asked.cursor),
      select: asked.select?.length ? asked.select : undefined,
      skipPrevious: asked.skip_prev_cursor,
    };
    return sent(
      await queryRuns(this.pool, request.actor.tenantId, filterOf(asked), page, this.attachments.links(request)),
    );
  }

  /** Statistics over all runs that a query would find. */
  @Post('stats')
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({
    summary: 'Get statistics of runs',
    description: 'Over all runs that the same query would find.',
    body: statsBody,
    answers: { 200: runStats, 400: 'The query cannot be answered.' },
  })
  async stats(@Req() request: FastifyRequest): Promise<string> {
    const asked = body(statsBody, request);
    if (asked.group_by || asked.groups) throw new BadRequest('Statistics by group (group_by) are not supported.');
    return runStatistics(this.pool, request.actor.tenantId, filterOf(asked), asked.select);
  }

  @Get(':run_id')
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({ summary: 'Get a run', path: runPath, query: runQuery, answers: { 200: run } })
  async one(@Req() request: FastifyRequest): Promise<string> {
    const { run_id: id } = path(runPath, request);
    const { session_id: session } = query(runQuery, request);
    const links = this.attachments.links(request);
    return found(await findRun(this.pool, request.actor.tenantId, id, links, session), 'Run ID', id);
  }
}

function filterOf(asked: Omit<Infer<typeof statsBody>, 'group_by' | 'groups' | 'select'>): RunFilter {
  if (asked.query) throw new BadRequest('Queries in natural language (member query) are not supported.');
  return {
    id: asked.id,
    trace: asked.trace,
    parentRun: asked.parent_run,
    runType: asked.run_type,
    session: asked.session,
    referenceExample: asked.reference_example,
    startTime: iso(asked.start_time),
    endTime: iso(asked.end_time),
    error: asked.error,
    isRoot: asked.is_root,
    filters: [asked.filter, asked.search_filter].flatMap((source) => source || []),
    ofRoot: asked.trace_filter,
    ofTree: asked.tree_filter,
  };
}

function cursorOf(text: string | undefined) {
  if (!text) return undefined;
  const cursor = decodeCursor(text);
  if (!cursor) throw new BadRequest('The cursor is none that this service gave out.');
  return cursor;
}
