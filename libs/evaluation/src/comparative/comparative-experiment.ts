import type { Aggregate, DomainEvent } from '@fairlead/eventing';
import { ComparativeExperimentExists, ComparativeExperimentNotFound } from './comparative-experiment.errors';

export type ComparativeExperimentCreated = DomainEvent<
  'ComparativeExperimentCreated',
  {
    readonly dataset_id: string;
    readonly experiment_ids: readonly string[];
    readonly name: string | null;
    readonly description: string | null;
    /** JSON text. */
    readonly extra: string | null;
    readonly created_at: string;
    readonly modified_at: string;
  }
>;

type ComparativeExperimentDeleted = DomainEvent<'ComparativeExperimentDeleted', Record<string, never>>;

export type ComparativeExperimentEvent = ComparativeExperimentCreated | ComparativeExperimentDeleted;

export interface ComparativeExperiment {
  readonly tenant_id: string;
  readonly removed: boolean;
}

type ComparativeExperimentState = ComparativeExperiment | null;

export const comparativeExperimentAggregate: Aggregate<ComparativeExperiment, ComparativeExperimentEvent> = {
  category: 'comparativeExperiment',
  model: {
    initial: null,
    evolve(_, { type, metadata }) {
      return { tenant_id: metadata.tenant ?? '', removed: type === 'ComparativeExperimentDeleted' };
    },
  },
  notFound: (id) => new ComparativeExperimentNotFound(id),
  withoutEditions: true,
};

export function createComparison(
  id: string,
  data: ComparativeExperimentCreated['data'],
): (state: ComparativeExperimentState) => ComparativeExperimentCreated[] {
  return (state) => {
    if (state) throw new ComparativeExperimentExists(id);
    return [{ type: 'ComparativeExperimentCreated', data }];
  };
}

export function deleteComparison(): ComparativeExperimentDeleted[] {
  return [{ type: 'ComparativeExperimentDeleted', data: {} }];
}
