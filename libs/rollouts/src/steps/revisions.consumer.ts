import { isRunning, type RevisionCreatedMessage, type RevisionStatusChangedMessage } from '@fairlead/contracts';
import { type EventContext, idOf } from '@fairlead/eventing';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { Executor } from '@fairlead/executors';
import { GatedDeployments } from './gated-deployments.store';
import { RolloutQueue } from './rollout-queue.store';

/** Hears of what may have to be done. What it is, the deployment's stream tells when it is done. */
@Controller()
export class RevisionsConsumer {
  constructor(
    private readonly queue: RolloutQueue,
    private readonly gated: GatedDeployments,
    private readonly executor: Executor,
  ) {}

  @EventPattern<string>('DeploymentCreated')
  created(@Ctx() context: EventContext): Promise<void> {
    return this.note(context);
  }

  /** Its sizes may have changed, which only concerns an executor that sees to what runs. */
  @EventPattern<string>('DeploymentPatched')
  async patched(@Ctx() context: EventContext): Promise<void> {
    if (this.executor.upkeep) await this.note(context);
  }

  @EventPattern<string>('RevisionCreated')
  async revisionCreated(@Payload() { gates }: RevisionCreatedMessage, @Ctx() context: EventContext): Promise<void> {
    if (gates) await this.noteGated(context);
    await this.note(context);
  }

  /** A revision may begin, or has ended, by itself or by an interrupt. */
  @EventPattern<string>('RevisionStatusChanged')
  async revisionMoved(
    @Payload() { previous_status, status }: RevisionStatusChangedMessage,
    @Ctx() context: EventContext,
  ): Promise<void> {
    if (previous_status === 'QUEUED' || !isRunning(status)) await this.note(context);
  }

  /**
   * Processes of versions that do not know gates pass over revisions that have some: the first process that knows them
   * hears of all gates that there ever were.
   */
  @EventPattern<string>('GatesDeclared')
  async gatesDeclared(@Ctx() context: EventContext): Promise<void> {
    await this.noteGated(context);
    await this.note(context);
  }

  /** The revision that serves meanwhile is looked at again. */
  @EventPattern<string>('RevisionHeld')
  revisionHeld(@Ctx() context: EventContext): Promise<void> {
    return this.note(context);
  }

  @EventPattern<string>('RevisionReleased')
  async revisionReleased(@Ctx() context: EventContext): Promise<void> {
    await this.noteGated(context);
    await this.note(context);
  }

  @EventPattern<string>('DeploymentStopRequested')
  stopRequested(@Ctx() context: EventContext): Promise<void> {
    return this.note(context);
  }

  @EventPattern<string>('DeploymentStartRequested')
  startRequested(@Ctx() context: EventContext): Promise<void> {
    return this.note(context);
  }

  @EventPattern<string>('DeploymentRestartRequested')
  restartRequested(@Ctx() context: EventContext): Promise<void> {
    return this.note(context);
  }

  @EventPattern<string>('DeploymentDeletionRequested')
  deletionRequested(@Ctx() context: EventContext): Promise<void> {
    return this.note(context);
  }

  private async noteGated({ event: { stream, metadata } }: EventContext): Promise<void> {
    if (metadata.tenant) await this.gated.note(metadata.tenant, idOf(stream));
  }

  private note({ event: { stream, version, metadata } }: EventContext): Promise<void> {
    return this.queue.note(idOf(stream), version, metadata.tenant);
  }
}
