import { type CutBody, JsonCutter, type LargePart, PartCutter, PayloadStore } from '@fairlead/blobs';
import { Consistency, EventStore, StoredBytes } from '@fairlead/eventing';
import {
  Answers,
  Area,
  CommandContext,
  Context,
  Describe,
  requireJson,
  Scope,
  validateRequest,
  warnOfIgnored,
} from '@fairlead/api';
import { readStream } from '@fairlead/edge';
import { anyObject, empty, int, list, note, nullable, object, requireSame, str, union } from '@fairlead/schema';
import { Controller, HttpCode, Patch, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import {
  batchBody,
  MOST_BYTES,
  MOST_MEMBER_BYTES,
  mostOfPart,
  runBody,
  runChange,
  type SentParts,
} from './live-runs-body';
import { receiveRuns, sessionOfRun } from './live-runs.commands';
import type { BodyKind } from './read-run-body';
import { nothingStored, refusedList } from '../../refused/refusal';
import { RefusedItems } from '../../refused/refused-items.store';
import { LiveRunsThread } from './live-runs-thread.service';
import { ExperimentLimits } from '../../bodies/experiment-limits';
import { readCut } from '../../bodies/parts-body.schema';
import { RunBatches } from '../../batch/run-batches.store';
import { SessionCommands } from '../../session/sessions.commands';
import { idPath } from '../../common/reading';
import { UploadThread } from '../../bodies/upload-thread.service';

/**
 * Bytes that are kept of a body. Clients end a batch with the run by which it exceeds what they were told, so
 * that it can be twice as large. A run that repeats itself may be larger than that and is read over, however few bytes it
 * came in.
 */
const KEPT = { kept: 2 * MOST_BYTES, anyRatio: 128 * 1024 * 1024 };
const OF_JSON = { member: MOST_MEMBER_BYTES, run: MOST_BYTES, kept: KEPT.kept };
const runPath = idPath('run_id');

const REFUSED_NOTE =
  'Items that were not stored, at most a thousand, then one with their number; absent when all were stored.';
const batchAnswer = object('RunBatchAnswer', {
  'refused?': note(
    list(
      object('RefusedItem', {
        id: note(nullable(str()), 'Identifier of the run or feedback as it was sent; null when it has none.'),
        loc: note(list(union(str(), int())), 'Place in the request: names of members and parts, positions in lists.'),
        msg: note(str(), 'Reason in one sentence.'),
      }),
    ),
    REFUSED_NOTE,
  ),
});
const BATCH_ANSWERS = {
  202: batchAnswer,
  403: 'Nothing was stored: all of it is for another project.',
  404: 'Nothing was stored: there is no such session.',
  409: 'Nothing was stored: the experiments were uploaded, or too much feedback waits for its run.',
  413: 'Nothing was stored: all of it is too large.',
  422: 'Nothing was stored: `detail` and `refused` have the reasons.',
} as const;

@Area('Runs')
@Controller('api/v1/runs')
export class LiveRunsController {
  constructor(
    readonly pool: Pool,
    readonly store: EventStore,
    readonly consistency: Consistency,
    readonly sessions: SessionCommands,
    private readonly thread: LiveRunsThread,
    readonly payloads: PayloadStore,
    readonly batches: RunBatches,
    readonly stored: StoredBytes,
    private readonly limits: ExperimentLimits,
    private readonly uploads: UploadThread,
    private readonly refusals: RefusedItems,
  ) {}

  @Post()
  @HttpCode(202)
  @Scope('write', { stream: true, programs: true })
  @Describe({
    summary: 'Send a run',
    description: 'It goes into the session that it names, which is made when it is not there.',
    body: runBody,
    takes: ['Content-Encoding', 'x-reason'],
    gives: ['Warning'],
  })
  @Answers({
    202: empty,
    404: 'There is no such session.',
    409: 'The id is taken, or the experiment was uploaded.',
  })
  async create(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { body, large } = await this.readJson(request, 'run');
    return this.receive(context, reply, await this.read(context, 'run', body, undefined, large));
  }

  @Post('batch')
  @HttpCode(202)
  @Scope('write', { stream: true, programs: true })
  @Describe({
    summary: 'Send many runs',
    description: 'Those that can be stored are stored; `refused` has the others.',
    body: batchBody,
    takes: ['Content-Encoding', 'x-reason'],
    gives: ['Warning'],
  })
  @Answers(BATCH_ANSWERS)
  async batch(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { body, large } = await this.readJson(request, 'batch');
    return this.receiveBatch(context, reply, await this.read(context, 'batch', body, undefined, large));
  }

  @Post('multipart')
  @HttpCode(202)
  @Scope('write', { stream: true, programs: true })
  @Describe({
    summary: 'Send many runs in parts',
    description:
      'The part `post.<id>` or `patch.<id>` is a run, `post.<id>.inputs` and the like are its members; `feedback.<id>` is a feedback, which may come before its run; `attachment.<id>.<name>` is an attachment of a run. Those that can be stored are stored; `refused` has the others.',
    body: { content: { 'multipart/form-data': anyObject() } },
    takes: ['Content-Encoding', 'x-reason'],
    gives: ['Warning'],
  })
  @Answers(BATCH_ANSWERS)
  async multipart(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { body, large } = await this.cut(request, (type) => new PartCutter(type, mostOfPart, KEPT.kept));
    const sent = await this.read(context, 'multipart', body, request.headers['content-type'], large);
    return this.receiveBatch(context, reply, sent);
  }

  @Patch(':run_id')
  @HttpCode(202)
  @Scope('write', { stream: true, programs: true })
  @Describe({
    summary: 'Change a run',
    path: runPath,
    body: runChange,
    takes: ['Content-Encoding', 'x-reason'],
    gives: ['Warning'],
  })
  @Answers({ 202: empty, 400: 'It names another session.', 409: 'The experiment was uploaded.' })
  async update(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { body, large } = await this.readJson(request, 'run');
    const { run_id: id } = validateRequest(request, { path: runPath }).path;
    const session = await sessionOfRun(this, context.tenantId, id);
    const sent = await this.read(context, 'run', body, id, large);
    const [run] = sent.runs;
    // What a program sends goes into the project of its key, whatever it names.
    if (run && context.actor.project === undefined) {
      requireSame({ session_id: run.sessionId, session_name: run.sessionName }, session);
    }
    return this.receive(context, reply, sent);
  }

  private async readJson(request: FastifyRequest, kind: 'run' | 'batch'): Promise<CutBody> {
    const { 'content-encoding': encoding = 'identity', 'content-length': length } = request.headers;
    const isSmall = encoding === 'identity' && Number(length) <= MOST_MEMBER_BYTES;
    const cut = isSmall
      ? { body: await readStream(request, MOST_BYTES), large: [] }
      : await this.cut(request, () => new JsonCutter(kind === 'batch', OF_JSON));
    requireJson(request, cut.body);
    return cut;
  }

  private cut(request: FastifyRequest, cutter: Parameters<typeof readCut>[1]) {
    return readCut(request, cutter, KEPT, this.limits, (own) => this.uploads.zstd(own));
  }

  private read(
    { actor }: CommandContext,
    kind: BodyKind,
    body: Buffer,
    argument?: string,
    large?: readonly LargePart[],
  ): Promise<SentParts> {
    return this.thread.read(actor.tenantId, kind, body, argument, large);
  }

  private async receive(context: CommandContext, reply: FastifyReply, sent: SentParts) {
    const { refused } = await this.keep(context, reply, sent);
    if (refused.length > 0) throw nothingStored(refused, false);
    return {};
  }

  private async receiveBatch(context: CommandContext, reply: FastifyReply, sent: SentParts) {
    const { refused, count } = await this.keep(context, reply, sent);
    if (refused.length > 0 && count === 0) throw nothingStored(refused, true);
    return refused.length > 0 ? { refused: refusedList(refused) } : {};
  }

  private async keep(context: CommandContext, reply: FastifyReply, sent: SentParts) {
    const { project } = context.actor;
    const received = await receiveRuns(this, context, { ...sent, project });
    const ignored = [...sent.runs, ...sent.feedback].flatMap((one) => one.ignored);
    warnOfIgnored(reply, ignored);
    const refused = [...sent.refused, ...received.refused];
    await this.refusals.add(context.tenantId, refused, project);
    return { refused, count: received.count };
  }
}
