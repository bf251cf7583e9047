import { idOf, type Recorded } from '@fairlead/eventing';
import {
  type DatasetFacts,
  type DatasetHoldings,
  type ExperimentFilled,
  type ExperimentUploaded,
  number,
  object,
  raw,
  text,
  time,
} from '@fairlead/runs';

const UNKNOWN = {
  run_count: 'null',
  latency_p50: 'null',
  latency_p99: 'null',
  first_token_p50: 'null',
  first_token_p99: 'null',
  total_tokens: 'null',
  prompt_tokens: 'null',
  completion_tokens: 'null',
  total_cost: 'null',
  prompt_cost: 'null',
  completion_cost: 'null',
  last_run_start_time: 'null',
  last_run_start_time_live: 'null',
  feedback_stats: 'null',
  session_feedback_stats: 'null',
  run_facets: 'null',
  error_rate: 'null',
  streaming_rate: 'null',
};

const NOTHING: DatasetHoldings = { example_count: 0, session_count: 0, last_session_start_time: null };

export interface ExperimentFacts {
  readonly name: string;
  readonly description: string | null;
  readonly start_time: string;
  readonly end_time: string;
  readonly extra: string | null;
  readonly test_run_number: number;
}

/** The answer to an upload as JSON text. It depends on the event alone, so it can be given again. */
export function uploadAnswer(event: Recorded<ExperimentUploaded>): string {
  const { data } = event;
  return object({
    dataset: datasetJson(data.dataset, event),
    experiment: experimentJson({ ...data, extra: extraOf(data.metadata) }, data.dataset, event),
  });
}

/** The answer to a fill as JSON text. It depends on the events alone, so it can be given again. */
export function fillAnswer(event: Recorded<ExperimentFilled>, facts: ExperimentFacts): string {
  const { dataset, row_count: rows } = event.data;
  return object({
    dataset: datasetJson(dataset, event),
    experiment: experimentJson(facts, dataset, event),
    filled_rows: number(rows),
  });
}

function datasetJson(dataset: DatasetFacts, { metadata }: Recorded): string {
  const { held = NOTHING } = dataset;
  return object({
    name: text(dataset.name),
    description: text(dataset.description),
    created_at: time(dataset.created_at),
    data_type: text(dataset.data_type),
    inputs_schema_definition: 'null',
    outputs_schema_definition: 'null',
    externally_managed: 'true',
    id: text(dataset.id),
    tenant_id: text(metadata.tenant),
    example_count: number(held.example_count),
    session_count: number(held.session_count),
    modified_at: time(dataset.modified_at),
    last_session_start_time: time(held.last_session_start_time),
  });
}

function experimentJson(facts: ExperimentFacts, dataset: DatasetFacts, { metadata, stream }: Recorded): string {
  return object({
    start_time: time(facts.start_time),
    end_time: time(facts.end_time),
    extra: raw(facts.extra),
    name: text(facts.name),
    description: text(facts.description),
    default_dataset_id: 'null',
    reference_dataset_id: text(dataset.id),
    trace_tier: '"longlived"',
    id: text(idOf(stream)),
    tenant_id: text(metadata.tenant),
    ...UNKNOWN,
    test_run_number: String(facts.test_run_number),
  });
}

export function extraOf(metadata: string | null): string | null {
  return metadata === null ? null : `{"metadata":${metadata}}`;
}
