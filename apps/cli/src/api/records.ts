/** This file declares the members of the API's answers that the command line reads. */

export interface Page<T> {
  readonly resources: readonly T[];
  readonly offset: number;
}

export interface Deployment {
  readonly id: string;
  readonly name: string;
  readonly source: string;
  readonly status: string;
  readonly status_reason?: string;
  readonly crash_looping?: true;
  readonly created_at: string;
  readonly updated_at: string;
  readonly latest_revision_id: string | null;
  readonly active_revision_id: string | null;
  readonly executor?: string;
  readonly stopped?: true;
  readonly tracing_project?: string;
  readonly source_config: Readonly<Record<string, unknown>>;
  readonly source_revision_config: Readonly<Record<string, unknown>>;
  readonly secrets: readonly { readonly name: string }[];
  /** With `include=standing`. */
  readonly standing?: Standing;
}

/** State of a deployment in one sentence for people. */
export interface Standing {
  readonly text: string;
  readonly tone: 'ok' | 'busy' | 'bad' | 'idle';
}

export interface Revision {
  readonly id: string;
  readonly status: string;
  readonly source: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly source_revision_config: Readonly<Record<string, unknown>>;
  /** With `include=cause`. */
  readonly number?: number;
  readonly actor?: string | null;
  readonly actor_name?: string | null;
  readonly reason?: string | null;
}

/** Health of a deployment's program. */
export interface Health {
  readonly state: string;
  readonly detail: string;
  readonly standing: Standing;
  readonly executor: string | null;
  readonly active_revision_id: string | null;
  readonly latest_revision: {
    readonly id: string;
    readonly status: string;
    readonly reason: string | null;
    /** Absent in answers of earlier versions. */
    readonly preview?: string | null;
  } | null;
  readonly processes: readonly {
    readonly name: string;
    readonly state: string;
    readonly reason: string | null;
    readonly restarts: number;
    readonly started_at: string | null;
    readonly memory_bytes: number | null;
    readonly cpu_cores: number | null;
    readonly last_error: string | null;
  }[];
}

export interface Change {
  readonly member: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface HistoryEntry {
  readonly version: number;
  readonly type: string;
  readonly time: string;
  readonly actor: string | null;
  readonly actor_name?: string | null;
  readonly reason: string | null;
  readonly changes: readonly Change[];
  readonly secrets_read?: readonly string[];
  readonly command?: {
    readonly words?: readonly string[];
    readonly exit_code?: number | null;
    readonly reason?: string | null;
  };
}

export interface Dataset {
  readonly id: string;
  readonly name: string;
  readonly example_count: number | null;
  readonly session_count: number | null;
  readonly last_session_start_time: string | null;
}

/** An experiment; its statistics are null until its runs are stored. */
export interface Session {
  readonly id: string;
  readonly name: string;
  readonly reference_dataset_id: string | null;
  readonly start_time: string;
  readonly run_count: number | null;
  readonly error_rate: number | null;
  readonly latency_p50: number | null;
  readonly latency_p99: number | null;
  /** Tokens and cost of all runs; null where none says them. */
  readonly total_tokens?: number | null;
  readonly total_cost?: string | null;
  readonly feedback_stats: Readonly<Record<string, Statistics>> | null;
  /** Statistics of feedback on the experiment as a whole. */
  readonly session_feedback_stats?: Readonly<Record<string, Statistics>> | null;
}

/** Statistics of the scores of one key; `values` counts those that are text. */
export interface Statistics {
  readonly n: number;
  readonly avg: number | null;
  /** Number of scores; absent when it is `n`. */
  readonly scores?: number;
  /** Number of runs with a score; absent when each score is on a run of its own. */
  readonly scored?: number;
  readonly values?: Readonly<Record<string, number>> | null;
}

export interface ApiKey {
  readonly id: string;
  readonly short_key: string;
  readonly description: string;
  readonly scopes: readonly string[];
  readonly organization: boolean;
  readonly tenant_id: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
}

/** An entry of the audit log; `code` is null for what was done. */
export interface Activity {
  readonly time: number;
  readonly count: number;
  readonly api: { readonly operation: string };
  readonly http_request: { readonly http_method: string; readonly url: { readonly path: string } };
  readonly http_response: { readonly code: number | null };
  readonly actor: { readonly user: { readonly name: string | null; readonly credential_uid: string | null } };
  readonly src_endpoint: { readonly ip: string | null };
  readonly resources: readonly { readonly uid: string }[];
  readonly unmapped: { readonly original_audit_log: { readonly enrichments: { readonly reason: string | null } } };
}
