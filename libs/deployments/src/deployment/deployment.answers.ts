import { EventStore, load, streamName } from '@fairlead/eventing';
import { allows, type CommandContext, etag, spelled } from '@fairlead/api';
import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type Deployment, deploymentModel } from './deployment';
import { type DeploymentRecord, deploymentRecord } from './record';
import { SecretStore } from '../secrets/secret.store';

/** Answers with deployments and revisions, in the caller's spelling. */
@Injectable()
export class DeploymentAnswers {
  constructor(
    private readonly store: EventStore,
    private readonly secretStore: SecretStore,
  ) {}

  /** A deployment, without the values of its secrets, in the specification's names: safe to keep. */
  kept(reply: FastifyReply, state: Deployment): DeploymentRecord {
    reply.header('etag', etag(state.edition));
    return deploymentRecord(state);
  }

  /** As `kept`, for a command that was only tried. */
  dryRun(reply: FastifyReply, state: Deployment): DeploymentRecord {
    reply.header('x-dry-run', 'true');
    return this.kept(reply, state);
  }

  /**
   * A kept record in the caller's spelling, with the values of its secrets when the key may read them; such a reading
   * is recorded. Of a command that was only tried, the secrets stay masked.
   */
  async revealed(context: CommandContext, reply: FastifyReply, record: DeploymentRecord): Promise<DeploymentRecord> {
    return spelled(context, await this.opened(context, reply, record));
  }

  private async opened(context: CommandContext, reply: FastifyReply, record: DeploymentRecord) {
    const isTried = reply.hasHeader('x-dry-run');
    if (isTried || record.secrets.length === 0 || !allows(context.actor, 'secrets:read')) return record;
    const { state, version } = await load(this.store, deploymentModel, streamName('deployment', record.id));
    if (!state || state.removed) return record;
    const values = await this.secretStore.open(state, version, context.metadata);
    reply.header('cache-control', 'no-store');
    return {
      ...record,
      secrets: record.secrets.map(({ name, value }) => ({ name, value: values.get(name) ?? value })),
    };
  }
}
