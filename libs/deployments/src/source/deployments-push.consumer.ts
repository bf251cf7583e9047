import type { CommitResolvedMessage, PushReceivedMessage } from '@fairlead/contracts';
import { type EventContext, Followers, type Metadata, serviceCaller } from '@fairlead/eventing';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { v7 as uuid } from 'uuid';
import type { Deployment } from '../model/deployment';
import { DeploymentCommands } from '../deployment/deployment.commands';
import type { DeploymentEvent } from '../model/deployment-events';
import { DeploymentNotFound } from '../model/deployment.errors';
import { buildPush, resolveCommit } from '../model/push';
import { PushTargetsView } from './push-targets.projection';

/** Why a revision was made, with what the code host says of the push. */
function reasonOf({ ref, repo_commit_sha, cause }: PushReceivedMessage): string {
  const what = `Push of ${repo_commit_sha} to ${ref}`;
  if (!cause) return `${what}.`;
  const { pusher, author, subject, delivery_id } = cause;
  const by = pusher === null ? '' : ` by ${pusher}`;
  const commit = subject === null ? '' : `: ${subject}`;
  const written = author === null ? '' : ` (author ${author})`;
  return `${what}${by}${commit}${written}, delivery ${delivery_id}.`;
}

/** Lets deployments follow what code hosts tell: branches that have moved, and commits that were found. */
@Controller()
export class DeploymentsPushConsumer {
  constructor(
    private readonly commands: DeploymentCommands,
    private readonly followers: Followers,
    private readonly targets: PushTargetsView,
  ) {}

  @EventPattern<string>('PushReceived')
  async pushReceived(@Payload() message: PushReceivedMessage, @Ctx() { event }: EventContext): Promise<void> {
    // A deployment that was created before the push must be among the targets.
    if (!(await this.followers.passed(event.position, [this.targets.name], 5000))) {
      throw new Error(`${this.targets.name} is behind`);
    }
    const { tenant, traceparent } = event.metadata;
    const reason = reasonOf(message);
    const metadata = { tenant, traceparent, actor: 'system:deployments', reason, causationId: event.id };
    for (const id of message.deployments ?? (await this.targets.of(message.integration_id))) {
      await this.change(id, buildPush(message, uuid()), metadata);
    }
  }

  @EventPattern<string>('CommitResolved')
  async commitResolved(
    @Payload() { deployment_id, revision_id, repo_commit_sha }: CommitResolvedMessage,
    @Ctx() { event }: EventContext,
  ): Promise<void> {
    const { tenant, traceparent } = event.metadata;
    const metadata = { tenant, traceparent, actor: 'system:deployments', causationId: event.id };
    await this.change(deployment_id, resolveCommit(revision_id, repo_commit_sha), metadata);
  }

  private async change(id: string, decide: (state: Deployment) => DeploymentEvent[], metadata: Metadata) {
    try {
      await this.commands.change(serviceCaller(metadata), id, decide);
    } catch (error) {
      if (!(error instanceof DeploymentNotFound)) throw error;
    }
  }
}
