import { given } from '@fairlead/eventing/testing';
import {
  createSession,
  deleteSession,
  type ExperimentEvent,
  experimentModel,
  fill,
  persist,
  type RunStatistics,
  type Session,
  upload,
} from './experiment';

const uploaded = {
  name: 'e',
  description: null,
  start_time: '2026-01-01T00:00:00+00:00',
  end_time: '2026-01-02T00:00:00+00:00',
  metadata: null,
  payload: { sha256: 'aa', bytes: 10 },
  row_count: 1,
  summary_score_count: 0,
  dataset: { id: 'd', name: 'n', description: null, data_type: 'kv', created_at: 't', modified_at: 't' },
  test_run_number: 1,
};
const project = {
  name: 'p',
  description: null,
  start_time: '2026-01-01T00:00:00Z',
  end_time: null,
  extra: null,
  reference_dataset_id: null,
  default_dataset_id: null,
  trace_tier: 'longlived',
};
const statistics: RunStatistics = {
  run_count: 1,
  latency_p50: 1,
  latency_p99: 1,
  error_rate: 0,
  last_run_start_time: null,
  feedback_stats: '{}',
  session_feedback_stats: '{}',
  example_count: 1,
};
const past = {
  uploaded: { type: 'ExperimentUploaded', data: uploaded },
  created: { type: 'SessionCreated', data: project },
  persisted: { type: 'RunsPersisted', data: statistics },
  filled: {
    type: 'ExperimentFilled',
    data: {
      number: 1,
      payload: { sha256: 'bb', bytes: 10 },
      row_count: 1,
      start_time: uploaded.start_time,
      end_time: uploaded.end_time,
      id_seed: 's',
      dataset: uploaded.dataset,
    },
  },
  deleted: { type: 'SessionDeleted', data: {} },
} as const satisfies Record<string, ExperimentEvent>;

describe('an experiment', () => {
  it('is uploaded once', () => {
    given(experimentModel).when(upload(uploaded)).then(past.uploaded);
    given(experimentModel, past.uploaded).when(upload(uploaded)).then();
  });

  it('does not come back under the same id after it was deleted', () => {
    given(experimentModel, past.uploaded, past.deleted).when(upload(uploaded)).then();
    given(experimentModel, past.uploaded, past.deleted).when(createSession(project)).then();
  });

  it('has its runs persisted once, while it is there', () => {
    given(experimentModel, past.uploaded).when(persist(statistics)).then(past.persisted);
    given(experimentModel, past.uploaded, past.persisted).when(persist(statistics)).then();
    given(experimentModel, past.uploaded, past.deleted).when(persist(statistics)).then();
    given(experimentModel, past.created).when(persist(statistics)).then();
  });

  it('is filled when its runs are those that were looked at', () => {
    class Behind extends Error {}
    const decide = (number: number) => (state: Session | null) =>
      fill({ ...past.filled.data, number }, () => new Behind())(state!);
    const there = [past.uploaded, past.persisted] as const;
    given(experimentModel, ...there)
      .when(decide(1))
      .then(past.filled);
    given(experimentModel, past.uploaded).when(decide(1)).throws(Behind);
    given(experimentModel, ...there, past.filled)
      .when(decide(1))
      .throws(Behind);
    given(experimentModel, ...there, past.filled)
      .when(decide(2))
      .throws(Behind);
    given(experimentModel, ...there, past.filled, past.persisted)
      .when(decide(1))
      .throws(Behind);
    const second = { ...past.filled, data: { ...past.filled.data, number: 2 } };
    given(experimentModel, ...there, past.filled, past.persisted)
      .when(decide(2))
      .then(second);
  });

  it('has the runs of each fill persisted once, and not by the upload before', () => {
    const filled = [past.uploaded, past.persisted, past.filled] as const;
    given(experimentModel, ...filled)
      .when(persist(statistics))
      .then();
    given(experimentModel, ...filled)
      .when(persist(statistics, 1))
      .then(past.persisted);
    given(experimentModel, ...filled, past.persisted)
      .when(persist(statistics, 1))
      .then();
    given(experimentModel, ...filled, past.deleted)
      .when(persist(statistics, 1))
      .then();
  });

  it('is not there any more once it was deleted', () => {
    given(experimentModel, past.created)
      .when(deleteSession)
      .thenState((state) => expect(state).toMatchObject({ name: 'p', removed: true }));
  });

  it('knows its newest name', () => {
    given(experimentModel, past.created, { type: 'SessionPatched', data: { name: 'q' } })
      .when(() => [])
      .thenState((state) => expect(state?.name).toBe('q'));
  });
});
