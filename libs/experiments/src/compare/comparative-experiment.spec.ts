import { given } from '@fairlead/eventing/testing';
import {
  type ComparativeExperimentCreated,
  comparativeExperimentModel,
  createComparison,
  deleteComparison,
} from './comparative-experiment';
import { ComparativeExperimentExists } from './comparative-experiment.errors';

const data = {
  dataset_id: 'd',
  experiment_ids: ['a', 'b'],
  name: 'a vs. b',
  description: null,
  extra: null,
  created_at: '2026-01-01T00:00:00Z',
  modified_at: '2026-01-01T00:00:00Z',
};
const created: ComparativeExperimentCreated = { type: 'ComparativeExperimentCreated', data };

it('is created once', () => {
  given(comparativeExperimentModel).when(createComparison('c', data)).then(created);
});

it('is deleted once, and leaves others alone', () => {
  const deleted = { type: 'ComparativeExperimentDeleted', data: {} } as const;
  given(comparativeExperimentModel, created).when(deleteComparison()).then(deleted);
  given(comparativeExperimentModel, created, deleted).when(deleteComparison()).then();
  given(comparativeExperimentModel).when(deleteComparison()).then();
});

it('does not take an id twice', () => {
  const state = { exists: true, tenant: 't' };
  expect(() => createComparison('c', data)(state)).toThrow(ComparativeExperimentExists);
  expect(() => createComparison('c', data)({ ...state, exists: false })).toThrow('ID c cannot be used again');
});
