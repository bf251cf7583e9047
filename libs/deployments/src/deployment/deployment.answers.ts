import { type CommandContext, etag } from '@fairlead/api';
import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { plannedChanges } from './audit';
import type { Deployment } from './deployment';
import type { Tried } from './deployment.commands';
import { type DeploymentRecord, deploymentRecord } from './record';
import { SecretStore } from '../secrets/secret.store';

/** Answers with deployments, in the specification's names. */
@Injectable()
export class DeploymentAnswers {
  constructor(private readonly secretStore: SecretStore) {}

  /** A deployment, without the values of its secrets, in the specification's names: safe to keep. */
  kept(reply: FastifyReply, state: Deployment): DeploymentRecord {
    reply.header('etag', etag(state.edition));
    return deploymentRecord(state);
  }

  /** Of a command that was only tried, as `kept`, or what it would change. */
  dryRun(reply: FastifyReply, wanted: true | 'plan', tried: Tried) {
    if (wanted === 'plan') return this.plan(reply, tried);
    reply.header('x-dry-run', 'true');
    return this.kept(reply, tried.state);
  }

  /** What a command that was only tried would change. */
  plan(reply: FastifyReply, { before, state, events }: Tried) {
    reply.status(200).header('x-dry-run', 'true');
    return {
      changes: plannedChanges(before, state),
      creates_revision: events.some(({ type }) => type === 'RevisionCreated'),
      pauses_push: events.some(({ type }) => type === 'BuildOnPushPaused'),
      etag: before && etag(before.edition),
    };
  }

  /** As `kept`, with the values of the secrets of a deployment at `version`; the reading is recorded. */
  async revealed(
    context: CommandContext,
    reply: FastifyReply,
    state: Deployment,
    version: number,
  ): Promise<DeploymentRecord> {
    const values = await this.secretStore.open(state, state.secrets, version, context.metadata);
    reply.header('cache-control', 'no-store');
    const secrets = state.secrets.map(({ name }) => ({ name, value: values.get(name)! }));
    return { ...this.kept(reply, state), secrets };
  }
}
