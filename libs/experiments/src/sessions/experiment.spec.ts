import { given } from '@fairlead/eventing/testing';
import {
  createSession,
  deleteSession,
  type ExperimentEvent,
  experimentModel,
  persist,
  type RunStatistics,
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
