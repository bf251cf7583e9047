import { given } from '@fairlead/eventing/testing';
import {
  type ComparativeExperimentCreated,
  comparativeExperimentAggregate,
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

const { model } = comparativeExperimentAggregate;

it('is created once', () => {
  given(model).when(createComparison('c', data)).then(created);
});

it('does not take an id twice, also after it was deleted', () => {
  given(model, created).when(createComparison('c', data)).throws(ComparativeExperimentExists);
  given(model, created, ...deleteComparison())
    .when(createComparison('c', data))
    .throws(ComparativeExperimentExists, 'ID c cannot be used again');
});
