import { hasEnded, type PushCause } from '@fairlead/contracts';
import type { Recorded } from '@fairlead/eventing';
import type { DeploymentEvent } from './deployment-events';

/** The actor that made a revision, the reason, and when it ran. */
interface Cause {
  /** Place among the revisions of the deployment, from 1. */
  readonly number: number;
  readonly reason: string | null;
  readonly actor: string | null;
  readonly redeployed_from: string | null;
  readonly push: PushCause | null;
  /** Name of the executor that deployed it; null for revisions that earlier versions deployed. */
  readonly executor: string | null;
  readonly activated_at: string | null;
  readonly ended_at: string | null;
}

/** The causes of the revisions of one deployment, by their ids, from its events. */
export async function causesOf(parts: AsyncIterable<readonly Recorded[]>): Promise<ReadonlyMap<string, Cause>> {
  const causes = new Map<string, Cause>();
  for await (const events of parts) learnFrom(events as readonly Recorded<DeploymentEvent>[], causes);
  return causes;
}

function learnFrom(events: readonly Recorded<DeploymentEvent>[], causes: Map<string, Cause>): void {
  const learn = (id: string | null, more: Partial<Cause>) => {
    const known = id !== null && causes.get(id);
    if (known) causes.set(id, { ...known, ...more });
  };
  for (const event of events) {
    const { time, metadata } = event;
    if (event.type === 'RevisionCreated') {
      const { revision_id, redeployed_from = null, push = null } = event.data;
      const { actor = null, reason = null } = metadata;
      const unknown = { executor: null, activated_at: null, ended_at: null };
      causes.set(revision_id, { number: causes.size + 1, reason, actor, redeployed_from, push, ...unknown });
    } else if (event.type === 'RevisionActivated') {
      const { revision_id, previous_revision_id, executor = null } = event.data;
      learn(previous_revision_id, { ended_at: time });
      learn(revision_id, { executor, activated_at: time });
    } else if (event.type === 'RevisionStatusChanged') {
      const { revision_id, status } = event.data;
      if (status !== 'DEPLOYED' && hasEnded(status)) learn(revision_id, { ended_at: time });
    }
  }
}
