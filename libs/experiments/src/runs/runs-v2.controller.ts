import { Readable } from 'node:stream';
import { Access, Area, Describe, validateRequest } from '@fairlead/api';
import {
  BadRequest,
  bool,
  datetime,
  type Infer,
  int,
  list,
  literal,
  NotFound,
  note,
  object,
  optional,
  record,
  str,
  uuid,
} from '@fairlead/schema';
import { Controller, Get, Header, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { experimentsView } from '../sessions/experiments.view';
import { Pool } from 'pg';
import { renderExamples } from '../compare/comparison-view.render';
import { findViewExamples, sessionsOn } from '../compare/comparison-view.queries';
import { hasDataset } from '../datasets/datasets.queries';
import { runFeedbackStatistics } from '../feedback/feedback.statistics';
import { batches, pieces } from '../storage/pieces';
import { text } from '../platform-json';
import { idPath, iso, JSON_TEXT, oneOrMany } from '../reading.http';
import { type AttachmentLinks, RunAttachments } from '../storage/attachment.urls';
import { decodeCursor } from './run-cursor';
import { RUN_TYPES, type RunRow } from './run-json';
import { experimentRuns, runsPageV2, runV2 } from './runs.answers.schema';
import { findRunPage, readRuns } from './runs.queries';
import { READ_FOR, runV2Json, V2_SELECTS, type V2Select } from './runs-v2.json';

const MOST_EXAMPLES = 1000;
const UPPER_TYPES = ['TOOL', 'CHAIN', 'LLM', 'RETRIEVER', 'EMBEDDING', 'PROMPT', 'PARSER'] as const;
const selects = optional(list(literal(V2_SELECTS)), ['ID']);
const pageSize = optional(int({ ge: 1, le: 1000 }), 100);
const queryBody = object(
  {
    ai_query: optional(str()),
    cursor: optional(str()),
    filter: optional(str()),
    has_error: optional(bool()),
    ids: optional(list(uuid())),
    is_root: optional(bool()),
    max_feedback_modified_at: optional(note(datetime(), 'Exclusive; for the conditions on feedback in the filters.')),
    max_start_time: optional(datetime()),
    min_feedback_modified_at: optional(note(datetime(), 'Inclusive; for the conditions on feedback in the filters.')),
    min_start_time: optional(datetime()),
    page_size: pageSize,
    project_ids: optional(list(uuid())),
    reference_dataset_id: optional(uuid()),
    reference_examples: optional(list(uuid())),
    run_type: optional(literal(UPPER_TYPES)),
    selects,
    sort_order: optional(literal(['ASC', 'DESC']), 'DESC'),
    trace_filter: optional(str()),
    trace_id: optional(uuid()),
    tree_filter: optional(str()),
  },
  'QueryRunsRequestBody',
);
const oneQuery = object({
  project_id: uuid(),
  selects: optional(oneOrMany(literal(V2_SELECTS)), ['ID']),
  start_time: optional(datetime()),
});
const experimentBody = object(
  {
    experiment_ids: list(uuid(), { min: 1 }),
    example_ids: optional(list(uuid(), { max: MOST_EXAMPLES })),
    comparative_experiment_id: optional(uuid()),
    filters: optional(record(list(str())), {}),
    selects,
    sort: optional(object({ by: optional(str()), order: optional(literal(['ASC', 'DESC']), 'DESC') })),
    page_size: pageSize,
    cursor: optional(str()),
  },
  'QueryExperimentRunsRequestBody',
);
const runPath = idPath('run_id');
const datasetPath = idPath('dataset_id');

/** Run queries of the second version: upper-case selections, items with a cursor. */
@Area('Runs')
@Controller('v2')
export class RunsV2Controller {
  constructor(
    private readonly pool: Pool,
    private readonly attachments: RunAttachments,
  ) {}

  /** Without bounds every run counts, from the start of its session on. */
  @Post('runs/query')
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({
    summary: 'Query runs (second version)',
    description: 'Members are those of `selects`. Pages follow `next_cursor`.',
    body: queryBody,
    answers: { 200: runsPageV2, 404: 'There is no such session.' },
  })
  async query(@Req() request: FastifyRequest): Promise<Readable> {
    const { body } = validateRequest(request, { body: queryBody });
    const { tenantId } = request.actor;
    if (body.ai_query) throw new BadRequest('Queries in natural language (member ai_query) are not supported.');
    const cursor = body.cursor ? decodeCursor(body.cursor) : undefined;
    if (body.cursor && !cursor) throw new BadRequest('The cursor is none that this service gave out.');
    await this.mustHaveSessions(tenantId, body.project_ids ?? []);
    const filter = {
      id: body.ids,
      trace: body.trace_id,
      runType: body.run_type && RUN_TYPES[UPPER_TYPES.indexOf(body.run_type)],
      session: body.project_ids,
      referenceExample: body.reference_examples,
      referenceDataset: body.reference_dataset_id,
      startTime: iso(body.min_start_time),
      endTime: iso(body.max_start_time),
      error: body.has_error,
      isRoot: body.is_root,
      filters: body.filter ? [body.filter] : [],
      ofRoot: body.trace_filter,
      ofTree: body.tree_filter,
      feedbackFrom: iso(body.min_feedback_modified_at),
      feedbackBefore: iso(body.max_feedback_modified_at),
    };
    const order = body.sort_order === 'ASC' ? 'asc' : 'desc';
    const page = { order, limit: body.page_size, cursor, skipPrevious: true } as const;
    const { keys, next } = await findRunPage(this.pool, tenantId, filter, page);
    const render = (group: readonly { readonly id: string }[]) =>
      this.rendered(
        tenantId,
        group.map(({ id }) => id),
        body.selects,
        this.attachments.links(request),
      );
    return Readable.from(pieces('{"items":[', batches(keys), render, `],${cursorJson(next)}}`));
  }

  @Get('runs/:run_id')
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({ summary: 'Get a run (second version)', path: runPath, query: oneQuery, answers: { 200: runV2 } })
  async one(@Req() request: FastifyRequest): Promise<string> {
    const { path, query } = validateRequest(request, { path: runPath, query: oneQuery });
    await this.mustHaveSessions(request.actor.tenantId, [query.project_id]);
    const { tenantId } = request.actor;
    const { rowCount } = await this.pool.query(
      'select 1 from runs where id = $1 and session_id = $2 and tenant_id = $3',
      [path.run_id, query.project_id, tenantId],
    );
    if (!rowCount) throw new NotFound(`Run ID ${path.run_id} not found.`);
    return (await this.rendered(tenantId, [path.run_id], query.selects, this.attachments.links(request)))[0] ?? '{}';
  }

  @Post('datasets/:dataset_id/experiment-runs')
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({
    summary: 'Get the runs of experiments side by side (second version)',
    path: datasetPath,
    body: experimentBody,
    answers: { 200: experimentRuns },
  })
  async experiments(@Req() request: FastifyRequest): Promise<Readable> {
    const { path, body } = validateRequest(request, { path: datasetPath, body: experimentBody });
    const { tenantId } = request.actor;
    const { dataset_id: datasetId } = path;
    if (!(await hasDataset(this.pool, tenantId, datasetId))) throw new NotFound(`Dataset ID ${datasetId} not found.`);
    const sessionIds = await sessionsOn(this.pool, tenantId, datasetId, [...new Set(body.experiment_ids)]);
    const missing = body.experiment_ids.find((id) => !sessionIds.includes(id));
    if (missing) throw new NotFound(`Session ID ${missing} not found.`);
    const offset = offsetOf(body.cursor);
    const filters = Object.fromEntries(Object.entries(body.filters).filter(([id]) => sessionIds.includes(id)));
    const found = await findViewExamples(
      this.pool,
      { datasetId, sessionIds, exampleIds: body.example_ids, filters },
      {
        sortKey: body.sort?.by?.replace(/^feedback\./, ''),
        descending: body.sort?.order !== 'ASC',
        offset,
        limit: body.page_size + 1,
      },
    );
    const next = found.length > body.page_size ? encodeOffset(offset + body.page_size) : null;
    const render = (group: readonly { readonly id: string }[]) =>
      renderExamples(
        this.pool,
        tenantId,
        datasetId,
        group.map(({ id }) => id),
        sessionIds,
        (runs) => this.renderedRows(tenantId, runs, body.selects, this.attachments.links(request)),
      );
    const shown = found.slice(0, body.page_size);
    return Readable.from(pieces('{"items":[', batches(shown), render, `],${cursorJson(next)}}`));
  }

  private async rendered(
    tenantId: string,
    ids: readonly string[],
    selected: Infer<typeof queryBody>['selects'],
    links: AttachmentLinks,
  ): Promise<string[]> {
    const needed = new Set(selected.flatMap((select) => READ_FOR[select] ?? []));
    return this.renderedRows(tenantId, await readRuns(this.pool, tenantId, ids, needed), selected, links);
  }

  private async renderedRows(
    tenantId: string,
    rows: readonly RunRow[],
    selected: readonly V2Select[],
    links: AttachmentLinks,
  ): Promise<string[]> {
    const shown = new Set(selected);
    const ids = rows.map(({ id }) => id);
    const statistics = shown.has('FEEDBACK_STATS') ? await runFeedbackStatistics(this.pool, tenantId, ids) : undefined;
    return Promise.all(rows.map(async (row) => runV2Json(row, shown, statistics?.get(row.id), await links(row))));
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
