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
import {
  BadRequest,
  bool,
  Conflict,
  datetime,
  type Infer,
  list,
  literal,
  note,
  object,
  optional,
  str,
  uuid,
} from '@fairlead/schema';
import { Controller, Get, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import { v4 as newId, v5 as idFrom } from 'uuid';
import { ComparativeExperimentCommands } from '../comparative/comparative-experiments.commands';
import { sessionStream } from '../sessions/experiment';
import { findReplacements, replacedSentence } from './replacements.queries';
import { EXPERIMENTS_VIEW } from '../common/experiments-view';
import { feedbackBody, feedbackData, ignoredFeedback, SOURCES } from './feedback-body';
import { feedback as answered } from './feedback.answers.schema';
import { feedbackJson, findFeedback, findSubject, listFeedback, type Subject, wasDeleted } from './feedback.queries';
import { readOpaqueBody } from '../common/opaque-body.schema';
import { array } from '../common/platform-json';
import { found, Id, JSON_TEXT, oneOrMany, pageOf100 } from '../common/reading';

const userNames = 'Accepted because clients send it; there are no users, so that nothing changes.';
const listQuery = object({
  run: note(optional(oneOrMany(uuid())), 'Only feedback on these runs; repeatable.'),
  key: note(optional(oneOrMany(str())), 'Only feedback with these keys; repeatable.'),
  session: note(optional(oneOrMany(uuid())), 'Only feedback on these sessions and their runs; repeatable.'),
  source: note(optional(oneOrMany(literal(SOURCES))), 'Only feedback from these kinds of sources; repeatable.'),
  ...pageOf100,
  user: note(optional(oneOrMany(uuid())), 'Only feedback from these users: none, because feedback has no users here.'),
  has_comment: note(optional(bool()), 'True: only feedback with a comment. False: only feedback without.'),
  has_score: note(optional(bool()), 'True: only feedback with a score. False: only feedback without.'),
  level: note(
    optional(literal(['run', 'session'])),
    '`run`: only feedback on runs. `session`: only feedback on whole sessions.',
  ),
  max_created_at: note(optional(datetime()), 'Only feedback that was given up to this time.'),
  min_created_at: note(optional(datetime()), 'Only feedback that was given from this time on.'),
  include_user_names: note(optional(bool()), userNames),
  comparative_experiment_id: note(optional(uuid()), 'Only feedback that belongs to this comparative experiment.'),
});
const oneQuery = object({ include_user_names: note(optional(bool()), userNames) });
@Area('Feedback')
@Controller('api/v1/feedback')
export class FeedbackController {
  constructor(
    private readonly pool: Pool,
    private readonly store: EventStore,
    private readonly comparisons: ComparativeExperimentCommands,
  ) {}

  @Get()
  @Header(...JSON_TEXT)
  @Scope('read', { views: [EXPERIMENTS_VIEW] })
  @Describe({ summary: 'List feedback', description: 'The newest first.' })
  @Answers({ 200: asText(list(answered)) })
  async list(@Context() context: CommandContext, @Query(listQuery) asked: Infer<typeof listQuery>): Promise<string> {
    const feedback = await listFeedback(this.pool, context.tenantId, {
      ...asked,
      comparativeExperiment: asked.comparative_experiment_id,
      hasComment: asked.has_comment,
      hasScore: asked.has_score,
      minCreatedAt: asked.min_created_at?.iso,
      maxCreatedAt: asked.max_created_at?.iso,
    });
    return array(feedback);
  }

  @Get(':feedback_id')
  @Header(...JSON_TEXT)
  @Scope('read', { views: [EXPERIMENTS_VIEW] })
  @Describe({ summary: 'Get feedback' })
  @Answers({ 200: asText(answered) })
  async one(
    @Context() context: CommandContext,
    @Query(oneQuery) _: Infer<typeof oneQuery>,
    @Id('feedback_id') id: string,
  ): Promise<string> {
    return found(await findFeedback(this.pool, context.tenantId, id), 'Feedback ID', id);
  }

  @Post()
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Scope('write', { stream: true, views: [EXPERIMENTS_VIEW] })
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
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const { tenantId } = context;
    const sent = await readOpaqueBody(request);
    const { body: given } = validateRequest(request, { body: feedbackBody });
    const runId = given.run_id ?? given.trace_id;
    const about = runId ?? given.session_id;
    if (about === undefined) throw new BadRequest('Feedback needs a run_id or a session_id.');
    const subject = await findSubject(this.pool, tenantId, runId ? 'run' : 'session', about);
    if (runId && !subject) await this.refuseReplaced(tenantId, runId);
    const { session_id, run_start } = found(
      subject ?? (runId && given.session_id ? await this.awaited(tenantId, given.session_id) : undefined),
      runId ? 'Run ID' : 'Session ID',
      about,
    );
    if (given.session_id && given.session_id !== session_id)
      throw new BadRequest('The run is not of the session named by session_id.');
    if (given.comparative_experiment_id) await this.comparisons.find(tenantId, given.comparative_experiment_id);
    warnOfIgnored(reply, ignoredFeedback(sent));
    const stored = given.id && (await findFeedback(this.pool, tenantId, given.id));
    if (stored) return stored;
    if (given.id && (await wasDeleted(this.pool, tenantId, given.id)))
      throw new Conflict(`Feedback ID ${given.id} was deleted and cannot be used again.`);
    const data = feedbackData(sent, given, given.id ?? newId(), runId ?? null);
    // The same feedback sent twice at once is one event.
    const event = { type: 'FeedbackAdded' as const, data, id: idFrom(data.id, session_id) };
    await this.store.append(sessionStream(session_id), 'any', [event], context.metadata);
    return feedbackJson({ ...data, session_id, run_start, created: data.created_at, modified: data.modified_at });
  }

  private async refuseReplaced(tenantId: string, id: string): Promise<void> {
    const replacement = (await findReplacements(this.pool, tenantId, [id])).get(id);
    if (replacement) throw new Conflict(replacedSentence(id, replacement));
  }

  /** Feedback may come before the run that it is about, which clients send in batches: then it names its session. */
  private awaited(tenantId: string, sessionId: string): Promise<Subject | undefined> {
    return findSubject(this.pool, tenantId, 'session', sessionId);
  }
}
