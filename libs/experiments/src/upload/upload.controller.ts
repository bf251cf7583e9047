import { setTimeout as delay } from 'node:timers/promises';
import {
  Answers,
  Area,
  asText,
  CommandContext,
  Context,
  Describe,
  Idempotency,
  Query,
  requireJson,
  Scope,
} from '@fairlead/api';
import { BLOCK_BYTES, paced, RING_BLOCKS } from '@fairlead/blobs';
import { holdsBody } from '@fairlead/edge';
import { type Infer, note, object, optional, RequestTimeout, uuid } from '@fairlead/schema';
import { Controller, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type CheckedUpload,
  decompressed,
  ExperimentLimits,
  LimitExceeded,
  uploadSchema,
  UploadThread,
} from '@fairlead/runs';
import { Fills } from './fills.service';
import { uploaded } from '../sessions/sessions.answers.schema';
import { Gate } from './gate';
import { UploadReceiver } from './upload-receiver.service';
import { Uploads } from './uploads.service';

/** Time for which an upload waits for its turn (ms). */
const PATIENCE_MS = 3000;
/** Bytes that an upload holds besides the row that is looked at. */
const RING_BYTES = RING_BLOCKS * BLOCK_BYTES;
/** Bytes of a body that is no JSON which are looked at. */
const SHOWN_BYTES = 1024;
/** Time for which the rest of a refused body is read before it is answered (ms). */
const DRAIN_MS = 10_000;

const uploadQuery = object({
  into: note(
    optional(uuid()),
    'Identifier of an uploaded experiment that the rows are to fill: only rows whose last run failed, or that have none, and all of them or none. The members of the experiment and the dataset have to be theirs. Absent: the upload makes an experiment.',
  ),
});

@Area('Experiments')
@Controller('api/v1/datasets')
export class UploadController {
  private readonly gate: Gate;

  constructor(
    private readonly receiver: UploadReceiver,
    private readonly uploads: Uploads,
    private readonly fills: Fills,
    private readonly idempotency: Idempotency,
    private readonly limits: ExperimentLimits,
    private readonly thread: UploadThread,
  ) {
    this.gate = new Gate(limits.maxUploads, PATIENCE_MS);
  }

  @Post('upload-experiment')
  @HttpCode(200)
  @Header('content-type', 'application/json; charset=utf-8')
  @Scope('write', { stream: true, load: 'upload' })
  @Describe({
    summary: 'Upload an experiment',
    description:
      'Its rows, runs and feedback become a dataset that is managed elsewhere and an experiment. The body is read as it comes; everything is checked before anything is written. The same body again within 24 hours gets the first answer. With `into`, its rows fill rows of an experiment that was uploaded before: a run that failed is replaced, and kept among the replaced runs.',
    body: uploadSchema,
    takes: ['Content-Encoding', 'Idempotency-Key', 'x-reason'],
    gives: ['Warning'],
  })
  @Answers({
    200: asText(uploaded),
    404: 'There is no experiment `into`.',
    409: 'The name or the id is taken, or the experiment `into` was not uploaded.',
  })
  upload(
    @Context() context: CommandContext,
    @Query(uploadQuery) { into }: Infer<typeof uploadQuery>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return this.gate.run(context.tenantId, async () => {
      try {
        if (into !== undefined) await this.fills.require(context.tenantId, into);
        return await this.receive(context, into, request, reply);
      } catch (error) {
        // Many clients look for an answer only when they have sent everything.
        if (!(error instanceof RequestTimeout)) await this.drain(request);
        throw error;
      }
    });
  }

  private async receive(
    context: CommandContext,
    into: string | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<string> {
    const received = await this.receiver.receive(context.tenantId, this.bodyOf(request), into !== undefined);
    warnOfOtherInputs(reply, received.upload);
    try {
      const record = () => this.record(context, into, reply, received);
      return await this.idempotency.run(request, reply, record, received.sha256);
    } finally {
      await received.draft.discard();
    }
  }

  private bodyOf(request: FastifyRequest): AsyncIterable<Buffer> {
    const { maxBytes, maxRowBytes, idleMs } = this.limits;
    const { 'content-length': length = 0, 'content-encoding': encoding } = request.headers;
    if (Number(length) > maxBytes) throw new LimitExceeded('body bytes', maxBytes);
    const chunks = request.raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
    const body = decompressed(paced(chunks, idleMs), encoding, this.limits, () => this.thread.zstd());
    return meant(request, booked(request, body, RING_BYTES + maxRowBytes));
  }

  private async record(
    context: CommandContext,
    into: string | undefined,
    reply: FastifyReply,
    received: Parameters<Uploads['record']>[1],
  ): Promise<string> {
    const { answer, replayed } =
      into === undefined
        ? await this.uploads.record(context, received)
        : await this.fills.record(context, into, received);
    if (replayed) void reply.header('idempotent-replayed', 'true');
    return answer;
  }

  private async drain({ raw }: FastifyRequest): Promise<void> {
    if (raw.complete || raw.destroyed || holdsBody(raw)) return;
    const ended = new Promise((resolve) => raw.once('end', resolve).once('close', resolve));
    raw.on('data', () => undefined);
    await Promise.race([ended, delay(DRAIN_MS, undefined, { ref: false })]);
  }
}

/** Names in the header `warning` how many repetitions have inputs of their own, which their example does not have. */
function warnOfOtherInputs(reply: FastifyReply, { otherInputs: { count, row, first } }: CheckedUpload): void {
  if (count === 0) return;
  const rows = count === 1 ? '1 row has' : `${count} rows have`;
  const text = `${rows} other inputs than the first row of the same row_id, which the example keeps: results.${row} has others than results.${first}`;
  void reply.header('warning', `299 - "${text}"`);
}

/** The same bytes, of which up to `most` are in memory at a time. @throws Unavailable when there is no memory */
async function* booked(request: FastifyRequest, body: AsyncIterable<Buffer>, most: number): AsyncIterable<Buffer> {
  let left = most;
  for await (const part of body) {
    const more = Math.min(left, part.length);
    if (more > 0) await request.requestContext.held?.hold(more);
    left -= more;
    yield part;
  }
}

/** The same bytes, unless their content type says that they are no JSON. @throws Unprocessable */
async function* meant(request: FastifyRequest, body: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  for await (const part of body) {
    requireJson(request, part.subarray(0, SHOWN_BYTES));
    yield part;
  }
}
