import { fold } from '@fairlead/eventing';
import { recorded } from '@fairlead/eventing/testing';
import {
  addExperiment,
  type DatasetEvent,
  datasetModel,
  deleteDataset,
  numberExperiment,
  setBaseline,
  setScoreDirections,
  type Target,
} from './dataset';
import { DatasetIdTaken, DatasetMismatch, NotExternallyManaged } from './dataset.errors';

const target: Target = { id: 'd', tenant: 't', name: 'n', description: 'about', named: true };
const created: DatasetEvent = {
  type: 'DatasetCreated',
  data: { name: 'n', description: 'about', data_type: 'kv', externally_managed: true },
};
const added = (id: string, number: number): DatasetEvent => ({
  type: 'ExperimentAdded',
  data: { experiment_id: id, number },
});
const deleted: DatasetEvent = { type: 'DatasetDeleted', data: {} };
/** The state after these events of tenant `t`. */
const after = (...events: DatasetEvent[]) => fold(datasetModel, recorded(events, 'dataset-d', { tenant: 't' }));

describe('a dataset', () => {
  it('is created by its first experiment', () => {
    expect(addExperiment('e1', target)(after())).toEqual([created, added('e1', 1)]);
  });

  it('numbers its experiments, each once', () => {
    const two = after(created, added('e1', 1), added('e2', 2));
    expect(addExperiment('e3', target)(two)).toEqual([added('e3', 3)]);
    expect(addExperiment('e1', target)(two)).toEqual([]);
    expect(two?.numbers.get('e1')).toBe(1);
  });

  it('numbers experiments that are sent run by run too, which leaves it as it is', () => {
    const [live] = numberExperiment('e2')(after(created, added('e1', 1)));
    expect(live).toEqual({ type: 'ExperimentAdded', data: { experiment_id: 'e2', number: 2, live: true } });
    const numbered = after(created, added('e1', 1), live!);
    expect(numberExperiment('e2')(numbered)).toEqual([]);
    expect(addExperiment('e3', target)(numbered)).toEqual([added('e3', 3)]);
    expect(numbered?.modifiedAt).toBe(after(created, added('e1', 1))?.modifiedAt);
    expect(numberExperiment('e1')(after(created, deleted))).toEqual([]);
  });

  it('is refused under another name, unless none was given', () => {
    expect(() => addExperiment('e', { ...target, name: 'other' })(after(created))).toThrow(DatasetMismatch);
    expect(addExperiment('e', { ...target, name: 'other', named: false })(after(created))).toEqual([added('e', 1)]);
  });

  it('is refused when uploads did not make it', () => {
    const own: DatasetEvent = { type: 'DatasetCreated', data: { ...created.data, externally_managed: false } };
    expect(() => addExperiment('e', target)(after(own))).toThrow(NotExternallyManaged);
  });

  it('of another tenant is refused, also after it was deleted', () => {
    const stranger = { ...target, tenant: 'u' };
    expect(() => addExperiment('e', stranger)(after(created))).toThrow(DatasetIdTaken);
    expect(() => addExperiment('e', stranger)(after(created, deleted))).toThrow(DatasetIdTaken);
  });

  it('that was deleted begins anew', () => {
    expect(addExperiment('e1', target)(after(created, added('e1', 1), deleted))).toEqual([created, added('e1', 1)]);
    expect(after(created, ...deleteDataset())).toMatchObject({ removed: true });
  });

  it('knows the experiment that others are compared with, until it is deleted', () => {
    const set: DatasetEvent = { type: 'DatasetBaselineChanged', data: { experiment_id: 'e1' } };
    const none: DatasetEvent = { type: 'DatasetBaselineChanged', data: { experiment_id: null } };
    expect(setBaseline('e1')(after(created)!)).toEqual([set]);
    expect(setBaseline('e1')(after(created, set)!)).toEqual([]);
    expect(setBaseline(null)(after(created, set)!)).toEqual([none]);
    expect(setBaseline(null)(after(created)!)).toEqual([]);
    expect(after(created, set, deleted, created)?.baseline).toBeNull();
  });

  it('knows what counts as better for its keys, until it is said anew or it is deleted', () => {
    const data = { lower_is_better: ['cost', 'latency'], higher_is_better: [] };
    const wanted = { ...data, lower_is_better: ['latency', 'cost', 'cost'] };
    const set: DatasetEvent = { type: 'ScoreDirectionsChanged', data };
    expect(setScoreDirections(wanted)(after(created)!)).toEqual([set]);
    expect(setScoreDirections(wanted)(after(created, set)!)).toEqual([]);
    expect(after(created, set)?.directions).toEqual(data);
    expect(after(created, set, deleted, created)?.directions).toEqual({ lower_is_better: [], higher_is_better: [] });
  });
});
