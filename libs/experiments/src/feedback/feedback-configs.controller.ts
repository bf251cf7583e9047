import { EventStore, handle, streamName } from '@fairlead/eventing';
import { Access, Area, body, Describe, metadataOf, query, shape } from '@fairlead/api';
import { BadRequest, bool, instant, int, NotFound, object, optional, str } from '@fairlead/schema';
import { Controller, Delete, Get, Header, HttpCode, Patch, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import { v5 as idFrom } from 'uuid';
import { experimentsView } from '../sessions/experiments.view';
import { configSchema } from './feedback.body';
import { readOpaqueBody } from '../opaque.body';
import { array, object as json, raw, text } from '../platform-json';
import { JSON_TEXT, oneOrMany } from '../reading.http';
import { isoTime } from '../sql';
import { type FeedbackConfigChanged, feedbackConfigModel, setConfig } from './feedback-config';

const key = str({ min: 1, max: 180 });
const createBody = object(
  { feedback_key: key, feedback_config: configSchema, is_lower_score_better: optional(bool()) },
  'FeedbackConfigCreate',
);
const changeBody = object(
  { feedback_key: key, feedback_config: optional(configSchema), is_lower_score_better: optional(bool()) },
  'FeedbackConfigUpdate',
);
const deleteQuery = object({ feedback_key: key });
const listQuery = object({
  key: optional(oneOrMany(str())),
  name_contains: optional(str()),
  limit: optional(int({ ge: 1, le: 100 }), 100),
  offset: optional(int({ ge: 0 }), 0),
});
const answered = shape.object('FeedbackConfigRecord', {
  tenant_id: shape.uuid,
  feedback_key: shape.text,
  feedback_config: shape.noted(shape.free, 'As sent.'),
  is_lower_score_better: shape.boolean,
  modified_at: shape.time,
});

interface Row {
  readonly key: string;
  readonly config: string;
  readonly lower: boolean | null;
  readonly modified: string;
}

/** How scores of feedback keys are to be read: their range, categories and direction. */
@Area('Feedback')
@Controller('api/v1/feedback-configs')
export class FeedbackConfigsController {
  constructor(
    private readonly pool: Pool,
    private readonly store: EventStore,
  ) {}

  @Get()
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({
    summary: 'List the configurations of feedback keys',
    description: 'In the order of their keys.',
    query: listQuery,
    answers: { 200: shape.list(answered) },
  })
  async list(@Req() request: FastifyRequest): Promise<string> {
    const { key: keys, name_contains, limit, offset } = query(listQuery, request);
    const { tenantId } = request.actor;
    const rows = await this.rows(tenantId, keys, name_contains, limit, offset);
    return array(rows.map((row) => record(tenantId, row)));
  }

  @Post()
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Access('write', { stream: true, views: [experimentsView.name] })
  @Describe({
    summary: 'Configure a feedback key',
    description: 'The same configuration again is answered as it is stored.',
    body: createBody,
    answers: { 200: answered, 400: 'The key has another configuration.' },
    takes: ['x-reason'],
  })
  async create(@Req() request: FastifyRequest): Promise<string> {
    const config = (await readOpaqueBody(request)).members().get('feedback_config')!;
    const { feedback_key, is_lower_score_better = false } = body(createBody, request);
    const [row] = await this.rows(request.actor.tenantId, [feedback_key]);
    if (row && !(isSame(row.config, config) && (row.lower ?? false) === is_lower_score_better))
      throw new BadRequest(`The feedback key '${feedback_key}' already has another configuration.`);
    if (row) return record(request.actor.tenantId, row);
    return this.set(request, { key: feedback_key, config, is_lower_score_better }, instant().iso);
  }

  @Patch()
  @Header(...JSON_TEXT)
  @Access('write', { stream: true, views: [experimentsView.name] })
  @Describe({
    summary: 'Change the configuration of a feedback key',
    body: changeBody,
    answers: { 200: answered, 404: 'The key has no configuration.' },
    takes: ['x-reason'],
  })
  async change(@Req() request: FastifyRequest): Promise<string> {
    const config = (await readOpaqueBody(request)).members().get('feedback_config');
    const { feedback_key, is_lower_score_better } = body(changeBody, request);
    const row = await this.row(request, feedback_key);
    const lower = is_lower_score_better ?? row.lower ?? false;
    const wanted = { key: feedback_key, config: config ?? row.config, is_lower_score_better: lower };
    return this.set(request, wanted, row.modified);
  }

  @Delete()
  @Access('write', { views: [experimentsView.name] })
  @Describe({
    summary: 'Remove the configuration of a feedback key',
    query: deleteQuery,
    answers: { 200: shape.empty, 404: 'The key has no configuration.' },
    takes: ['x-reason'],
  })
  async delete(@Req() request: FastifyRequest) {
    const { feedback_key } = query(deleteQuery, request);
    await this.row(request, feedback_key);
    const event = { type: 'FeedbackConfigDeleted', data: { key: feedback_key } };
    await this.store.append(streamOf(request, feedback_key), 'any', [event], metadataOf(request));
    return {};
  }

  /** `modifiedAt` is the time to answer when nothing changes. */
  private async set(
    request: FastifyRequest,
    wanted: FeedbackConfigChanged['data'],
    modifiedAt: string,
  ): Promise<string> {
    const metadata = { ...metadataOf(request), causationId: undefined };
    const stream = streamOf(request, wanted.key);
    const { events } = await handle(this.store, feedbackConfigModel, stream, setConfig(wanted), metadata);
    const time = events.at(-1)?.time;
    const modified = time === undefined ? modifiedAt : time.replace(/Z$/, '000+00:00');
    const row = { key: wanted.key, config: wanted.config, lower: wanted.is_lower_score_better, modified };
    return record(request.actor.tenantId, row);
  }

  /** @throws NotFound unless the workspace has configured the key. */
  private async row({ actor }: FastifyRequest, key: string): Promise<Row> {
    const [row] = await this.rows(actor.tenantId, [key]);
    if (!row) throw new NotFound(`Feedback config '${key}' not found.`);
    return row;
  }

  private async rows(tenantId: string, keys?: readonly string[], part?: string, limit = 1, offset = 0): Promise<Row[]> {
    const { rows } = await this.pool.query<Row>(
      `select key, config, is_lower_score_better as lower, ${isoTime('modified_at')} as modified from feedback_configs
       where tenant_id = $1 and ($2::text[] is null or key = any($2))
         and ($3::text is null or strpos(lower(key), lower($3)) > 0)
       order by key limit $4 offset $5`,
      [tenantId, keys?.length ? keys : null, part || null, limit, offset],
    );
    return rows;
  }
}

function streamOf({ actor }: FastifyRequest, key: string): string {
  return streamName('feedbackConfig', idFrom(key, actor.tenantId));
}

function isSame(a: string, b: string): boolean {
  return a === b || JSON.stringify(JSON.parse(a)) === JSON.stringify(JSON.parse(b));
}

function record(tenantId: string, { key, config, lower, modified }: Row): string {
  return json({
    tenant_id: text(tenantId),
    feedback_key: text(key),
    feedback_config: raw(config),
    is_lower_score_better: String(lower ?? false),
    modified_at: text(modified),
  });
}
