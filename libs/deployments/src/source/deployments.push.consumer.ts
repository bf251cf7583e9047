import type { CommitResolvedMessage, PushReceivedMessage } from '@fairlead/contracts';
import { type EventContext, Followers, type Metadata, serviceCaller } from '@fairlead/eventing';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { v7 as uuid } from 'uuid';
import type { Deployment } from '../deployment/deployment';
import { DeploymentCommands } from '../deployment/deployment.commands';
import type { DeploymentEvent } from '../deployment/deployment-events';
import { DeploymentNotFound } from '../deployment/deployment.errors';
import { buildPush, resolveCommit } from './push';
import { PushTargetsView } from './push-targets.projection';

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
    const reason = `Push of ${message.repo_commit_sha} to ${message.ref}.`;
    const metadata = { tenant, traceparent, actor: 'system:deployments', reason, causationId: event.id };
    for (const id of await this.targets.of(message.integration_id)) {
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
