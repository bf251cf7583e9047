import {
  isBuilt,
  isRunning,
  type RevisionActivatedMessage,
  type RevisionStatus,
  type RolloutStatusReportedMessage,
} from '@fairlead/contracts';
import { type EventContext, EventStore, handle, streamName } from '@fairlead/eventing';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { type Target, type TargetEvent, targetModel } from '../rollout/target';

/** Stands in for the deployments service: one revision runs at a time, and when it ends the newest that waits runs. */
@Controller()
export class DeploymentsDouble {
  constructor(private readonly store: EventStore) {}

  @EventPattern<string>('RolloutStatusReported')
  async reported(@Payload() said: RolloutStatusReportedMessage, @Ctx() { event }: EventContext): Promise<void> {
    const stream = streamName('deployment', said.deployment_id);
    const metadata = { tenant: event.metadata.tenant, causationId: event.id };
    await handle(this.store, targetModel, stream, (state) => answer(state, said), metadata);
  }
}

/** Events with which a deployment answers a report, or an interrupt. */
export function answer(
  state: Target,
  { revision_id, status, executor }: { revision_id: string; status: RevisionStatus; executor?: string },
): readonly TargetEvent[] {
  if (!state || state.deleting) return [];
  const queued = state.queued.find(({ id }) => id === revision_id);
  if (!queued && state.running?.id !== revision_id) return [];
  if (queued && state.running && isRunning(status)) return [];
  const events = [moved(revision_id, queued ? 'QUEUED' : state.running!.status, status)];
  if (status === 'DEPLOYED') events.push(activated({ revision_id, previous_revision_id: null, executor }));
  if (isRunning(status) || (queued && state.running)) return events;
  const next = state.queued.filter(({ id }) => id !== revision_id);
  for (const revision of next.slice(0, -1)) events.push(moved(revision.id, 'QUEUED', 'SKIPPED'));
  const newest = next.at(-1);
  if (newest && !queued) {
    events.push(moved(newest.id, 'QUEUED', isBuilt(newest.source) ? 'AWAITING_BUILD' : 'AWAITING_DEPLOY'));
  }
  return events;
}

function activated(data: RevisionActivatedMessage): TargetEvent {
  return { type: 'RevisionActivated', data };
}

function moved(revision_id: string, previous_status: RevisionStatus, status: RevisionStatus): TargetEvent {
  return { type: 'RevisionStatusChanged', data: { revision_id, previous_status, status } };
}
