import { EventStore, handle } from '@fairlead/eventing';
import { Answers, Area, asText, CommandContext, Context, Describe, Query, Scope, validateRequest } from '@fairlead/api';
import {
  anyJson,
  anyObject,
  BadRequest,
  bool,
  empty,
  type Infer,
  instant,
  list,
  note,
  NotFound,
  object,
  optional,
  str,
  timestamp,
  uuid,
} from '@fairlead/schema';
import { Controller, Delete, Get, Header, HttpCode, Patch, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import { EXPERIMENTS_VIEWS } from '../common/experiments-view';
import { configSchema } from './feedback-body';
import { readOpaqueBody } from '../common/opaque-body.schema';
import { array, object as json, raw, text } from '../common/platform-json';
import { JSON_TEXT, notOffered, oneOrMany, pageOf100 } from '../common/reading';
import { isoTime } from '../common/sql';
import { type FeedbackConfigChanged, feedbackConfigModel, feedbackConfigStream, setConfig } from './feedback-config';

const key = note(str({ min: 1, max: 180 }), 'The feedback key that is configured.');
const lower = 'True: comparisons count a lower score as better. Default false.';
const config = 'How the scores of the key are to be read.';
const createBody = object('FeedbackConfigCreate', {
  feedback_key: key,
  feedback_config: note(configSchema, config),
  is_lower_score_better: note(optional(bool()), lower),
});
const changeBody = object('FeedbackConfigUpdate', {
  feedback_key: key,
  feedback_config: note(optional(configSchema), `${config} Absent: unchanged.`),
  is_lower_score_better: note(optional(bool()), 'True: comparisons count a lower score as better. Absent: unchanged.'),
  add_categories: note(optional(list(anyJson())), 'Not supported: answered 501.'),
  remove_categories: note(optional(list(anyJson())), 'Not supported: answered 501.'),
});
const deleteQuery = object({ feedback_key: key });
const listQuery = object({
  key: note(optional(oneOrMany(str())), 'Only these keys; repeatable.'),
  name_contains: note(optional(str()), 'Only keys that contain this text, in upper or lower case.'),
  ...pageOf100,
});
const SINGLE_CATEGORIES =
  'Fairlead does not offer changes of single categories (add_categories, remove_categories): send the whole feedback_config.';
const answered = object('FeedbackConfigRecord', {
  tenant_id: note(uuid(), 'Workspace that the configuration belongs to.'),
  feedback_key: note(str(), 'Feedback key that is configured.'),
  feedback_config: note(anyObject(), 'How the scores of the key are to be read, as it was sent.'),
  is_lower_score_better: note(bool(), 'Whether comparisons count a lower score as better.'),
  modified_at: note(timestamp(), 'When the configuration was last set.'),
});

interface Row {
  readonly key: string;
  readonly config: string;
  readonly lower: boolean | null;
  readonly modified: string;
}

@Area('Feedback')
@Controller('api/v1/feedback-configs')
export class FeedbackConfigsController {
  constructor(
    private readonly pool: Pool,
    private readonly store: EventStore,
  ) {}

  @Get()
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'List the configurations of feedback keys', description: 'In the order of their keys.' })
  @Answers({ 200: asText(list(answered)) })
  async list(
    @Context() context: CommandContext,
    @Query(listQuery) { key: keys, name_contains, limit, offset }: Infer<typeof listQuery>,
  ): Promise<string> {
    const { tenantId } = context;
    const rows = await this.rows(tenantId, keys, name_contains, limit, offset);
    return array(rows.map((row) => record(tenantId, row)));
  }

  @Post()
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Scope('write', { stream: true, views: EXPERIMENTS_VIEWS })
  @Describe({
    summary: 'Configure a feedback key',
    description: 'The same configuration again is answered as it is stored.',
    body: createBody,
    takes: ['x-reason'],
  })
  @Answers({ 200: asText(answered), 400: 'The key has another configuration.' })
  async create(@Context() context: CommandContext, @Req() request: FastifyRequest): Promise<string> {
    const config = (await readOpaqueBody(request)).members().get('feedback_config')!;
    const { feedback_key, is_lower_score_better = false } = validateRequest(request, { body: createBody }).body;
    const [row] = await this.rows(context.tenantId, [feedback_key]);
    if (row && !(isSame(row.config, config) && (row.lower ?? false) === is_lower_score_better))
      throw new BadRequest(`The feedback key '${feedback_key}' already has another configuration.`);
    if (row) return record(context.tenantId, row);
    return this.set(context, { key: feedback_key, config, is_lower_score_better }, instant().iso, true);
  }

  @Patch()
  @Header(...JSON_TEXT)
  @Scope('write', { stream: true, views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'Change the configuration of a feedback key', body: changeBody, takes: ['x-reason'] })
  @Answers({
    200: asText(answered),
    404: 'The key has no configuration.',
    501: 'It adds or removes single categories.',
  })
  async change(@Context() context: CommandContext, @Req() request: FastifyRequest): Promise<string> {
    const config = (await readOpaqueBody(request)).members().get('feedback_config');
    const { body } = validateRequest(request, { body: changeBody });
    const { feedback_key, is_lower_score_better } = body;
    if (body.add_categories || body.remove_categories) throw notOffered(SINGLE_CATEGORIES);
    const row = await this.row(context, feedback_key);
    const lower = is_lower_score_better ?? row.lower ?? false;
    const wanted = { key: feedback_key, config: config ?? row.config, is_lower_score_better: lower };
    const isShown = wanted.config === row.config && lower === (row.lower ?? false);
    return this.set(context, wanted, row.modified, isShown);
  }

  @Delete()
  @Scope('write', { views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'Remove the configuration of a feedback key', takes: ['x-reason'] })
  @Answers({ 200: empty, 404: 'The key has no configuration.' })
  async delete(@Context() context: CommandContext, @Query(deleteQuery) { feedback_key }: Infer<typeof deleteQuery>) {
    await this.row(context, feedback_key);
    const event = { type: 'FeedbackConfigDeleted' as const, data: { key: feedback_key } };
    await this.store.append(feedbackConfigStream(context.tenantId, feedback_key), 'any', [event], context.metadata);
    return {};
  }

  private async set(
    context: CommandContext,
    wanted: FeedbackConfigChanged['data'],
    modifiedAt: string,
    isShown: boolean,
  ): Promise<string> {
    const stream = feedbackConfigStream(context.tenantId, wanted.key);
    const decide = setConfig(wanted, isShown);
    const { events } = await handle(this.store, feedbackConfigModel, stream, decide, context.metadata);
    const time = events.at(-1)?.time;
    const modified = time === undefined ? modifiedAt : time.replace(/Z$/, '000+00:00');
    const row = { key: wanted.key, config: wanted.config, lower: wanted.is_lower_score_better, modified };
    return record(context.tenantId, row);
  }

  private async row({ actor }: CommandContext, key: string): Promise<Row> {
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
