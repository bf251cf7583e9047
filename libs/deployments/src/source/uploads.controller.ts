import { StoredBytes, Workspaces } from '@fairlead/eventing';
import { Answers, Area, CommandContext, Context, Describe, Path, Query, Scope } from '@fairlead/api';
import { holdsBody, publicAddress } from '@fairlead/edge';
import {
  BadRequest,
  empty,
  FairShare,
  type Infer,
  int,
  note,
  object,
  PayloadTooLarge,
  str,
  Unavailable,
  uuid,
} from '@fairlead/schema';
import { Controller, HttpCode, Post, Put, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { v7 as newId } from 'uuid';
import { issueUploadPath } from '../deployment/deployment';
import { uploadUrl } from '../deployment/deployment.answers.schema';
import { DeploymentCommands } from '../deployment/deployment.commands';
import { deploymentPath } from '../deployment/deployment.schema';
import { DeploymentsOptions } from '../deployments.options';
import { DeploymentNotFound } from '../deployment/deployment.errors';
import { SourceStore } from './source.store';
import { UploadUrls } from './upload-urls.service';

/** Bytes of an uploaded archive; the limit that clients tell their users. */
const MOST_BYTES = 200 * 1024 * 1024;
/** Archives taken in at a time, shared fairly between workspaces. */
const MOST_UPLOADS = 16;
/**
 * Bytes of an archive in memory at a time: a block, the parts that are joined to one, and the block that is being
 * stored.
 */
const HELD_BYTES = 1024 * 1024;
/**
 * Time for which the rest of a refused body is read before the answer (ms): many clients look for the answer only then.
 */
const DRAIN_MS = 10_000;
/** gzip, deflated. */
const MAGIC = Buffer.from([0x1f, 0x8b, 0x08]);

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
  private readonly receiving = new FairShare(MOST_UPLOADS);

  constructor(
    private readonly commands: DeploymentCommands,
    private readonly urls: UploadUrls,
    private readonly sources: SourceStore,
    private readonly stored: StoredBytes,
    private readonly workspaces: Workspaces,
    private readonly options: DeploymentsOptions,
  ) {}

  /** `object_path` is what `source_tarball_path` takes once the archive is uploaded. */
  @Post('upload-url')
  @Scope('write')
  @Describe({ summary: 'Get a URL to upload a source archive to', takes: ['If-Match', 'x-reason'] })
  @Answers({ 200: uploadUrl })
  @HttpCode(200)
  async issue(@Context() context: CommandContext, @Path(deploymentPath) path: Infer<typeof deploymentPath>) {
    const base = publicAddress(context, this.options.publicUrl);
    const uploadId = newId();
    const object_path = objectPath(path.deployment_id, uploadId);
    await this.commands.change(context, path.deployment_id, issueUploadPath(object_path));
    return { upload_url: base + (await this.urls.issue(path.deployment_id, uploadId)), object_path };
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
    @Path(uploadPath) path: Infer<typeof uploadPath>,
    @Query(signedQuery) query: Infer<typeof signedQuery>,
  ): Promise<Record<string, never>> {
    try {
      await this.take(request, path, query);
      return {};
    } catch (error) {
      await drain(request);
      throw error;
    }
  }

  private async take(
    request: FastifyRequest,
    { deployment_id: id, upload_id }: Infer<typeof uploadPath>,
    query: Infer<typeof signedQuery>,
  ): Promise<void> {
    await this.urls.check(id, upload_id, query.expires, query.signature);
    const state = await this.commands.stateOf(id);
    if (!state || state.removed || state.status === 'AWAITING_DELETE') throw new DeploymentNotFound(id);
    if (Number(request.headers['content-length'] ?? 0) > MOST_BYTES) throw tooLarge();
    const { tenant_id: tenant } = state;
    await this.workspaces.requireWorking(tenant);
    await this.stored.require(tenant, Number(request.headers['content-length'] ?? 0));
    if (!this.receiving.take(tenant)) throw new Unavailable(5, 'Too many uploads at a time, try again later.');
    try {
      await request.requestContext.held?.hold(HELD_BYTES);
      const body = request.raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
      await this.sources.save(tenant, id, objectPath(id, upload_id), checked(body));
    } finally {
      this.receiving.give(tenant);
    }
  }
}

function objectPath(deploymentId: string, uploadId: string): string {
  return `deployments/${deploymentId}/sources/${uploadId}.tar.gz`;
}

/** The same bytes. @throws BadRequest unless they are a whole gzip file's, PayloadTooLarge beyond the limit. */
async function* checked(source: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let head = Buffer.alloc(0);
  let size = 0;
  try {
    for await (const part of source) {
      size += part.length;
      if (size > MOST_BYTES) throw tooLarge();
      if (head.length < MAGIC.length) {
        head = Buffer.concat([head, part.subarray(0, MAGIC.length)]);
        if (!MAGIC.subarray(0, head.length).equals(head.subarray(0, MAGIC.length))) throw notGzip();
      }
      yield part;
    }
  } catch (error) {
    const cutOff = error instanceof Error && 'code' in error && String(error.code).startsWith('E');
    throw cutOff ? new BadRequest('The upload was cut off.') : error;
  }
  if (head.length < MAGIC.length) throw notGzip();
}

function notGzip(): BadRequest {
  return new BadRequest('The body must be a gzip-compressed tar archive.');
}

function tooLarge(): PayloadTooLarge {
  return new PayloadTooLarge(`The archive is larger than the limit of ${MOST_BYTES} bytes.`);
}

async function drain({ raw }: FastifyRequest): Promise<void> {
  if (raw.complete || raw.readableEnded || raw.destroyed || holdsBody(raw)) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, DRAIN_MS)));
  const ended = new Promise((resolve) => raw.once('end', resolve).once('close', resolve));
  raw.resume();
  await Promise.race([ended, late]);
  clearTimeout(timer);
}
