import type { DomainEvent, Model } from '@fairlead/eventing';
import { ComparativeExperimentExists } from './comparative-experiment.errors';

/** Experiments of a dataset are set side by side under a name. */
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

interface ComparativeExperimentState {
  readonly exists: boolean;
  /** Also of one that has been deleted. */
  readonly tenant: string | undefined;
}

export const comparativeExperimentModel: Model<ComparativeExperimentState, ComparativeExperimentEvent> = {
  initial: { exists: false, tenant: undefined },
  evolve(_, event) {
    return { exists: event.type === 'ComparativeExperimentCreated', tenant: event.metadata.tenant };
  },
};

/** Creates a comparative experiment. @throws ComparativeExperimentExists */
export function createComparison(
  id: string,
  data: ComparativeExperimentCreated['data'],
): (state: ComparativeExperimentState) => ComparativeExperimentCreated[] {
  return (state) => {
    if (state.tenant !== undefined) throw new ComparativeExperimentExists(id);
    return [{ type: 'ComparativeExperimentCreated', data }];
  };
}

/** Deletes a comparative experiment; one that is gone already stays so. */
export function deleteComparison(): (state: ComparativeExperimentState) => ComparativeExperimentDeleted[] {
  return (state) => (state.exists ? [{ type: 'ComparativeExperimentDeleted', data: {} }] : []);
}
