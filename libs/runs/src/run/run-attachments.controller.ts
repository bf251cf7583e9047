import type { Readable } from 'node:stream';
import { Answers, Area, Describe, Query, Scope } from '@fairlead/api';
import { anyObject, type Infer, note, object, str } from '@fairlead/schema';
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Pool } from 'pg';
import { Attachments, signedQuery } from '../persist/attachments.service';
import { Id } from '../common/reading';
import { attachmentOfRun } from './run-lookups.queries';

const query = object({ name: note(str(), 'Name of the attachment.'), ...signedQuery('run') });

@Area('Runs')
@Controller('api/v1/runs/:run_id/attachment')
export class RunAttachmentsController {
  constructor(
    private readonly pool: Pool,
    private readonly attachments: Attachments,
  ) {}

  /** No key: the signature in the URL stands for one. What was attached is shown to nobody as a page. */
  @Get()
  @Scope('public')
  @Describe({
    summary: 'Get an attachment of a run',
    description: 'The URL comes from `s3_urls` of a run; its signature stands for a key for an hour.',
    gives: ['Content-Disposition'],
  })
  @Answers({
    200: { content: { 'application/octet-stream': anyObject() } },
    403: 'The signature is not valid, or no longer.',
    404: 'There is no such attachment.',
  })
  async one(
    @Id('run_id') run: string,
    @Query(query) signed: Infer<typeof query>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    const { name, tenant } = signed;
    await this.attachments.require([tenant, run, name], signed);
    return this.attachments.send(reply, tenant, await attachmentOfRun(this.pool, tenant, run, name));
  }
}
