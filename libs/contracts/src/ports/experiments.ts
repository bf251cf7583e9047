/** Messages of experiments. Their streams are `dataset-<id>` and, for sessions of every kind, `experiment-<id>`. */

/** Newest events of a session among which its deletion is looked for: runs and feedback that were under way follow it. */
const LATEST_EVENTS = 20;

/** An event store, as far as it is asked here. */
interface Log {
  latest(stream: string, count: number): Promise<readonly { readonly type: string }[]>;
}

/** Returns whether a session, which exists or existed, was deleted. The log says so, since tables may be behind. */
export async function isSessionDeleted(log: Log, id: string): Promise<boolean> {
  const latest = await log.latest(`experiment-${id}`, LATEST_EVENTS);
  return latest.some(({ type }) => type === 'SessionDeleted');
}

export interface DatasetCreatedMessage {
  readonly name: string;
  readonly description: string | null;
  readonly data_type: string;
}

/** `ExperimentUploaded`: times are ISO 8601 in UTC. */
export interface ExperimentUploadedMessage {
  readonly name: string;
  readonly start_time: string;
  readonly end_time: string;
  readonly row_count: number;
  readonly dataset: { readonly id: string; readonly name: string };
  /** Place of the experiment within its dataset, from 1. */
  readonly test_run_number: number;
}

/** `RunsPersisted`: the runs of an upload can be read. Latencies in seconds. */
export interface RunsPersistedMessage {
  readonly run_count: number;
  readonly latency_p50: number | null;
  readonly latency_p99: number | null;
  readonly error_rate: number | null;
  readonly example_count: number;
}

/** `SessionCreated`: from now on there is a session, no upload, that runs can be sent to; `RunsReceived` says that some were. */
export interface SessionCreatedMessage {
  readonly name: string;
  readonly reference_dataset_id: string | null;
  /** The deployment whose tracing project this is. */
  readonly deployment_id?: string;
}

/**
 * `FeedbackAdded`, and in a stream `uploadedFeedback-<session id>` `FeedbackUploaded` for what came within an upload: on a
 * run or, without one, on the session.
 */
export interface FeedbackAddedMessage {
  readonly id: string;
  readonly run_id: string | null;
  readonly key: string;
  readonly score: number | null;
  readonly created_at: string;
}
