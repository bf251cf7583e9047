import { type Aggregate, changedMembers, type DomainEvent, type Model, streamName } from '@fairlead/eventing';
import type { UsageTexts } from '../common/run-usage';
import type { RunChange } from '../run/run-change';
import { SessionNotFound } from './session.errors';

export interface DatasetFacts {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly data_type: string;
  readonly created_at: string;
  readonly modified_at: string;
  /** Content of the dataset just before. Absent for a new dataset, and in events of earlier versions. */
  readonly held?: DatasetHoldings;
}

export interface DatasetHoldings {
  readonly example_count: number;
  readonly session_count: number;
  readonly last_session_start_time: string | null;
}

/** An experiment that was run elsewhere has been taken in. Times are ISO 8601 in UTC, up to microseconds. */
export type ExperimentUploaded = DomainEvent<
  'ExperimentUploaded',
  {
    readonly name: string;
    readonly description: string | null;
    readonly start_time: string;
    readonly end_time: string;
    /** `experiment_metadata` as the JSON text that was sent. */
    readonly metadata: string | null;
    readonly payload: { readonly sha256: string; readonly bytes: number };
    readonly row_count: number;
    readonly summary_score_count: number;
    readonly dataset: DatasetFacts;
    readonly test_run_number: number;
    /**
     * Random: the ids of runs and feedback are derived from it, so that nobody can use one of them first. Absent in
     * events of earlier versions, which derived them from the id of the experiment.
     */
    readonly id_seed?: string;
  }
>;

/**
 * A further upload has been taken in that fills rows of an uploaded experiment: each replaces the last run of its row,
 * which failed, or is the first run of its row.
 */
export type ExperimentFilled = DomainEvent<
  'ExperimentFilled',
  {
    readonly number: number;
    readonly payload: { readonly sha256: string; readonly bytes: number };
    readonly row_count: number;
    readonly start_time: string;
    readonly end_time: string;
    /** Random: the ids of its runs and feedback are derived from it. */
    readonly id_seed: string;
    readonly dataset: DatasetFacts;
  }
>;

/** A session that is not an upload: a tracing project, or an experiment that is sent run by run. */
export type SessionCreated = DomainEvent<
  'SessionCreated',
  {
    readonly name: string;
    readonly description: string | null;
    readonly start_time: string;
    readonly end_time: string | null;
    readonly extra: string | null;
    readonly reference_dataset_id: string | null;
    readonly default_dataset_id: string | null;
    readonly trace_tier: string;
    /** Which experiment on its dataset it is; absent without a dataset, and in logs of earlier versions. */
    readonly test_run_number?: number;
    readonly deployment_id?: string;
  }
>;

type SessionPatched = DomainEvent<
  'SessionPatched',
  {
    readonly name?: string;
    readonly description?: string | null;
    readonly end_time?: string | null;
    readonly default_dataset_id?: string | null;
    readonly extra?: string | null;
    readonly trace_tier?: string;
  }
>;

/**
 * Statistics that are computed once when the runs of an upload have been stored. Latencies in seconds. Usage is absent in
 * events of earlier versions.
 */
export interface RunStatistics extends Partial<UsageTexts> {
  readonly run_count: number;
  readonly latency_p50: number | null;
  readonly latency_p99: number | null;
  readonly error_rate: number | null;
  readonly last_run_start_time: string | null;
  /**
   * JSON text of `{key: {n, avg, stdev, min, max, values}}`, over the runs and about the whole session. Absent when they
   * are too large for an event: then they are computed from the rows.
   */
  readonly feedback_stats?: string;
  readonly session_feedback_stats?: string;
  readonly example_count: number;
}

export type RunsPersisted = DomainEvent<'RunsPersisted', RunStatistics>;

/** Feedback on a run or, without one, on the session. Opaque members are JSON text. */
export type FeedbackAdded = DomainEvent<
  'FeedbackAdded',
  {
    readonly id: string;
    readonly run_id: string | null;
    readonly key: string;
    readonly score: number | null;
    /** JSON text of a score that the number does not give back: true, false, or an integer beyond 2^53. */
    readonly score_sent?: string;
    readonly value: string | null;
    readonly comment: string | null;
    readonly correction: string | null;
    readonly source_type: string;
    readonly source_metadata: string | null;
    readonly extra: string | null;
    readonly config: string | null;
    readonly created_at: string;
    readonly modified_at: string;
    readonly comparative_experiment_id?: string | null;
  }
>;

/** Feedback was changed: members that are absent have stayed. Opaque members are JSON text. */
export type FeedbackChanged = DomainEvent<
  'FeedbackChanged',
  {
    readonly id: string;
    readonly score?: number | null;
    /** As in {@link FeedbackAdded}; null when the number of a new score gives it back. */
    readonly score_sent?: string | null;
    readonly value?: string;
    readonly comment?: string;
    readonly correction?: string;
    readonly modified_at: string;
  }
>;

export type FeedbackDeleted = DomainEvent<'FeedbackDeleted', { readonly id: string }>;

/** Feedback on a run that is not known yet, and that names no session: it waits in a stream of its run's id. */
export type FeedbackAwaited = DomainEvent<'FeedbackAwaited', FeedbackAdded['data']>;

/** The runs of one session in a request, as the event of the session names them. */
export interface RunBatch {
  /** SHA-256 of the content, hex. */
  readonly sha256: string;
  /** Number of runs and changes of runs. */
  readonly count: number;
  /** Bytes of the content before it is compressed. */
  readonly bytes: number;
}

/**
 * Runs, and changes of runs, were sent while they happened. They are in a batch beside the log; in events of earlier
 * versions, and of those alone, they are in the event itself.
 */
export type RunsReceived = DomainEvent<
  'RunsReceived',
  { readonly runs: readonly RunChange[]; readonly batch?: RunBatch }
>;

export type SessionDeleted = DomainEvent<'SessionDeleted', Record<string, never>>;

export type ExperimentEvent =
  | ExperimentUploaded
  | ExperimentFilled
  | SessionCreated
  | SessionPatched
  | RunsPersisted
  | RunsReceived
  | FeedbackAdded
  | FeedbackChanged
  | FeedbackDeleted
  | SessionDeleted;

export interface Session {
  readonly tenant_id: string;
  readonly removed: boolean;
  readonly name: string;
  /** The upload's SHA-256 and time, when it was one. */
  readonly upload?: { readonly sha256: string; readonly time: string; readonly dataset: string };
  readonly fills?: readonly { readonly sha256: string; readonly time: string }[];
  /** False while runs of the upload, or of the last fill, are still to be stored. */
  readonly persisted: boolean;
}

type SessionState = Session | null;

export const experimentModel: Model<SessionState, ExperimentEvent> = {
  initial: null,
  evolve(state, event) {
    const tenant_id = event.metadata.tenant ?? '';
    switch (event.type) {
      case 'ExperimentUploaded': {
        const { name, payload, dataset } = event.data;
        const upload = { sha256: payload.sha256, time: event.time, dataset: dataset.id };
        return { tenant_id, removed: false, name, upload, persisted: false };
      }
      case 'SessionCreated':
        return { tenant_id, removed: false, name: event.data.name, persisted: true };
      case 'ExperimentFilled': {
        const filled = { sha256: event.data.payload.sha256, time: event.time };
        return state && { ...state, fills: [...(state.fills ?? []), filled], persisted: false };
      }
      case 'SessionPatched':
        return state && { ...state, name: event.data.name ?? state.name };
      case 'RunsPersisted':
        return state && { ...state, persisted: true };
      case 'SessionDeleted':
        return state && { ...state, removed: true };
      case 'FeedbackAdded':
      case 'FeedbackChanged':
      case 'FeedbackDeleted':
      case 'RunsReceived':
        return state;
    }
  },
};

export const sessionAggregate: Aggregate<Session, ExperimentEvent> = {
  category: 'experiment',
  model: experimentModel,
  notFound: (id) => new SessionNotFound(id),
  withoutEditions: true,
};

export function sessionStream(id: string): string {
  return streamName(sessionAggregate.category, id);
}

/** Takes an upload in. The same upload again changes nothing. */
export function upload(data: ExperimentUploaded['data']): (state: SessionState) => ExperimentUploaded[] {
  return (state) => (state ? [] : [{ type: 'ExperimentUploaded', data }]);
}

/** Fills rows of an experiment, as its next fill. @throws `behind` when its runs are not those that were looked at */
export function fill(data: ExperimentFilled['data'], behind: () => Error): (state: Session) => ExperimentFilled[] {
  return ({ persisted, fills = [] }) => {
    if (!persisted || fills.length !== data.number - 1) throw behind();
    return [{ type: 'ExperimentFilled', data }];
  };
}

/**
 * Records that the runs of an upload (`number` 0), or of a fill, can be read, once, and not for a session that is gone.
 */
export function persist(data: RunStatistics, number = 0): (state: SessionState) => RunsPersisted[] {
  return (state) => (state && isPending(state, number) ? [{ type: 'RunsPersisted', data }] : []);
}

export function isPending({ removed, persisted, fills = [] }: Session, number: number): boolean {
  return !removed && !persisted && fills.length === number;
}

/** Returns the members of a tracing project of which only the name is known. */
export function newProject(name: string, start_time: string): SessionCreated['data'] {
  return {
    name,
    description: null,
    start_time,
    end_time: null,
    extra: null,
    reference_dataset_id: null,
    default_dataset_id: null,
    trace_tier: 'longlived',
  };
}

export function createSession(data: SessionCreated['data']): (state: SessionState) => SessionCreated[] {
  return (state) => (state ? [] : [{ type: 'SessionCreated', data }]);
}

export function deleteSession(): SessionDeleted[] {
  return [{ type: 'SessionDeleted', data: {} }];
}

export type SessionChanges = SessionPatched['data'];

/** Changes a session; a name that it has already changes nothing. */
export function patchSession(changes: SessionChanges): (state: Session) => SessionPatched[] {
  return ({ name }) => {
    const data = changedMembers<SessionChanges>({ name }, changes);
    return data ? [{ type: 'SessionPatched', data }] : [];
  };
}
