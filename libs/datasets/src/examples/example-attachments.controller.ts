import type { Readable } from 'node:stream';
import { Answers, Area, Describe, Query, Scope } from '@fairlead/api';
import { anyObject, type Infer, note, object, str, uuid } from '@fairlead/schema';
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Pool } from 'pg';
import { Attachments, Id, signedQuery } from '@fairlead/runs';

const query = object({
  name: note(str(), 'Name of the attachment.'),
  dataset: note(uuid(), 'Dataset of the example.'),
  sha256: note(str(), 'SHA-256 of the content, in hexadecimal digits.'),
  ...signedQuery('example'),
});

@Area('Datasets')
@Controller('api/v1/examples/:example_id/attachment')
export class ExampleAttachmentsController {
  constructor(
    private readonly pool: Pool,
    private readonly attachments: Attachments,
  ) {}

  @Get()
  @Scope('public')
  @Describe({
    summary: 'Get an attachment of an example',
    description: 'The URL comes from `attachment_urls` of an example; its signature stands for a key for an hour.',
    gives: ['Content-Disposition'],
  })
  @Answers({
    200: { content: { 'application/octet-stream': anyObject() } },
    403: 'The signature is not valid, or no longer.',
    404: 'There is no such attachment.',
  })
  async one(
    @Id('example_id') example: string,
    @Query(query) signed: Infer<typeof query>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    const { tenant, dataset, name, sha256 } = signed;
    await this.attachments.require(['example', tenant, dataset, example, name, sha256], signed);
    // Any version of the example that is still kept may have it.
    const { rows } = await this.pool.query<{ type: string; bytes: string }>(
      `select a.type, a.bytes from examples e, jsonb_to_recordset(e.attachments) a (name text, type text, sha256 text, bytes bigint)
       where e.id = $1 and e.dataset_id = $2 and e.tenant_id = $3 and a.name = $4 and a.sha256 = $5 limit 1`,
      [example, dataset, tenant, name, sha256],
    );
    return this.attachments.send(reply, tenant, rows[0] && { ...rows[0], sha256 });
  }
}
