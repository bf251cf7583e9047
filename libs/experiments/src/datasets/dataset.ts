import type { DomainEvent, Model } from '@fairlead/eventing';
import { DatasetIdTaken, DatasetMismatch, NotExternallyManaged } from './dataset.errors';

export type DatasetCreated = DomainEvent<
  'DatasetCreated',
  {
    readonly name: string;
    readonly description: string | null;
    readonly data_type: string;
    /** True for datasets that uploads made, and only uploads fill. */
    readonly externally_managed: boolean;
  } & Partial<DatasetDefinitions>
>;

/** What clients say of a dataset, as the JSON text that was sent; absent where an upload made it. */
interface DatasetDefinitions {
  readonly metadata: string | null;
  readonly inputs_schema: string | null;
  readonly outputs_schema: string | null;
}

/** Members of a dataset that have changed. */
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
/** The members of a split have changed, which is a change of their examples' metadata. */
type SplitsChanged = DomainEvent<'SplitsChanged', ExamplesChange>;
export type ExamplesEvent = ExamplesAdded | ExamplesChanged | ExamplesDeleted | SplitsChanged;

/** A version has a name from now on, which another version may have had before. */
export type DatasetTagged = DomainEvent<'DatasetTagged', { readonly tag: string; readonly as_of: string }>;

/** An experiment has been put into the dataset, as its `number`th. */
export type ExperimentAdded = DomainEvent<
  'ExperimentAdded',
  {
    readonly experiment_id: string;
    readonly number: number;
    /** It is sent run by run, which leaves the dataset as it is. */
    readonly live?: true;
  }
>;

/** Keys of scores by what counts as better for them in this dataset; both lists as they are from now on. */
export interface ScoreDirections {
  readonly lower_is_better: readonly string[];
  readonly higher_is_better: readonly string[];
}

export type ScoreDirectionsChanged = DomainEvent<'ScoreDirectionsChanged', ScoreDirections>;

export type DatasetDeleted = DomainEvent<'DatasetDeleted', Record<string, never>>;

export type DatasetEvent =
  | DatasetCreated
  | DatasetChanged
  | ExamplesEvent
  | DatasetTagged
  | ExperimentAdded
  | ScoreDirectionsChanged
  | DatasetDeleted;

export interface DatasetState {
  readonly exists: boolean;
  /** The owner, also of a dataset that has been deleted. */
  readonly tenant: string | undefined;
  readonly name: string;
  readonly description: string | null;
  readonly dataType: string;
  readonly externallyManaged: boolean;
  readonly createdAt: string;
  readonly modifiedAt: string;
  /** Number of each experiment by its id. */
  readonly numbers: ReadonlyMap<string, number>;
  readonly lastNumber: number;
  readonly directions: ScoreDirections;
  readonly definitions: DatasetDefinitions;
  /** The newest version that a change of examples made; undefined before the first one. */
  readonly newest: string | undefined;
  /** The version of each tag. */
  readonly tags: ReadonlyMap<string, string>;
}

const NONE: ReadonlyMap<string, number> = new Map();
const NO_DIRECTIONS: ScoreDirections = { lower_is_better: [], higher_is_better: [] };
const NO_TAGS: ReadonlyMap<string, string> = new Map();
const NO_DEFINITIONS: DatasetDefinitions = { metadata: null, inputs_schema: null, outputs_schema: null };

export const datasetModel: Model<DatasetState, DatasetEvent> = {
  initial: {
    exists: false,
    tenant: undefined,
    name: '',
    description: null,
    dataType: 'kv',
    externallyManaged: false,
    createdAt: '',
    modifiedAt: '',
    numbers: NONE,
    lastNumber: 0,
    directions: NO_DIRECTIONS,
    definitions: NO_DEFINITIONS,
    newest: undefined,
    tags: NO_TAGS,
  },
  evolve(state, event) {
    const modifiedAt = event.time;
    switch (event.type) {
      case 'DatasetCreated': {
        const { name, description, data_type: dataType, externally_managed: externallyManaged } = event.data;
        const { tenant } = event.metadata;
        const { metadata = null, inputs_schema = null, outputs_schema = null } = event.data;
        const definitions = { metadata, inputs_schema, outputs_schema };
        const facts = { name, description, dataType, externallyManaged, tenant, createdAt: event.time, modifiedAt };
        // A version that an earlier dataset of this id had is never made again.
        const { newest } = state;
        return { ...datasetModel.initial, ...facts, definitions, newest, exists: true };
      }
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
      case 'DatasetDeleted':
        return { ...state, modifiedAt, exists: false };
    }
  },
};

/** What an upload says of the dataset it belongs to. */
export interface Target {
  readonly id: string;
  readonly tenant: string;
  /** The name that was given, or made up for a new dataset. */
  readonly name: string;
  readonly description: string | null;
  /** Whether the caller gave `name`: then it must be the dataset's. */
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
    if (state.exists && state.numbers.has(experimentId)) return [];
    const number = state.exists ? state.lastNumber + 1 : 1;
    const added: ExperimentAdded = { type: 'ExperimentAdded', data: { experiment_id: experimentId, number } };
    return state.exists ? [added] : [created(target), added];
  };
}

/** Gives an experiment that is sent run by run the next number of the dataset; one that has a number keeps it. */
export function numberExperiment(experimentId: string): (state: DatasetState) => ExperimentAdded[] {
  return ({ exists, numbers, lastNumber }) => {
    if (!exists || numbers.has(experimentId)) return [];
    return [{ type: 'ExperimentAdded', data: { experiment_id: experimentId, number: lastNumber + 1, live: true } }];
  };
}

/** The rules of `addExperiment` alone. @throws as that does. */
export function checkTarget(state: DatasetState, { id, tenant, name, named }: Target): void {
  if (state.tenant !== undefined && state.tenant !== tenant) throw new DatasetIdTaken();
  if (!state.exists) return;
  if (!state.externallyManaged) throw new NotExternallyManaged(id);
  if (named && state.name !== name) throw new DatasetMismatch(`the dataset of this id is named '${state.name}'`);
}

function created({ name, description }: Target): DatasetCreated {
  return { type: 'DatasetCreated', data: { name, description, data_type: 'kv', externally_managed: true } };
}

/** Says what counts as better for scores of these keys; the same again changes nothing. */
export function setScoreDirections(wanted: ScoreDirections): (state: DatasetState) => ScoreDirectionsChanged[] {
  const data = {
    lower_is_better: [...new Set(wanted.lower_is_better)].sort(),
    higher_is_better: [...new Set(wanted.higher_is_better)].sort(),
  };
  return ({ directions }) =>
    JSON.stringify(data) === JSON.stringify(directions) ? [] : [{ type: 'ScoreDirectionsChanged', data }];
}

/** Deletes the dataset; one that is gone already stays so. */
export function deleteDataset(): (state: DatasetState) => DatasetDeleted[] {
  return (state) => (state.exists ? [{ type: 'DatasetDeleted', data: {} }] : []);
}
