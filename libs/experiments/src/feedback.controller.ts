import { EventStore, Followers, streamName } from '@fairlead/eventing';
import {
  Access,
  Area,
  BadRequest,
  body,
  bool,
  datetime,
  Describe,
  type Infer,
  instant,
  int,
  list,
  literal,
  metadataOf,
  note,
  num,
  object,
  optional,
  query,
  rawDict,
  shape,
  str,
  union,
  uuid,
  validateRequest,
} from '@fairlead/http';
import { Controller, Get, Header, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import { v4 as newId, v5 as idFrom } from 'uuid';
import type { FeedbackAdded } from './experiment';
import { experimentsView } from './experiments.view';
import { feedback as answered } from './feedback.answers.schema';
import { feedbackJson, findFeedback, findSubject, listFeedback, type Subject } from './feedback.queries';
import { type OpaqueBody, readOpaqueBody } from './opaque.body';
import { array } from './platform-json';
import { found, idPath, iso, JSON_TEXT, oneOrMany } from './reading.http';
import { scoreSchema } from './upload-schema';

const SOURCES = ['api', 'model', 'app', 'auto_eval'] as const;

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
const anyText = () => str({ anyText: true });
const config = object(
  {
    type: literal(['continuous', 'categorical', 'freeform']),
    min: optional(num()),
    max: optional(num()),
    is_lower_score_better: optional(bool()),
    categories: optional(list(object({ value: num(), label: optional(str({ min: 1, anyText: true })) }))),
  },
  'FeedbackConfig',
);
const createBody = object(
  {
    created_at: optional(datetime()),
    modified_at: optional(datetime()),
    key: str({ min: 1, max: 180 }),
    score: optional(scoreSchema),
    value: optional(union(num(), int(), bool(), anyText(), rawDict())),
    comment: optional(anyText()),
    correction: optional(union(rawDict(), anyText())),
    feedback_group_id: optional(uuid()),
    comparative_experiment_id: optional(uuid()),
    run_id: optional(note(uuid(), 'Needed when there is no session_id.')),
    session_id: optional(note(uuid(), 'Needed when there is no run_id.')),
    trace_id: optional(uuid()),
    start_time: optional(datetime()),
    id: optional(uuid()),
    feedback_source: optional(
      object({ type: optional(literal(SOURCES), 'api'), metadata: optional(rawDict()) }, 'FeedbackSource'),
    ),
    feedback_config: optional(config),
    error: optional(bool()),
    extra: optional(rawDict()),
  },
  'FeedbackCreateSchema',
);

@Area('Feedback')
@Controller('api/v1/feedback')
export class FeedbackController {
  constructor(
    private readonly pool: Pool,
    private readonly store: EventStore,
    private readonly followers: Followers,
  ) {}

  @Get()
  @Header(...JSON_TEXT)
  @Access('read')
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
  @Access('read')
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
  @Access('write', { stream: true })
  @Describe({
    summary: 'Give feedback on a run or a session',
    description: 'The same id again answers what is stored under it.',
    body: createBody,
    answers: { 200: answered, 404: 'There is no such run or session.' },
    takes: ['x-reason'],
  })
  async add(@Req() request: FastifyRequest): Promise<string> {
    const { tenantId } = request.actor;
    const sent = await readOpaqueBody(request);
    const given = body(createBody, request);
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
    const stored = given.id && (await findFeedback(this.pool, tenantId, given.id));
    if (stored) return stored;
    const data = this.added(sent, given, given.id ?? newId(), runId ?? null);
    // The same feedback sent twice at once is one event.
    const event = { type: 'FeedbackAdded', data, id: idFrom(data.id, session_id) };
    const { position } = await this.store.append(
      streamName('experiment', session_id),
      'any',
      [event],
      metadataOf(request),
    );
    await this.followers.passed(position, [experimentsView.name]);
    return feedbackJson({ ...data, session_id, run_start, created: data.created_at, modified: data.modified_at });
  }

  /** Feedback may come before the run that it is about, which clients send in batches: then it names its session. */
  private awaited(tenantId: string, sessionId: string): Promise<Subject | undefined> {
    return findSubject(this.pool, tenantId, 'session', sessionId);
  }

  /** The event's data: opaque members as the JSON text that was sent, truth values as scores of 1 and 0. */
  private added(
    body: OpaqueBody,
    given: Infer<typeof createBody>,
    id: string,
    runId: string | null,
  ): FeedbackAdded['data'] {
    const sent = body.members();
    const now = instant();
    return {
      id,
      run_id: runId,
      key: given.key,
      score: given.score === undefined ? null : Number(given.score),
      value: sent.get('value') ?? null,
      comment: sent.get('comment') ?? null,
      correction: sent.get('correction') ?? null,
      source_type: given.feedback_source?.type ?? 'api',
      source_metadata: body.members('feedback_source').get('metadata') ?? null,
      extra: sent.get('extra') ?? null,
      config: sent.get('feedback_config') ?? null,
      created_at: (given.created_at ?? now).iso,
      modified_at: (given.modified_at ?? now).iso,
      comparative_experiment_id: given.comparative_experiment_id ?? null,
    };
  }
}
