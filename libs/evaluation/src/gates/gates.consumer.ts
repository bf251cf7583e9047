import { hasEnded, type RevisionHeldMessage, type RevisionStatusChangedMessage } from '@fairlead/contracts';
import { type EventContext, idOf } from '@fairlead/eventing';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { HeldRevisions } from './held-revisions.store';

/** Hears of revisions that gates hold, and of the end of that. */
@Controller()
export class GatesConsumer {
  constructor(private readonly held: HeldRevisions) {}

  @EventPattern<string>('RevisionHeld')
  async revisionHeld(@Payload() message: RevisionHeldMessage, @Ctx() { event }: EventContext): Promise<void> {
    const { tenant } = event.metadata;
    if (tenant !== undefined) await this.held.add(tenant, idOf(event.stream), message);
  }

  @EventPattern<string>('RevisionReleased')
  async released(@Payload() message: { readonly revision_id: string }, @Ctx() { event }: EventContext): Promise<void> {
    const { tenant } = event.metadata;
    if (tenant !== undefined) await this.held.remove(tenant, message.revision_id);
  }

  @EventPattern<string>('RevisionStatusChanged')
  async moved(@Payload() message: RevisionStatusChangedMessage, @Ctx() { event }: EventContext): Promise<void> {
    const { tenant } = event.metadata;
    const { previous_status, status, revision_id } = message;
    if (tenant === undefined || previous_status !== 'AWAITING_DEPLOY' || !hasEnded(status)) return;
    await this.held.remove(tenant, revision_id);
  }

  @EventPattern<string>('DeploymentDeletionRequested')
  async deleted(@Ctx() { event }: EventContext): Promise<void> {
    const { tenant } = event.metadata;
    if (tenant !== undefined) await this.held.removeOf(tenant, idOf(event.stream));
  }
}
