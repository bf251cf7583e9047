import { EventStore, streamName } from '@fairlead/eventing';
import {
  Answers,
  Area,
  asText,
  CommandContext,
  Context,
  Describe,
  Scope,
  validateRequest,
  warnOfIgnored,
} from '@fairlead/api';
import {
  datetime,
  empty,
  fixed,
  type Infer,
  instant,
  note,
  object,
  optional,
  rawDict,
  requireSame,
  str,
  uuid,
} from '@fairlead/schema';
import { Controller, Delete, Header, Patch, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import type { FeedbackChanged } from '../sessions/experiment';
import { EXPERIMENTS_VIEW } from '../common/experiments-view';
import { feedback as answered } from './feedback.answers.schema';
import { scoreData } from './feedback-body';
import { FEEDBACK_COLUMNS, feedbackJson, type FeedbackRow } from './feedback.queries';
import { readOpaqueBody } from '../common/opaque-body.schema';
import { found, Id, idPath, JSON_TEXT } from '../common/reading';
import { feedbackMembers } from '../upload/upload-schema';

const { score, value, comment, correction } = feedbackMembers;
const changeBody = object('FeedbackUpdate', {
  score,
  value,
  comment,
  correction,
  id: fixed(uuid()),
  key: fixed(str()),
  run_id: fixed(uuid()),
  session_id: fixed(uuid()),
  trace_id: fixed(uuid()),
  comparative_experiment_id: fixed(uuid()),
  created_at: fixed(datetime()),
  start_time: fixed(datetime()),
  feedback_source: fixed(
    object({
      type: note(optional(str()), 'What gave the feedback.'),
      metadata: note(optional(rawDict()), 'Further facts about it.'),
    }),
  ),
  extra: fixed(rawDict()),
});
const KEPT = new Set(['score', 'value', 'comment', 'correction']);
const FIXED = [
  ...(['id', 'key', 'run_id', 'session_id', 'trace_id', 'comparative_experiment_id'] as const),
  ...(['created_at', 'start_time', 'feedback_source', 'extra'] as const),
] as const;
const KNOWN = new Set<string>([...KEPT, ...FIXED]);
const feedbackPath = idPath('feedback_id');

@Area('Feedback')
@Controller('api/v1/feedback')
export class FeedbackChangesController {
  constructor(
    private readonly pool: Pool,
    private readonly store: EventStore,
  ) {}

  @Patch(':feedback_id')
  @Header(...JSON_TEXT)
  @Scope('write', { stream: true, views: [EXPERIMENTS_VIEW] })
  @Describe({
    summary: 'Change feedback',
    description: 'Members that are absent, or null, stay as they are.',
    path: feedbackPath,
    body: changeBody,
    takes: ['x-reason'],
    gives: ['Warning'],
  })
  @Answers({ 200: asText(answered) })
  async change(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const sent = await readOpaqueBody(request);
    const { path, body: given } = validateRequest(request, { path: feedbackPath, body: changeBody });
    const { feedback_id: id } = path;
    const { metadata } = context;
    const row = await this.row(context.tenantId, id);
    const texts = sent.members();
    requireSameFeedback(given, texts, row);
    const change: FeedbackChanged['data'] = {
      id,
      ...(given.score !== undefined && { score_sent: null, ...scoreData(given.score, texts.get('score')) }),
      ...Object.fromEntries([...texts].filter(([name]) => KEPT.has(name) && name !== 'score')),
      modified_at: instant().iso,
    };
    warnOfIgnored(reply, sent.others(KNOWN));
    if (![...texts.keys()].some((name) => KEPT.has(name))) return feedbackJson(row);
    const event = { type: 'FeedbackChanged' as const, data: change };
    await this.store.append(streamName('experiment', row.session_id), 'any', [event], metadata);
    return feedbackJson({ ...row, ...change, modified: change.modified_at });
  }

  @Delete(':feedback_id')
  @Scope('write', { views: [EXPERIMENTS_VIEW] })
  @Describe({ summary: 'Delete feedback', takes: ['x-reason'] })
  @Answers({ 200: empty })
  async delete(@Context() context: CommandContext, @Id('feedback_id') id: string) {
    const { session_id } = await this.row(context.tenantId, id);
    const event = { type: 'FeedbackDeleted' as const, data: { id } };
    await this.store.append(streamName('experiment', session_id), 'any', [event], context.metadata);
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

/** @throws BadRequest when what the feedback is on, or where it is from, would change */
function requireSameFeedback(
  given: Infer<typeof changeBody>,
  texts: ReadonlyMap<string, string>,
  row: FeedbackRow,
): void {
  if (!FIXED.some((name) => given[name] !== undefined)) return;
  const parsed = (name: string) => (texts.has(name) ? (JSON.parse(texts.get(name)!) as object) : undefined);
  const present = JSON.parse(feedbackJson(row)) as Readonly<Record<string, object>>;
  const source = parsed('feedback_source');
  const sent = Object.fromEntries(FIXED.map((name) => [name, given[name]]));
  requireSame(
    {
      ...sent,
      feedback_source: source && { ...present.feedback_source, ...source },
      extra: parsed('extra'),
    },
    present,
  );
}
