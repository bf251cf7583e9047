import type { EventStore, ReadModel } from '@fairlead/eventing';
import { DeploymentsView } from './deployment/deployment.projection';
import { listenersProjection } from './listener/listener.projection';
import { PushTargetsView } from './source/push-targets.projection';

/** The tables of this domain that can be made again from the log. */
export function deploymentsReadModels(store: EventStore): ReadModel[] {
  return [
    {
      name: 'deployments',
      tables: ['deployments', 'deployment_documents', 'revisions'],
      projections: () => [new DeploymentsView()],
    },
    { name: 'listeners', tables: ['listeners'], projections: () => [listenersProjection(store)] },
    { name: 'push-targets', tables: ['push_targets'], projections: (pool) => [new PushTargetsView(pool)] },
  ];
}
