import { EventStore } from '@fairlead/eventing';
import {
  Answers,
  Area,
  asText,
  CommandContext,
  Context,
  Describe,
  Query,
  Scope,
  validateRequest,
  warnOfIgnored,
} from '@fairlead/api';
import { bool, type Infer, list, note, object, optional } from '@fairlead/schema';
import { Controller, Get, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import { v4 as newId } from 'uuid';
import { NamedComparisons } from './named-comparisons';
import { sessionStream } from '../session/experiment';
import { EXPERIMENTS_VIEWS } from '../common/experiments-view';
import {
  feedbackBody,
  feedbackData,
  type FeedbackQuery,
  feedbackQuery,
  ignoredFeedback,
  userNames,
} from './feedback-body';
import { feedback as answered } from './feedback.answers.schema';
import { feedbackJson, findFeedback, findHolder, listFeedback, requireSubject } from './feedback.queries';
import { addedTo } from './live-feedback.commands';
import { readOpaqueBody } from '../common/opaque-body.schema';
import { array } from '../common/platform-json';
import { found, Id, JSON_TEXT } from '../common/reading';

const oneQuery = object({ include_user_names: note(optional(bool()), userNames) });
@Area('Feedback')
@Controller('api/v1/feedback')
export class FeedbackController {
  constructor(
    private readonly pool: Pool,
    private readonly store: EventStore,
    private readonly comparisons: NamedComparisons,
  ) {}

  @Get()
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'List feedback', description: 'The newest first.' })
  @Answers({ 200: asText(list(answered)) })
  async list(@Context() context: CommandContext, @Query(feedbackQuery) asked: FeedbackQuery): Promise<string> {
    return array(await listFeedback(this.pool, context.tenantId, asked));
  }

  @Get(':feedback_id')
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'Get feedback' })
  @Answers({ 200: asText(answered) })
  async one(
    @Context() context: CommandContext,
    @Query(oneQuery) _: Infer<typeof oneQuery>,
    @Id('feedback_id') id: string,
  ): Promise<string> {
    return feedbackJson(found(await findFeedback(this.pool, context.tenantId, id), 'Feedback ID', id));
  }

  @Post()
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Scope('write', { stream: true, views: EXPERIMENTS_VIEWS })
  @Describe({
    summary: 'Give feedback on a run or a session',
    description: 'The same id again answers what is stored under it.',
    body: feedbackBody,
    takes: ['x-reason'],
    gives: ['Warning'],
  })
  @Answers({
    200: asText(answered),
    404: 'There is no such run, session or comparative experiment.',
    409: 'The id was deleted, or the run was replaced.',
  })
  async add(
    @Context() { tenantId, metadata }: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const sent = await readOpaqueBody(request);
    const { body: given } = validateRequest(request, { body: feedbackBody });
    const { session_id, run_start, run_id } = await requireSubject(this.pool, tenantId, given);
    if (given.comparative_experiment_id) await this.comparisons.find(tenantId, given.comparative_experiment_id);
    warnOfIgnored(reply, ignoredFeedback(sent));
    const stored = given.id && (await findHolder(this.pool, tenantId, given.id));
    if (stored) return feedbackJson(stored);
    const data = feedbackData(sent, given, given.id ?? newId(), run_id);
    await this.store.append(sessionStream(session_id), 'any', [addedTo(session_id, data)], metadata);
    return feedbackJson({ ...data, session_id, run_start, created: data.created_at, modified: data.modified_at });
  }
}
