import { EventStore, load, streamName } from '@fairlead/eventing';
import { Access, Area, body, Describe, metadataOf, query, shape, validateRequest, warnOfIgnored } from '@fairlead/api';
import {
  BadRequest,
  bool,
  Conflict,
  datetime,
  int,
  literal,
  NotFound,
  object,
  optional,
  str,
  uuid,
} from '@fairlead/schema';
import { Controller, Get, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import { v4 as newId, v5 as idFrom } from 'uuid';
import { comparativeExperimentModel } from '../compare/comparative-experiment';
import { experimentsView } from '../sessions/experiments.view';
import { feedbackBody, feedbackData, ignoredFeedback, SOURCES } from './feedback.body';
import { feedback as answered } from './feedback.answers.schema';
import { feedbackJson, findFeedback, findSubject, listFeedback, type Subject, wasDeleted } from './feedback.queries';
import { readOpaqueBody } from '../opaque.body';
import { array } from '../platform-json';
import { found, idPath, iso, JSON_TEXT, oneOrMany } from '../reading.http';

const listQuery = object({
  run: optional(oneOrMany(uuid())),
  key: optional(oneOrMany(str())),
  session: optional(oneOrMany(uuid())),
  source: optional(oneOrMany(literal(SOURCES))),
  limit: optional(int({ ge: 1, le: 100 }), 100),
  offset: optional(int({ ge: 0 }), 0),
  user: optional(oneOrMany(uuid())),
  has_comment: optional(bool()),
  has_score: optional(bool()),
  level: optional(literal(['run', 'session'])),
  max_created_at: optional(datetime()),
  min_created_at: optional(datetime()),
  include_user_names: optional(bool()),
  comparative_experiment_id: optional(uuid()),
});
const feedbackPath = idPath('feedback_id');
const oneQuery = object({ include_user_names: optional(bool()) });
@Area('Feedback')
@Controller('api/v1/feedback')
export class FeedbackController {
  constructor(
    private readonly pool: Pool,
    private readonly store: EventStore,
  ) {}

  @Get()
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({
    summary: 'List feedback',
    description: 'The newest first.',
    query: listQuery,
    answers: { 200: shape.list(answered) },
  })
  async list(@Req() request: FastifyRequest): Promise<string> {
    const asked = query(listQuery, request);
    const feedback = await listFeedback(this.pool, request.actor.tenantId, {
      ...asked,
      comparativeExperiment: asked.comparative_experiment_id,
      hasComment: asked.has_comment,
      hasScore: asked.has_score,
      minCreatedAt: iso(asked.min_created_at),
      maxCreatedAt: iso(asked.max_created_at),
    });
    return array(feedback);
  }

  @Get(':feedback_id')
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({ summary: 'Get feedback', path: feedbackPath, query: oneQuery, answers: { 200: answered } })
  async one(@Req() request: FastifyRequest): Promise<string> {
    const { path: asked } = validateRequest(request, {
      path: feedbackPath,
      query: oneQuery,
    });
    return found(
      await findFeedback(this.pool, request.actor.tenantId, asked.feedback_id),
      'Feedback ID',
      asked.feedback_id,
    );
  }

  /** Feedback on a run, or on a session when no run is named. The same id again answers what is stored under it. */
  @Post()
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Access('write', { stream: true, views: [experimentsView.name] })
  @Describe({
    summary: 'Give feedback on a run or a session',
    description: 'The same id again answers what is stored under it.',
    body: feedbackBody,
    answers: {
      200: answered,
      404: 'There is no such run, session or comparative experiment.',
      409: 'The id was deleted.',
    },
    takes: ['x-reason'],
    gives: ['Warning'],
  })
  async add(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    const { tenantId } = request.actor;
    const sent = await readOpaqueBody(request);
    const given = body(feedbackBody, request);
    const runId = given.run_id ?? given.trace_id;
    const about = runId ?? given.session_id;
    if (about === undefined) throw new BadRequest('Feedback needs a run_id or a session_id.');
    const subject = await findSubject(this.pool, tenantId, runId ? 'run' : 'session', about);
    const { session_id, run_start } = found(
      subject ?? (runId && given.session_id ? await this.awaited(tenantId, given.session_id) : undefined),
      runId ? 'Run ID' : 'Session ID',
      about,
    );
    if (given.session_id && given.session_id !== session_id)
      throw new BadRequest('The run is not of the session named by session_id.');
    if (given.comparative_experiment_id) await this.mustCompare(tenantId, given.comparative_experiment_id);
    warnOfIgnored(reply, ignoredFeedback(sent));
    const stored = given.id && (await findFeedback(this.pool, tenantId, given.id));
    if (stored) return stored;
    if (given.id && (await wasDeleted(this.pool, tenantId, given.id)))
      throw new Conflict(`Feedback ID ${given.id} was deleted and cannot be used again.`);
    const data = feedbackData(sent, given, given.id ?? newId(), runId ?? null);
    // The same feedback sent twice at once is one event.
    const event = { type: 'FeedbackAdded', data, id: idFrom(data.id, session_id) };
    await this.store.append(streamName('experiment', session_id), 'any', [event], metadataOf(request));
    return feedbackJson({ ...data, session_id, run_start, created: data.created_at, modified: data.modified_at });
  }

  /** @throws NotFound unless the tenant has this comparative experiment. */
  private async mustCompare(tenantId: string, id: string): Promise<void> {
    const { state } = await load(this.store, comparativeExperimentModel, streamName('comparativeExperiment', id));
    if (!state.exists || state.tenant !== tenantId) throw new NotFound(`Comparative experiment ID ${id} not found.`);
  }

  /** Feedback may come before the run that it is about, which clients send in batches: then it names its session. */
  private awaited(tenantId: string, sessionId: string): Promise<Subject | undefined> {
    return findSubject(this.pool, tenantId, 'session', sessionId);
  }
}
