import { EventStore, streamName } from '@fairlead/eventing';
import { Access, Area, body, Describe, metadataOf, path, shape, warnOfIgnored } from '@fairlead/api';
import { bool, instant, int, num, object, optional, rawDict, str, union } from '@fairlead/schema';
import { Controller, Delete, Header, Patch, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import type { FeedbackChanged } from '../sessions/experiment';
import { experimentsView } from '../sessions/experiments.view';
import { feedback as answered } from './feedback.answers.schema';
import { scoreData } from './feedback.body';
import { FEEDBACK_COLUMNS, feedbackJson, type FeedbackRow } from './feedback.queries';
import { readOpaqueBody } from '../opaque.body';
import { found, idPath, JSON_TEXT } from '../reading.http';
import { scoreSchema } from '../upload/upload-schema';

const anyText = () => str({ anyText: true });
const changeBody = object(
  {
    score: optional(scoreSchema),
    value: optional(union(num(), int(), bool(), anyText(), rawDict())),
    comment: optional(anyText()),
    correction: optional(union(rawDict(), anyText())),
  },
  'FeedbackUpdate',
);
const KEPT = new Set(['score', 'value', 'comment', 'correction']);
const feedbackPath = idPath('feedback_id');

/** Changes feedback that was given, whoever gave it, and takes it back. */
@Area('Feedback')
@Controller('api/v1/feedback')
export class FeedbackChangesController {
  constructor(
    private readonly pool: Pool,
    private readonly store: EventStore,
  ) {}

  @Patch(':feedback_id')
  @Header(...JSON_TEXT)
  @Access('write', { stream: true, views: [experimentsView.name] })
  @Describe({
    summary: 'Change feedback',
    description: 'Members that are absent, or null, stay as they are.',
    path: feedbackPath,
    body: changeBody,
    answers: { 200: answered },
    takes: ['x-reason'],
    gives: ['Warning'],
  })
  async change(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    const sent = await readOpaqueBody(request);
    const { feedback_id: id } = path(feedbackPath, request);
    const given = body(changeBody, request);
    const metadata = metadataOf(request);
    const row = await this.row(request.actor.tenantId, id);
    const texts = sent.members();
    const change: FeedbackChanged['data'] = {
      id,
      ...(given.score !== undefined && { score_sent: null, ...scoreData(given.score, texts.get('score')) }),
      ...Object.fromEntries([...texts].filter(([name]) => KEPT.has(name) && name !== 'score')),
      modified_at: instant().iso,
    };
    warnOfIgnored(reply, sent.others(KEPT));
    if (texts.size === sent.others(KEPT).length) return feedbackJson(row);
    const event = { type: 'FeedbackChanged', data: change };
    await this.store.append(streamName('experiment', row.session_id), 'any', [event], metadata);
    return feedbackJson({ ...row, ...change, modified: change.modified_at });
  }

  @Delete(':feedback_id')
  @Access('write', { views: [experimentsView.name] })
  @Describe({ summary: 'Delete feedback', path: feedbackPath, answers: { 200: shape.empty }, takes: ['x-reason'] })
  async delete(@Req() request: FastifyRequest) {
    const { feedback_id: id } = path(feedbackPath, request);
    const { session_id } = await this.row(request.actor.tenantId, id);
    const event = { type: 'FeedbackDeleted', data: { id } };
    await this.store.append(streamName('experiment', session_id), 'any', [event], metadataOf(request));
    return {};
  }

  /** @throws NotFound unless the tenant has this feedback. */
  private async row(tenantId: string, id: string): Promise<FeedbackRow> {
    const { rows } = await this.pool.query<FeedbackRow>(
      `select ${FEEDBACK_COLUMNS} from feedback f where f.id = $1 and f.tenant_id = $2`,
      [id, tenantId],
    );
    return found(rows[0], 'Feedback ID', id);
  }
}
