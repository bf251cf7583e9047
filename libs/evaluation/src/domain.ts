import type { EventStore, ReadModel } from '@fairlead/eventing';
import type { EntityClass } from '@fairlead/postgres';
import { experimentsEntities, experimentsReadModel } from '@fairlead/experiments';
import * as comparative from './comparative/comparative-experiment.entity';
import { comparativeExperimentsView } from './comparative/comparative-experiments.projection';
import * as held from './gates/held-revision.entity';
import { heldRevisionsView } from './gates/held-revisions.projection';
import * as monitors from './monitors/monitor.entity';
import { monitorsProjection } from './monitors/monitor.projection';
import * as shares from './sharing/share.entity';
import { shareHandlers } from './sharing/shares.projection';

/** Entities of this library and of experiments below it. */
export const evaluationEntities = [
  ...experimentsEntities,
  ...[comparative, held, monitors, shares].flatMap((file) => Object.values<EntityClass>(file)),
];

/** Read models of this library and of experiments below it. */
export function evaluationReadModels(store: EventStore): ReadModel[] {
  return [
    experimentsReadModel(store, { tables: ['shares', 'share_links'], handlers: shareHandlers }),
    {
      name: 'comparative-experiments',
      tables: ['comparative_experiments'],
      projections: () => [comparativeExperimentsView],
    },
    {
      name: 'held-revisions',
      tables: ['held_revisions'],
      notes: ['gate_looks'],
      projections: () => [heldRevisionsView],
    },
    { name: 'monitors', tables: ['monitors'], notes: ['monitor_looks'], projections: () => [monitorsProjection] },
  ];
}
