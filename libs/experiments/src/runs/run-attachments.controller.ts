import { Workspaces } from '@fairlead/eventing';
import { Readable } from 'node:stream';
import { Access, Area, Describe, shape, validateRequest } from '@fairlead/api';
import { Forbidden, int, NotFound, object, str, uuid } from '@fairlead/schema';
import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import { PayloadStore } from '../storage/payload.store';
import { idPath } from '../reading.http';
import { RunAttachments } from '../storage/attachment.urls';

const runPath = idPath('run_id');
const signedQuery = object({ name: str(), tenant: uuid(), expires: int(), signature: str() });

interface Found {
  readonly type: string;
  readonly sha256: string;
  readonly bytes: string;
}

/** Gives out attachments of runs to whoever has their address. */
@Area('Runs')
@Controller('api/v1/runs/:run_id/attachment')
export class RunAttachmentsController {
  constructor(
    private readonly pool: Pool,
    private readonly payloads: PayloadStore,
    private readonly attachments: RunAttachments,
    private readonly workspaces: Workspaces,
  ) {}

  /** No key: the signature in the URL stands for one. What was attached is shown to nobody as a page. */
  @Get()
  @Access('public')
  @Describe({
    summary: 'Get an attachment of a run',
    description: 'The URL comes from `s3_urls` of a run; its signature stands for a key for an hour.',
    path: runPath,
    query: signedQuery,
    answers: {
      200: { content: { 'application/octet-stream': shape.free } },
      403: 'The signature is not valid, or no longer.',
      404: 'There is no such attachment.',
    },
    gives: ['Content-Disposition'],
  })
  async one(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<Readable> {
    const { path, query } = validateRequest(request, { path: runPath, query: signedQuery });
    const { name, tenant, expires, signature } = query;
    const run = path.run_id;
    if (!(await this.attachments.isValid({ tenant, run, name, expires }, signature))) {
      throw new Forbidden('The URL of the attachment is not valid, or no longer.');
    }
    await this.workspaces.requireWorking(tenant);
    const { rows } = await this.pool.query<Found>(
      'select type, sha256, bytes from run_attachments where tenant_id = $1 and run_id = $2 and name = $3',
      [tenant, run, name],
    );
    const pieces = rows[0] && (await this.payloads.read(tenant, rows[0].sha256));
    if (!rows[0] || !pieces) throw new NotFound('Attachment not found.');
    void reply.headers({
      'content-type': rows[0].type,
      'content-length': rows[0].bytes,
      'content-disposition': 'attachment',
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
    });
    return Readable.from(pieces, { objectMode: false });
  }
}
