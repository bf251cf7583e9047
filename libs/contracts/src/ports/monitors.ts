export const MONITOR_MEASURES = ['score', 'cost', 'error_rate', 'latency_p50', 'latency_p99'] as const;
export const MONITOR_STATES = ['ok', 'alerting', 'not_enough_evidence', 'failing'] as const;

/** `not_enough_evidence` and `failing` say nothing of the value: what alerted before has not recovered. */
export type MonitorState = (typeof MONITOR_STATES)[number];

/** The runs and the measure of a monitor, which never change. */
export interface MonitorSubject {
  readonly project_id: string;
  /** Only runs that name this revision; null: all. */
  readonly revision_id: string | null;
  readonly measure: (typeof MONITOR_MEASURES)[number];
  /** The key of a score; null for every other measure. */
  readonly feedback_key: string | null;
  readonly alerts_when: 'above' | 'below';
}

export interface MonitorLimits {
  readonly window_minutes: number;
  readonly threshold: number;
  /** null: the threshold itself. */
  readonly recovery_threshold: number | null;
  /** Runs without which a look says nothing. */
  readonly min_runs: number;
}

/** `MonitorAlerted`, `MonitorRecovered` and `MonitorStateChanged`: a monitor has another state. */
export interface MonitorTransitionMessage extends MonitorSubject, MonitorLimits {
  readonly name: string;
  readonly state: MonitorState;
  readonly previous_state: MonitorState;
  /** Value and runs of the look that changed the state; null where it found none. */
  readonly value: number | null;
  readonly runs: number | null;
  /** Why looks fail; null in every other state. */
  readonly reason: string | null;
}

/** `MonitorDeleted`: a monitor is gone. */
export interface MonitorDeletedMessage {
  readonly name: string;
  readonly project_id: string;
  readonly reason: 'requested' | 'project deleted';
}
