import { Readable } from 'node:stream';
import { Answers, Area, CommandContext, Context, Describe, Query, Scope } from '@fairlead/api';
import { type Infer, str } from '@fairlead/schema';
import { Controller, Get, Headers, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ChangesReader } from './changes-reader.service';
import { changes, changesQuery } from './changes.schema';

/** Changes in a workspace, for clients that want to know them at once: as a stream, or one answer after the other. */
@Area('Webhooks')
@Controller('v1/changes')
export class ChangesController {
  constructor(private readonly reader: ChangesReader) {}

  @Get()
  @Scope('read', { load: 'wait', strict: true })
  @Describe({
    summary: 'Wait for changes in the workspace',
    description:
      'The types and data of webhooks. With `Accept: text/event-stream` a stream of server-sent events, whose `id` is the position; an event `reset` says that changes may be missing. Else one answer, at once when something has changed, or after `wait` seconds.',
  })
  @Answers({ 200: { content: { 'application/json': changes, 'text/event-stream': str() } } })
  async list(
    @Context() { actor, tenantId }: CommandContext,
    @Query(changesQuery) { after, wait, ...wanted }: Infer<typeof changesQuery>,
    @Headers('accept') accept: string | undefined,
    @Headers('last-event-id') lastId: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const gone = this.reader.enter(actor.keyId, tenantId, reply.raw);
    const reading = await this.reader.begin(tenantId, wanted, after ?? lastId, gone);
    void reply.header('cache-control', 'no-store');
    if (wait !== undefined || !accept?.includes('text/event-stream')) {
      void reply.header('content-type', 'application/json; charset=utf-8');
      return this.reader.poll(reading, (wait ?? 0) * 1000);
    }
    void reply.header('content-type', 'text/event-stream; charset=utf-8').header('x-accel-buffering', 'no');
    return Readable.from(this.reader.events(reading), { objectMode: false, highWaterMark: 1 });
  }
}
