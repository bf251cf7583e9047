import { type Aggregate, type DomainEvent, type Model, streamName } from '@fairlead/eventing';
import { DatasetIdTaken, DatasetMismatch, DatasetNotFound, NotExternallyManaged } from './dataset.errors';

export type DatasetCreated = DomainEvent<
  'DatasetCreated',
  {
    readonly name: string;
    readonly description: string | null;
    readonly data_type: string;
    readonly externally_managed: boolean;
  } & Partial<DatasetDefinitions>
>;

interface DatasetDefinitions {
  readonly metadata: string | null;
  readonly inputs_schema: string | null;
  readonly outputs_schema: string | null;
}

export interface DatasetChanges extends Partial<DatasetDefinitions> {
  readonly name?: string;
  readonly description?: string;
}

export type DatasetChanged = DomainEvent<'DatasetChanged', DatasetChanges>;

/** The rows of a change are in the payload store: see `ExampleRow` of example-rows.ts. */
export interface ExamplesChange {
  readonly payload: { readonly sha256: string; readonly bytes: number };
  readonly count: number;
  /** The version of the dataset that the change makes: ISO 8601 in UTC with microseconds, later than every one before. */
  readonly as_of: string;
}

export type ExamplesAdded = DomainEvent<'ExamplesAdded', ExamplesChange>;
type ExamplesChanged = DomainEvent<'ExamplesChanged', ExamplesChange>;
type ExamplesDeleted = DomainEvent<'ExamplesDeleted', ExamplesChange>;
type SplitsChanged = DomainEvent<'SplitsChanged', ExamplesChange>;
export type ExamplesEvent = ExamplesAdded | ExamplesChanged | ExamplesDeleted | SplitsChanged;

/** A version has a name from now on, which another version may have had before. */
export type DatasetTagged = DomainEvent<'DatasetTagged', { readonly tag: string; readonly as_of: string }>;

type ExperimentAdded = DomainEvent<
  'ExperimentAdded',
  {
    readonly experiment_id: string;
    readonly number: number;
    /** It is sent run by run, which leaves the dataset as it is. */
    readonly live?: true;
  }
>;

export interface ScoreDirections {
  readonly lower_is_better: readonly string[];
  readonly higher_is_better: readonly string[];
}

type ScoreDirectionsChanged = DomainEvent<'ScoreDirectionsChanged', ScoreDirections>;

type DatasetBaselineChanged = DomainEvent<'DatasetBaselineChanged', { readonly experiment_id: string | null }>;

export type DatasetDeleted = DomainEvent<'DatasetDeleted', Record<string, never>>;

export type DatasetEvent =
  | DatasetCreated
  | DatasetChanged
  | ExamplesEvent
  | DatasetTagged
  | ExperimentAdded
  | ScoreDirectionsChanged
  | DatasetBaselineChanged
  | DatasetDeleted;

export interface Dataset {
  readonly tenant_id: string;
  readonly removed: boolean;
  readonly name: string;
  readonly description: string | null;
  readonly dataType: string;
  readonly externallyManaged: boolean;
  readonly createdAt: string;
  readonly modifiedAt: string;
  readonly numbers: ReadonlyMap<string, number>;
  readonly lastNumber: number;
  readonly directions: ScoreDirections;
  readonly baseline: string | null;
  readonly definitions: DatasetDefinitions;
  /** The newest version that a change of examples made; undefined before the first one. */
  readonly newest?: string;
  readonly tags: ReadonlyMap<string, string>;
}

/** Null before it was created. One that was removed can be created again under its id. */
export type DatasetState = Dataset | null;

export const datasetModel: Model<DatasetState, DatasetEvent> = {
  initial: null,
  evolve(state, event) {
    const modifiedAt = event.time;
    if (event.type === 'DatasetCreated') {
      const { name, description, data_type: dataType, externally_managed: externallyManaged } = event.data;
      const { metadata = null, inputs_schema = null, outputs_schema = null } = event.data;
      return {
        ...{ tenant_id: event.metadata.tenant ?? '', removed: false, name, description, dataType, externallyManaged },
        ...{ createdAt: event.time, modifiedAt, numbers: new Map(), lastNumber: 0, tags: new Map() },
        directions: { lower_is_better: [], higher_is_better: [] },
        baseline: null,
        definitions: { metadata, inputs_schema, outputs_schema },
        // A version that an earlier dataset of this id had is never made again.
        newest: state?.newest,
      };
    }
    if (!state) return null;
    switch (event.type) {
      case 'DatasetChanged': {
        const { name = state.name, description = state.description, ...changed } = event.data;
        return { ...state, modifiedAt, name, description, definitions: { ...state.definitions, ...changed } };
      }
      case 'ExamplesAdded':
      case 'ExamplesChanged':
      case 'ExamplesDeleted':
      case 'SplitsChanged':
        return { ...state, modifiedAt, newest: event.data.as_of };
      case 'DatasetTagged':
        return { ...state, modifiedAt, tags: new Map(state.tags).set(event.data.tag, event.data.as_of) };
      case 'ExperimentAdded': {
        const { experiment_id: id, number, live } = event.data;
        const numbers = new Map(state.numbers).set(id, number);
        return {
          ...state,
          modifiedAt: live ? state.modifiedAt : modifiedAt,
          numbers,
          lastNumber: Math.max(state.lastNumber, number),
        };
      }
      case 'ScoreDirectionsChanged':
        return { ...state, modifiedAt, directions: event.data };
      case 'DatasetBaselineChanged':
        return { ...state, modifiedAt, baseline: event.data.experiment_id };
      case 'DatasetDeleted':
        return { ...state, modifiedAt, removed: true };
    }
  },
};

export const datasetAggregate: Aggregate<Dataset, DatasetEvent> = {
  category: 'dataset',
  model: datasetModel,
  notFound: (id) => new DatasetNotFound(id),
  withoutEditions: true,
};

export function datasetStream(id: string): string {
  return streamName(datasetAggregate.category, id);
}

export function isThere(state: DatasetState): state is Dataset & { readonly removed: false } {
  return state !== null && !state.removed;
}

export interface Target {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly description: string | null;
  /** True when the caller gave `name`: then it must be the dataset's. */
  readonly named: boolean;
}

/**
 * Puts an experiment into the dataset, creating that when it is new. An experiment that is in it stays as it is.
 * @throws DatasetIdTaken for another tenant's dataset, DatasetMismatch when it has another name,
 * NotExternallyManaged when uploads may not fill it.
 */
export function addExperiment(
  experimentId: string,
  target: Target,
): (state: DatasetState) => (DatasetCreated | ExperimentAdded)[] {
  return (state) => {
    checkTarget(state, target);
    const joins = isThere(state);
    if (joins && state.numbers.has(experimentId)) return [];
    const number = joins ? state.lastNumber + 1 : 1;
    const added: ExperimentAdded = { type: 'ExperimentAdded', data: { experiment_id: experimentId, number } };
    return joins ? [added] : [created(target), added];
  };
}

export function numberExperiment(experimentId: string): (state: DatasetState) => ExperimentAdded[] {
  return (state) => {
    if (!isThere(state) || state.numbers.has(experimentId)) return [];
    const number = state.lastNumber + 1;
    return [{ type: 'ExperimentAdded', data: { experiment_id: experimentId, number, live: true } }];
  };
}

/** The rules of `addExperiment` alone. @throws as that does. */
export function checkTarget(state: DatasetState, { id, tenant, name, named }: Target): void {
  if (state && state.tenant_id !== tenant) throw new DatasetIdTaken();
  if (!isThere(state)) return;
  if (!state.externallyManaged) throw new NotExternallyManaged(id);
  if (named && state.name !== name) throw new DatasetMismatch(`the dataset of this id is named '${state.name}'`);
}

function created({ name, description }: Target): DatasetCreated {
  return { type: 'DatasetCreated', data: { name, description, data_type: 'kv', externally_managed: true } };
}

export function setScoreDirections(wanted: ScoreDirections): (state: Dataset) => ScoreDirectionsChanged[] {
  const data = {
    lower_is_better: [...new Set(wanted.lower_is_better)].sort(),
    higher_is_better: [...new Set(wanted.higher_is_better)].sort(),
  };
  return ({ directions }) =>
    JSON.stringify(data) === JSON.stringify(directions) ? [] : [{ type: 'ScoreDirectionsChanged', data }];
}

export function setBaseline(experiment_id: string | null): (state: Dataset) => DatasetBaselineChanged[] {
  return ({ baseline }) =>
    baseline === experiment_id ? [] : [{ type: 'DatasetBaselineChanged', data: { experiment_id } }];
}

export function deleteDataset(): DatasetDeleted[] {
  return [{ type: 'DatasetDeleted', data: {} }];
}
