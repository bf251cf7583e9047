import { type EventStore, fold, owned, streamName } from '@fairlead/eventing';
import { BadRequest } from '@fairlead/schema';
import { type Deployment, deploymentAggregate, deploymentModel } from './deployment';
import { VersionNotFound } from './deployment.errors';

/** A point of the past: a time, in microseconds since 1970, or a version of the stream. */
interface Point {
  readonly at?: { readonly micros: number };
  readonly version?: number;
}

/**
 * Returns the deployment as it was, folded from the events up to a time or version.
 * @throws BadRequest for both, DeploymentNotFound when it was not there, VersionNotFound
 */
export async function deploymentAt(
  store: EventStore,
  tenantId: string,
  id: string,
  { at, version }: Point,
): Promise<Deployment> {
  if (at !== undefined && version !== undefined) throw new BadRequest('Send either at or version, not both.');
  let folded = deploymentModel.initial;
  let newest = 0;
  for await (const events of store.parts(streamName('deployment', id))) {
    // Times of services whose clocks differ may not grow: nothing is left out from the middle.
    const later = events.findIndex(({ time, version: made }) =>
      at ? Date.parse(time) * 1000 > at.micros : made > (version ?? Infinity),
    );
    folded = fold(deploymentModel, later < 0 ? events : events.slice(0, later), folded);
    newest = events.at(-1)!.version;
    if (later >= 0) break;
  }
  const state = owned(deploymentAggregate, tenantId, id, (deployment: Deployment) => deployment)(folded);
  if (version !== undefined && version > newest) throw new VersionNotFound(id, version, newest);
  return state;
}
