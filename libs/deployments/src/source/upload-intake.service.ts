import { StoredBytes, Workspaces } from '@fairlead/eventing';
import { holdsBody } from '@fairlead/edge';
import { BadRequest, FairShare, PayloadTooLarge, Unavailable } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DeploymentCommands } from '../deployment/deployment.commands';
import { DeploymentNotFound } from '../model/deployment.errors';
import { SourceStore } from '../archives/source.store';

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

/** Takes in source archives. */
@Injectable()
export class UploadIntake {
  private readonly receiving = new FairShare(MOST_UPLOADS);

  constructor(
    private readonly commands: DeploymentCommands,
    private readonly sources: SourceStore,
    private readonly stored: StoredBytes,
    private readonly workspaces: Workspaces,
  ) {}

  /**
   * Stores the body of a request as an archive of a deployment.
   * @throws DeploymentNotFound, PayloadTooLarge, BadRequest, Unavailable when too many are taken in
   */
  async take(request: FastifyRequest, id: string, path: string): Promise<void> {
    const state = await this.commands.stateOf(id);
    if (!state || state.removed || state.status === 'AWAITING_DELETE') throw new DeploymentNotFound(id);
    const bytes = Number(request.headers['content-length'] ?? 0);
    if (bytes > MOST_BYTES) throw tooLarge();
    const { tenant_id: tenant } = state;
    await this.workspaces.requireWorking(tenant);
    await this.stored.require(tenant, bytes);
    if (!this.receiving.take(tenant)) throw new Unavailable(5, 'Too many uploads at a time, try again later.');
    try {
      await request.requestContext.held?.hold(HELD_BYTES);
      const body = request.raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
      await this.sources.save(tenant, id, path, checked(body));
    } finally {
      this.receiving.give(tenant);
    }
  }
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

/** Reads the rest of a refused body. */
export async function drain({ raw }: FastifyRequest): Promise<void> {
  if (raw.complete || raw.readableEnded || raw.destroyed || holdsBody(raw)) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, DRAIN_MS)));
  const ended = new Promise((resolve) => raw.once('end', resolve).once('close', resolve));
  raw.resume();
  await Promise.race([ended, late]);
  clearTimeout(timer);
}
