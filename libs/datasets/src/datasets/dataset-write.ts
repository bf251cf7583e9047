import { changedMembers } from '@fairlead/eventing';
import {
  type Dataset,
  type DatasetChanged,
  type DatasetChanges,
  type DatasetCreated,
  type DatasetState,
  type DatasetTagged,
  type ExamplesAdded,
  type ExamplesChange,
  type ExamplesEvent,
  isThere,
} from './dataset';
import { DatasetExists, DatasetIdTaken } from './dataset.errors';

export type StoredChange = Pick<ExamplesChange, 'payload' | 'count'>;

/**
 * Creates a dataset, with its first examples when there are some.
 * @throws DatasetIdTaken for another tenant's id, DatasetExists
 */
export function createDataset(
  tenant: string,
  id: string,
  data: DatasetCreated['data'],
  now: Date,
  examples?: StoredChange,
): (state: DatasetState) => (DatasetCreated | ExamplesAdded)[] {
  return (state) => {
    if (state && state.tenant_id !== tenant) throw new DatasetIdTaken();
    if (isThere(state)) throw new DatasetExists(`of the id ${id}`, id);
    const created: DatasetCreated = { type: 'DatasetCreated', data };
    if (!examples) return [created];
    return [created, { type: 'ExamplesAdded', data: { ...examples, as_of: nextVersion(state?.newest, now) } }];
  };
}

export function changeDataset(wanted: DatasetChanges): (state: Dataset) => DatasetChanged[] {
  return ({ name, description, definitions }) => {
    const data = changedMembers<DatasetChanges>({ name, description, ...definitions }, wanted);
    return data ? [{ type: 'DatasetChanged', data }] : [];
  };
}

export function changeExamples(
  type: ExamplesEvent['type'],
  change: StoredChange,
  now: Date,
): (state: DatasetState) => ExamplesEvent[] {
  return (state) => [{ type, data: { ...change, as_of: nextVersion(state?.newest, now) } }];
}

export function tagVersion(tag: string, asOf: string): (state: Dataset) => DatasetTagged[] {
  return ({ tags }) => (tags.get(tag) === asOf ? [] : [{ type: 'DatasetTagged', data: { tag, as_of: asOf } }]);
}

/** The time of a new version: now, or a microsecond after the newest one where that is not over yet. */
function nextVersion(newest: string | undefined, now: Date): string {
  const micros = Math.max(now.getTime() * 1000, newest === undefined ? 0 : microsOf(newest) + 1);
  const milliseconds = new Date(Math.floor(micros / 1000)).toISOString().slice(0, -1);
  return `${milliseconds}${String(micros % 1000).padStart(3, '0')}+00:00`;
}

function microsOf(version: string): number {
  return Date.parse(`${version.slice(0, 23)}Z`) * 1000 + Number(version.slice(23, 26));
}
