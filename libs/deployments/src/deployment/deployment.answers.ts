import { EventStore, load, streamName } from '@fairlead/eventing';
import { allows, etag, metadataOf, toWire } from '@fairlead/api';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Deployment, deploymentModel } from './deployment';
import { type DeploymentRecord, deploymentRecord, revisionRecord } from './record';
import type { RevisionRow } from '../revision/revision.view';
import { SecretSafe } from '../secrets/secret.safe';

/** Answers with deployments and revisions, in the caller's spelling. */
@Injectable()
export class DeploymentAnswers {
  constructor(
    private readonly store: EventStore,
    private readonly safe: SecretSafe,
  ) {}

  /** A deployment, without the values of its secrets, in the specification's names: safe to keep. */
  kept(reply: FastifyReply, state: Deployment): DeploymentRecord {
    reply.header('etag', etag(state.edition));
    return deploymentRecord(state);
  }

  /** As `kept`, in the caller's spelling. */
  masked(request: FastifyRequest, reply: FastifyReply, state: Deployment): DeploymentRecord {
    return this.spelled(request, this.kept(reply, state));
  }

  /** As `masked`, for a command that was only tried. */
  dryRun(request: FastifyRequest, reply: FastifyReply, state: Deployment): DeploymentRecord {
    reply.header('x-dry-run', 'true');
    return this.masked(request, reply, state);
  }

  /**
   * A kept record in the caller's spelling, with the values of its secrets when the key may read them; such a reading
   * is recorded.
   */
  async revealed(request: FastifyRequest, reply: FastifyReply, record: DeploymentRecord): Promise<DeploymentRecord> {
    return this.spelled(request, await this.opened(request, reply, record));
  }

  revision(request: FastifyRequest, revision: RevisionRow) {
    return this.spelled(request, revisionRecord(revision));
  }

  /** The same record in the names that the request's path asks for. */
  spelled<T>(request: FastifyRequest, record: T): T {
    return request.dialect === 'wire' ? toWire(record) : record;
  }

  private async opened(request: FastifyRequest, reply: FastifyReply, record: DeploymentRecord) {
    if (record.secrets.length === 0 || !allows(request.actor, 'secrets:read')) return record;
    const { state, version } = await load(this.store, deploymentModel, streamName('deployment', record.id));
    if (!state || state.removed) return record;
    const values = await this.safe.open(state, version, metadataOf(request));
    reply.header('cache-control', 'no-store');
    return {
      ...record,
      secrets: record.secrets.map(({ name, value }) => ({ name, value: values.get(name) ?? value })),
    };
  }
}
