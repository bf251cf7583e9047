import { EventStore } from '@fairlead/eventing';
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
import { type FeedbackChanged, sessionStream } from '../session/experiment';
import { EXPERIMENTS_VIEWS } from '../common/experiments-view';
import { feedback as answered } from './feedback.answers.schema';
import { scoreData } from './feedback-body';
import { feedbackJson, type FeedbackRow, findFeedback } from './feedback.queries';
import { readOpaqueBody } from '../common/opaque-body.schema';
import { found, Id, idPath, JSON_TEXT } from '../common/reading';
import { feedbackMembers } from '../bodies/upload-schema';

const { score, value, comment, correction } = feedbackMembers;
const fixedMembers = {
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
};
const changeBody = object('FeedbackUpdate', { score, value, comment, correction, ...fixedMembers });
type Given = Infer<typeof changeBody>;
const KEPT = new Set(['score', 'value', 'comment', 'correction']);
const FIXED = Object.keys(fixedMembers) as (keyof typeof fixedMembers)[];
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
  @Scope('write', { stream: true, views: EXPERIMENTS_VIEWS })
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
    const row = await this.row(context.tenantId, path.feedback_id);
    requireSameFeedback(given, sent.members(), row);
    warnOfIgnored(reply, sent.others(KNOWN));
    const data = changeOf(row.id, given, sent.members());
    if (!data) return feedbackJson(row);
    const event = { type: 'FeedbackChanged' as const, data };
    await this.store.append(sessionStream(row.session_id), 'any', [event], context.metadata);
    return feedbackJson({ ...row, ...data, modified: data.modified_at });
  }

  @Delete(':feedback_id')
  @Scope('write', { views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'Delete feedback', takes: ['x-reason'] })
  @Answers({ 200: empty })
  async delete(@Context() context: CommandContext, @Id('feedback_id') id: string) {
    const { session_id } = await this.row(context.tenantId, id);
    const event = { type: 'FeedbackDeleted' as const, data: { id } };
    await this.store.append(sessionStream(session_id), 'any', [event], context.metadata);
    return {};
  }

  private async row(tenantId: string, id: string): Promise<FeedbackRow> {
    return found(await findFeedback(this.pool, tenantId, id), 'Feedback ID', id);
  }
}

/** Returns the changes that a body names, undefined without any. */
function changeOf(id: string, given: Given, texts: ReadonlyMap<string, string>): FeedbackChanged['data'] | undefined {
  const kept = [...texts].filter(([name]) => KEPT.has(name));
  if (kept.length === 0) return undefined;
  return {
    id,
    ...(given.score !== undefined && { score_sent: null, ...scoreData(given.score, texts.get('score')) }),
    ...Object.fromEntries(kept.filter(([name]) => name !== 'score')),
    modified_at: instant().iso,
  };
}

/** @throws BadRequest when what the feedback is on, or where it is from, would change */
function requireSameFeedback(given: Given, texts: ReadonlyMap<string, string>, row: FeedbackRow): void {
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
