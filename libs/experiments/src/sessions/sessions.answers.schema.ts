import { shape } from '@fairlead/api';
import { uploadedDatasetMembers } from '../datasets/datasets.answers.schema';
import { feedbackStatistics } from '../feedback/feedback.answers.schema';

const { free, integer, noted, nothing, nullable, number, object, oneOf, text, time, uuid } = shape;

const plainMembers = {
  start_time: time,
  end_time: nullable(time),
  extra: noted(nullable(free), '`experiment_metadata` of an upload is its member `metadata`.'),
  name: text,
  description: nullable(text),
  default_dataset_id: nullable(uuid),
  reference_dataset_id: nullable(uuid),
  trace_tier: oneOf('longlived', 'shortlived'),
  id: uuid,
  tenant_id: uuid,
  last_run_start_time_live: nullable(time),
};

export const plainSession = object('SessionWithoutStatistics', plainMembers);

const later = (what: typeof number) => noted(nullable(what), 'Null until the runs are stored.');
export const session = object('Session', {
  ...plainMembers,
  run_count: later(integer),
  latency_p50: noted(nullable(number), 'In seconds.'),
  latency_p99: noted(nullable(number), 'In seconds.'),
  first_token_p50: nothing,
  first_token_p99: nothing,
  total_tokens: noted(nullable(integer), 'Null until a run says it.'),
  prompt_tokens: noted(nullable(integer), 'Null until a run says it.'),
  completion_tokens: noted(nullable(integer), 'Null until a run says it.'),
  total_cost: noted(nullable(text), 'A decimal; null until a run says it.'),
  prompt_cost: noted(nullable(text), 'A decimal; null until a run says it.'),
  completion_cost: noted(nullable(text), 'A decimal; null until a run says it.'),
  last_run_start_time: later(time),
  feedback_stats: later(feedbackStatistics),
  session_feedback_stats: noted(nullable(feedbackStatistics), 'Of feedback on the whole experiment.'),
  run_facets: nothing,
  error_rate: later(number),
  streaming_rate: nothing,
  test_run_number: noted(nullable(integer), 'Which experiment on its dataset it is.'),
});

export const uploaded = object('UploadedExperiment', {
  dataset: object('UploadedDataset', uploadedDatasetMembers),
  experiment: session,
});
