import type { PlannedRevision, RolloutPlans } from '@fairlead/contracts';
import { type EventStore, fold, type Recorded, streamName } from '@fairlead/eventing';
import { Unavailable } from '@fairlead/schema';
import { type Deployment, deploymentModel, type DeploymentState, snapshotOf } from './deployment';
import type { DeploymentEvent } from './deployment-events';
import { InvalidDeployment } from './deployment.errors';

/** Stands for the id of a revision that is not made yet. */
const PLANNED = '00000000-0000-7000-8000-000000000000';

/** Reads where the executor has said that a deployment runs: it stays there, whatever its configuration says now. */
export async function placeOf(store: EventStore, id: string): Promise<string | undefined> {
  for await (const events of store.parts(streamName('host', id))) {
    const placed = events.find(({ type }) => type === 'DeploymentPlaced');
    if (placed) return (placed.data as { readonly place: string }).place;
  }
  return undefined;
}

/** Returns a command that refuses, with InvalidDeployment, what the executor will refuse for a deployment in `place`. */
export function checkedBy<State extends DeploymentState>(
  plans: RolloutPlans,
  decide: (state: State) => DeploymentEvent[],
  place?: string,
): (state: State) => DeploymentEvent[] {
  return (state) => {
    const events = decide(state);
    // The model reads nothing of an event but its type, data and time.
    const recorded = events.map((event) => ({ ...event, time: '' }) as Recorded<DeploymentEvent>);
    const after = fold(deploymentModel, recorded, state);
    const planned = after ? plannedOf(after, events, place) : undefined;
    const refusal = planned && plans.refusal(planned);
    if (refusal !== undefined) throw new InvalidDeployment(refusal);
    return events;
  };
}

/**
 * Asks the place where a deployment would run about a change that was only tried, and returns its warnings.
 * @throws InvalidDeployment when it would refuse the change, Unavailable when it cannot be asked
 */
export async function rehearse(
  plans: RolloutPlans,
  { state, events }: { readonly state: Deployment; readonly events: readonly DeploymentEvent[] },
  place?: string,
): Promise<readonly string[]> {
  const planned = plannedOf(state, events, place);
  if (!planned) return [];
  const { refusal, unreachable, warnings } = await plans.rehearse(planned);
  if (refusal !== undefined) throw new InvalidDeployment(refusal);
  if (unreachable !== undefined) throw new Unavailable(5, unreachable);
  return warnings;
}

/** The revision that would run after a change; undefined when the change is about nothing that runs. */
function plannedOf(
  state: Deployment,
  events: readonly DeploymentEvent[],
  place: string | undefined,
): PlannedRevision | undefined {
  const created = events.find((event) => event.type === 'RevisionCreated');
  const isResized = events.some(
    (event) => event.type === 'DeploymentPatched' && event.data.source_config?.resource_spec,
  );
  if (!created && !isResized) return undefined;
  const { id, tenant_id, name, source_config, latest_revision_id } = state;
  const revision = {
    revision_id: latest_revision_id ?? PLANNED,
    deployment_id: id,
    ...snapshotOf(state),
    ...created?.data,
  };
  // Only what is there already can be planned: an image that is still to be built has no name.
  if (revision.source_revision_config.image_uri === undefined) return undefined;
  return { tenantId: tenant_id, deploymentId: id, name, config: source_config, place, revision };
}
