import { Readable } from 'node:stream';
import { Workspaces } from '@fairlead/eventing';
import { Answers, Area, Describe, Path, Query, Scope, shape } from '@fairlead/api';
import { Forbidden, type Infer, int, note, NotFound, object, str, uuid } from '@fairlead/schema';
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Pool } from 'pg';
import { PayloadStore } from '../storage/payload.store';
import { idPath } from '../common/reading';
import { ExampleAttachments } from './example-attachments.service';

const examplePath = idPath('example_id');
const signedQuery = object({
  name: note(str(), 'Name of the attachment.'),
  dataset: note(uuid(), 'Dataset of the example.'),
  sha256: note(str(), 'SHA-256 of the content, in hexadecimal digits.'),
  tenant: note(uuid(), 'Workspace of the example.'),
  expires: note(int(), 'End of validity of the URL, in milliseconds since 1970.'),
  signature: note(str(), 'Signature of the URL, made by the service.'),
});

/** Gives out attachments of examples to whoever has their address. */
@Area('Datasets')
@Controller('api/v1/examples/:example_id/attachment')
export class ExampleAttachmentsController {
  constructor(
    private readonly pool: Pool,
    private readonly payloads: PayloadStore,
    private readonly attachments: ExampleAttachments,
    private readonly workspaces: Workspaces,
  ) {}

  /** No key: the signature in the URL stands for one. What was attached is shown to nobody as a page. */
  @Get()
  @Scope('public')
  @Describe({
    summary: 'Get an attachment of an example',
    description: 'The URL comes from `attachment_urls` of an example; its signature stands for a key for an hour.',
    gives: ['Content-Disposition'],
  })
  @Answers({
    200: { content: { 'application/octet-stream': shape.free } },
    403: 'The signature is not valid, or no longer.',
    404: 'There is no such attachment.',
  })
  async one(
    @Path(examplePath) path: Infer<typeof examplePath>,
    @Query(signedQuery) query: Infer<typeof signedQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    const { signature, ...signed } = query;
    const { tenant, dataset, name, sha256 } = signed;
    if (!(await this.attachments.isValid({ ...signed, example: path.example_id }, signature))) {
      throw new Forbidden('The URL of the attachment is not valid, or no longer.');
    }
    await this.workspaces.requireWorking(tenant);
    // Any version of the example that is still kept may have it.
    const { rows } = await this.pool.query<{ type: string; bytes: string }>(
      `select a.type, a.bytes from examples e, jsonb_to_recordset(e.attachments) a (name text, type text, sha256 text, bytes bigint)
       where e.id = $1 and e.dataset_id = $2 and e.tenant_id = $3 and a.name = $4 and a.sha256 = $5 limit 1`,
      [path.example_id, dataset, tenant, name, sha256],
    );
    const pieces = rows[0] && (await this.payloads.read(tenant, sha256));
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
