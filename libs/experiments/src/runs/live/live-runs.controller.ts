import { Consistency, EventStore, StoredBytes } from '@fairlead/eventing';
import {
  Answers,
  Area,
  CommandContext,
  Context,
  Describe,
  Scope,
  shape,
  validateRequest,
  warnOfIgnored,
} from '@fairlead/api';
import { NotFound } from '@fairlead/schema';
import { Controller, HttpCode, Patch, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import { batchBody, runBody, runChange, type SentParts } from './live-runs.body';
import { hasRun, receiveRuns } from './live-runs.commands';
import type { BodyKind } from './live-runs.read';
import { bytesOfRuns } from '../run-bytes';
import { LiveRunsThread } from './live-runs.thread';
import { ExperimentLimits } from '../../limits';
import { readCompressed } from '../../upload/compressed.body';
import { readJson } from '../../opaque.body';
import { SessionCommands } from '../../sessions/sessions.commands';
import { PayloadStore } from '../../storage/payload.store';
import { idPath } from '../../reading.http';
import { UploadThread } from '../../upload/upload.thread';

/** As told to clients, which cut their batches by it, and the frames around the parts. */
const MOST_BYTES = 24 * 1024 * 1024;
const runPath = idPath('run_id');

/** Takes runs in while they happen, one by one or in batches. */
@Area('Runs')
@Controller('api/v1/runs')
export class LiveRunsController {
  constructor(
    readonly pool: Pool,
    readonly store: EventStore,
    readonly consistency: Consistency,
    readonly sessions: SessionCommands,
    private readonly thread: LiveRunsThread,
    private readonly payloads: PayloadStore,
    private readonly stored: StoredBytes,
    private readonly limits: ExperimentLimits,
    private readonly uploads: UploadThread,
  ) {}

  @Post()
  @HttpCode(202)
  @Scope('write', { stream: true, programs: true })
  @Describe({
    summary: 'Send a run',
    description: 'It goes into the session that it names, which is made when it is not there.',
    body: runBody,
    takes: ['x-reason'],
    gives: ['Warning'],
  })
  @Answers({
    202: shape.empty,
    404: 'There is no such session.',
    409: 'The id is taken, or the experiment was uploaded.',
  })
  async create(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.receive(context, reply, await this.read(context, 'run', await readJson(request, MOST_BYTES)));
  }

  @Post('batch')
  @HttpCode(202)
  @Scope('write', { stream: true, programs: true })
  @Describe({ summary: 'Send many runs', body: batchBody, takes: ['x-reason'], gives: ['Warning'] })
  @Answers({
    202: shape.empty,
    404: 'There is no such session.',
    409: 'An id is taken, or an experiment was uploaded.',
  })
  async batch(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.receive(context, reply, await this.read(context, 'batch', await readJson(request, MOST_BYTES)));
  }

  @Post('multipart')
  @HttpCode(202)
  @Scope('write', { stream: true, programs: true })
  @Describe({
    summary: 'Send many runs in parts',
    description:
      'The part `post.<id>` or `patch.<id>` is a run, `post.<id>.inputs` and the like are its members; `feedback.<id>` is a feedback, which may come before its run; `attachment.<id>.<name>` is an attachment of a run.',
    body: { content: { 'multipart/form-data': shape.free } },
    takes: ['Content-Encoding', 'x-reason'],
    gives: ['Warning'],
  })
  @Answers({
    202: shape.empty,
    404: 'There is no such session.',
    409: 'An id is taken, or an experiment was uploaded.',
  })
  async multipart(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const body = await readCompressed(request, MOST_BYTES, this.limits, () => this.uploads.zstd());
    return this.receive(context, reply, await this.read(context, 'multipart', body, request.headers['content-type']));
  }

  @Patch(':run_id')
  @HttpCode(202)
  @Scope('write', { stream: true, programs: true })
  @Describe({ summary: 'Change a run', path: runPath, body: runChange, takes: ['x-reason'], gives: ['Warning'] })
  @Answers({ 202: shape.empty, 409: 'The experiment was uploaded.' })
  async update(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const body = await readJson(request, MOST_BYTES);
    const { run_id: id } = validateRequest(request, { path: runPath }).path;
    if (!(await hasRun(this, context.tenantId, id))) throw new NotFound(`Run ID ${id} not found.`);
    return this.receive(context, reply, await this.read(context, 'run', body, id));
  }

  private read({ actor }: CommandContext, kind: BodyKind, body: Buffer, argument?: string): Promise<SentParts> {
    return this.thread.read(actor.tenantId, kind, body, argument);
  }

  private async receive(context: CommandContext, reply: FastifyReply, sent: SentParts) {
    const { runs, feedback, ignored } = sent;
    const { tenantId } = context;
    const { project } = context.actor;
    if (runs.length + feedback.length > 0)
      await this.stored.within(tenantId, bytesOf(sent), () =>
        receiveRuns(this, context, { ...sent, project }, this.payloads),
      );
    warnOfIgnored(reply, [...ignored, ...[...runs, ...feedback].flatMap((one) => one.ignored)]);
    return {};
  }
}

/** What of a request is stored and counted: its runs, and what is attached to them. */
function bytesOf({ runs, contents }: SentParts): number {
  let bytes = bytesOfRuns(runs.map(({ change }) => change));
  for (const content of contents.values()) bytes += content.length;
  return bytes;
}
