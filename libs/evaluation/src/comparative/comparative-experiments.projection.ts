import { idOf, type Projection, type Recorded } from '@fairlead/eventing';
import type { DatasetDeleted } from '@fairlead/datasets';
import { deleteComparativeFeedback, insertRow, workspaceOf } from '@fairlead/runs';
import type { ComparativeExperimentEvent } from './comparative-experiment';

export const comparativeExperimentsView: Projection = {
  name: 'comparative-experiments-view',
  categories: ['comparativeExperiment', 'dataset'],
  async handle(events, tx) {
    for (const event of events as Recorded<ComparativeExperimentEvent | DatasetDeleted>[]) {
      if (event.type === 'ComparativeExperimentCreated') {
        const { dataset_id, name, description, extra, experiment_ids, created_at, modified_at } = event.data;
        await insertRow(tx, 'comparative_experiments', {
          ...{ id: idOf(event.stream), tenant_id: event.metadata.tenant, dataset_id, name, description, extra },
          ...{ experiment_ids, created_at, modified_at },
        });
      } else if (event.type === 'DatasetDeleted') {
        const tenant = await workspaceOf(tx, event, 'comparative_experiments', 'dataset_id');
        await tx.query('delete from comparative_experiments where dataset_id = $1 and tenant_id = $2', [
          idOf(event.stream),
          tenant,
        ]);
      } else if (event.type === 'ComparativeExperimentDeleted') {
        const id = idOf(event.stream);
        const tenant = await workspaceOf(tx, event, 'comparative_experiments');
        await tx.query('delete from comparative_experiments where id = $1 and tenant_id = $2', [id, tenant]);
        await deleteComparativeFeedback(tx, tenant, id);
      }
    }
  },
};
