import { idOf, type Projection, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import type { DatasetDeleted } from '../datasets/dataset';
import type { ComparativeExperimentCreated, ComparativeExperimentEvent } from './comparative-experiment';

export const comparativeExperimentsView: Projection = {
  name: 'comparative-experiments-view',
  categories: ['comparativeExperiment', 'dataset'],
  async handle(events, tx) {
    for (const event of events as Recorded<ComparativeExperimentEvent | DatasetDeleted>[]) {
      if (event.type === 'ComparativeExperimentCreated') await applyCreated(event, tx);
      else if (event.type === 'DatasetDeleted') {
        await tx.query('delete from comparative_experiments where dataset_id = $1', [idOf(event.stream)]);
      } else if (event.type === 'ComparativeExperimentDeleted') {
        const id = idOf(event.stream);
        await tx.query('delete from comparative_experiments where id = $1', [id]);
        await tx.query('delete from feedback where comparative_experiment_id = $1 and tenant_id = $2', [
          id,
          event.metadata.tenant,
        ]);
      }
    }
  },
};

async function applyCreated(event: Recorded<ComparativeExperimentCreated>, tx: PoolClient): Promise<void> {
  const { data } = event;
  await tx.query(
    `insert into comparative_experiments (id, tenant_id, dataset_id, name, description, extra, experiment_ids, created_at, modified_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (id) do nothing`,
    [
      idOf(event.stream),
      event.metadata.tenant,
      data.dataset_id,
      data.name,
      data.description,
      data.extra,
      data.experiment_ids,
      data.created_at,
      data.modified_at,
    ],
  );
}
