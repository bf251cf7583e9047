import { Answers, Area, CommandContext, Context, Describe, Idempotency, Path, Query, Scope } from '@fairlead/api';
import { publicAddress } from '@fairlead/edge';
import { empty, type Infer, int, note, object, str, uuid } from '@fairlead/schema';
import { Controller, HttpCode, Post, Put, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { v7 as newId } from 'uuid';
import { issueUploadPath } from '../model/deployment';
import { uploadUrl } from '../deployment/deployment.answers.schema';
import { DeploymentCommands } from '../deployment/deployment.commands';
import { deploymentPath } from '../deployment/deployment.schema';
import { DeploymentsOptions } from '../model/deployments.options';
import { drain, UploadIntake } from './upload-intake.service';
import { UploadUrls } from '../archives/upload-urls.service';

const uploadPath = object({
  deployment_id: note(uuid(), 'The deployment that the archive is for.'),
  upload_id: note(uuid(), 'The upload that `upload-url` began.'),
});
const signedQuery = object({
  expires: note(int(), 'End of validity of the URL, in milliseconds since 1970.'),
  signature: note(str(), 'Signature of the URL, made by the service.'),
});

/** Gives out URLs for source archives and takes the archives in. */
@Area('Sources')
@Controller('v2/deployments/:deployment_id')
export class UploadsController {
  constructor(
    private readonly commands: DeploymentCommands,
    private readonly urls: UploadUrls,
    private readonly intake: UploadIntake,
    private readonly options: DeploymentsOptions,
    private readonly idempotency: Idempotency,
  ) {}

  /** `object_path` is what `source_tarball_path` takes once the archive is uploaded. */
  @Post('upload-url')
  @Scope('write')
  @Describe({ summary: 'Get a URL to upload a source archive to', takes: ['If-Match', 'x-reason', 'Idempotency-Key'] })
  @Answers({ 200: uploadUrl })
  @HttpCode(200)
  async issue(
    @Context() context: CommandContext,
    @Path(deploymentPath) { deployment_id }: Infer<typeof deploymentPath>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const base = publicAddress(context, this.options.publicUrl);
    // The URL has a signature, which no stored answer contains.
    const uploadId = await this.idempotency.run(request, reply, async () => {
      const id = context.command?.idFor('upload') ?? newId();
      await this.commands.change(context, deployment_id, issueUploadPath(objectPath(deployment_id, id)));
      return id;
    });
    const upload_url = base + (await this.urls.issue(deployment_id, uploadId));
    return { upload_url, object_path: objectPath(deployment_id, uploadId) };
  }

  /** The body is a gzip tarball. No key: the signature in the URL stands for one. */
  @Put('uploads/:upload_id')
  @Scope('public', { stream: true, load: 'upload' })
  @Describe({
    summary: 'Upload a source archive',
    description: 'The URL comes from `upload-url`; its signature stands for a key. At most 200 MiB.',
    body: { content: { 'application/gzip': {} } },
  })
  @Answers({
    200: empty,
    403: 'The signature is not valid, or no longer.',
    409: 'An archive was uploaded there before, or the workspace stores too much.',
  })
  @HttpCode(200)
  async receive(
    @Req() request: FastifyRequest,
    @Path(uploadPath) { deployment_id: id, upload_id: uploadId }: Infer<typeof uploadPath>,
    @Query(signedQuery) query: Infer<typeof signedQuery>,
  ): Promise<Record<string, never>> {
    try {
      await this.urls.check(id, uploadId, query.expires, query.signature);
      await this.intake.take(request, id, objectPath(id, uploadId));
      return {};
    } catch (error) {
      await drain(request);
      throw error;
    }
  }
}

function objectPath(deploymentId: string, uploadId: string): string {
  return `deployments/${deploymentId}/sources/${uploadId}.tar.gz`;
}
