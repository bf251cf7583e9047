import type {
  DatasetCreatedMessage,
  ExperimentUploadedMessage,
  FeedbackAddedMessage,
  RunsPersistedMessage,
  SessionCreatedMessage,
} from '../ports/experiments';
import type { GateJudgedMessage } from '../ports/gates';
import { COUNT, ID, idOrNull, members, NUMBER_OR_NULL, TEXT, TIME } from './payload';
import type { Row } from './row';

const SECONDS_OR_NULL = { ...NUMBER_OR_NULL, description: 'Seconds.' };

const FEEDBACK = members({
  feedback_id: ID,
  session_id: ID,
  run_id: idOrNull(),
  key: TEXT,
  score: NUMBER_OR_NULL,
  created_at: TIME,
});

export const experimentEvents = {
  DatasetCreated: {
    schema: 1,
    operation: 'create_dataset',
    topic: 'experiments.v1',
    webhook: 'dataset.created',
    title: 'A dataset has been created.',
    facts: ({ name, description, data_type }: DatasetCreatedMessage, dataset_id) => ({
      dataset_id,
      name,
      description,
      data_type,
    }),
    payload: members({
      dataset_id: ID,
      name: TEXT,
      description: { type: ['string', 'null'] },
      data_type: { enum: ['kv', 'llm', 'chat'] },
    }),
  },
  DatasetDeleted: {
    schema: 1,
    operation: 'delete_dataset',
    topic: 'experiments.v1',
    webhook: 'dataset.deleted',
    title: 'A dataset and its experiments have been deleted.',
    facts: (_: unknown, dataset_id) => ({ dataset_id }),
    payload: members({ dataset_id: ID }),
  },
  ExperimentUploaded: {
    schema: 1,
    operation: 'create_experiment_via_upload',
    topic: 'experiments.v1',
    webhook: 'experiment.uploaded',
    title: 'An experiment has been accepted; its runs can be read once RunsPersisted says so.',
    facts: ({ dataset, ...message }: ExperimentUploadedMessage, session_id) => {
      const { name, start_time, end_time, row_count, test_run_number } = message;
      const { id: dataset_id, name: dataset_name } = dataset;
      return { session_id, name, dataset_id, dataset_name, test_run_number, row_count, start_time, end_time };
    },
    payload: members({
      session_id: ID,
      dataset_id: ID,
      dataset_name: TEXT,
      name: TEXT,
      test_run_number: { type: 'integer', minimum: 1, description: 'Place within the dataset.' },
      row_count: COUNT,
      start_time: TIME,
      end_time: TIME,
    }),
  },
  RunsPersisted: {
    schema: 1,
    operation: 'update_tracer_session',
    topic: 'experiments.v1',
    webhook: 'experiment.runs_persisted',
    title: 'The runs of an uploaded experiment can be read.',
    facts: (message: RunsPersistedMessage, session_id) => {
      const { run_count, error_rate, latency_p50, latency_p99, example_count } = message;
      return { session_id, run_count, error_rate, latency_p50, latency_p99, example_count };
    },
    payload: members({
      session_id: ID,
      run_count: COUNT,
      error_rate: NUMBER_OR_NULL,
      latency_p50: SECONDS_OR_NULL,
      latency_p99: SECONDS_OR_NULL,
      example_count: COUNT,
    }),
  },
  SessionCreated: {
    schema: 1,
    operation: 'create_session',
    topic: 'experiments.v1',
    webhook: 'session.created',
    title: 'A session that is not an upload has been created: a tracing project, or a live experiment.',
    facts: ({ name, reference_dataset_id, deployment_id }: SessionCreatedMessage, session_id) => ({
      session_id,
      name,
      reference_dataset_id,
      deployment_id: deployment_id ?? null,
    }),
    payload: members({
      session_id: ID,
      name: TEXT,
      reference_dataset_id: idOrNull(),
      deployment_id: idOrNull('The deployment whose tracing project it is.'),
    }),
  },
  SessionDeleted: {
    schema: 1,
    operation: 'delete_tracer_session',
    topic: 'experiments.v1',
    webhook: 'session.deleted',
    title: 'A session has been deleted, uploaded experiments included.',
    facts: (_: unknown, session_id) => ({ session_id }),
    payload: members({ session_id: ID }),
  },
  FeedbackAdded: {
    schema: 1,
    operation: 'create_feedback',
    topic: 'experiments.v1',
    webhook: 'feedback.added',
    title: 'Feedback has been given on a run or, without one, on a session.',
    facts: feedbackFacts,
    payload: FEEDBACK,
  },
  FeedbackUploaded: {
    schema: 1,
    operation: 'create_feedback',
    topic: 'experiments.v1',
    webhook: 'feedback.added',
    title: 'Feedback that came within an upload, when that has at most 1,000, can be read.',
    facts: feedbackFacts,
    payload: FEEDBACK,
  },
  RunsReceived: {
    schema: 1,
    operation: 'create_runs',
    topic: 'internal.v1',
    facts: (_: unknown, session_id) => ({ session_id }),
  },
  ExperimentFilled: { schema: 1, operation: 'fill_experiment_via_upload' },
  SessionPatched: { schema: 1, operation: 'update_tracer_session' },
  DatasetChanged: { schema: 1, operation: 'update_dataset' },
  DatasetTagged: { schema: 1, operation: 'update_dataset_version' },
  ExamplesAdded: { schema: 1, operation: 'create_examples' },
  ExamplesChanged: { schema: 1, operation: 'update_examples' },
  ExamplesDeleted: { schema: 1, operation: 'delete_examples' },
  SplitsChanged: { schema: 1, operation: 'update_dataset_splits' },
  ExperimentAdded: { schema: 1, operation: 'create_experiment' },
  ScoreDirectionsChanged: { schema: 1, operation: 'update_score_directions' },
  DatasetBaselineChanged: { schema: 1, operation: 'update_dataset_baseline' },
  ComparativeExperimentCreated: { schema: 1, operation: 'create_comparative_experiment' },
  ComparativeExperimentDeleted: { schema: 1, operation: 'delete_comparative_experiment' },
  FeedbackChanged: { schema: 1, operation: 'update_feedback' },
  FeedbackDeleted: { schema: 1, operation: 'delete_feedback' },
  FeedbackAwaited: { schema: 1, operation: 'create_feedback' },
  RunShared: { schema: 1, operation: 'share_run' },
  RunUnshared: { schema: 1, operation: 'unshare_run' },
  DatasetShared: { schema: 1, operation: 'share_dataset' },
  DatasetUnshared: { schema: 1, operation: 'unshare_dataset' },
  ShareLinkCreated: { schema: 1, operation: 'create_share_link' },
  ShareLinkDeleted: { schema: 1, operation: 'delete_share_link' },
  FeedbackConfigChanged: { schema: 1, operation: 'update_feedback_config' },
  FeedbackConfigDeleted: { schema: 1, operation: 'delete_feedback_config' },
  GateJudged: {
    schema: 1,
    operation: 'judge_revision',
    topic: 'internal.v1',
    facts: ({ deployment_id, revision_id, look, outcome, reasons }: GateJudgedMessage) => ({
      deployment_id,
      revision_id,
      look,
      outcome,
      reasons,
    }),
  },
} as const satisfies Readonly<Record<string, Row>>;

function feedbackFacts({ id: feedback_id, run_id, key, score, created_at }: FeedbackAddedMessage, session_id: string) {
  return { feedback_id, session_id, run_id, key, score, created_at };
}
