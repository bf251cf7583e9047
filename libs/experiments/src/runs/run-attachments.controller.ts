import { Workspaces } from '@fairlead/eventing';
import { Readable } from 'node:stream';
import { Answers, Area, Describe, Path, Query, Scope, shape } from '@fairlead/api';
import { Forbidden, type Infer, int, note, NotFound, object, str, uuid } from '@fairlead/schema';
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Pool } from 'pg';
import { PayloadStore } from '../storage/payload.store';
import { idPath } from '../common/reading';
import { RunAttachments } from './run-attachments.service';

const runPath = idPath('run_id');
const signedQuery = object({
  name: note(str(), 'Name of the attachment.'),
  tenant: note(uuid(), 'Workspace of the run.'),
  expires: note(int(), 'End of validity of the URL, in milliseconds since 1970.'),
  signature: note(str(), 'Signature of the URL, made by the service.'),
});

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
  @Scope('public')
  @Describe({
    summary: 'Get an attachment of a run',
    description: 'The URL comes from `s3_urls` of a run; its signature stands for a key for an hour.',
    gives: ['Content-Disposition'],
  })
  @Answers({
    200: { content: { 'application/octet-stream': shape.free } },
    403: 'The signature is not valid, or no longer.',
    404: 'There is no such attachment.',
  })
  async one(
    @Path(runPath) path: Infer<typeof runPath>,
    @Query(signedQuery) query: Infer<typeof signedQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
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
