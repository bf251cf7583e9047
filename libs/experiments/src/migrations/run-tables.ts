import { Migration, opaque } from '@fairlead/postgres';

/** Feedback that waits for its run, and what runs say of how they were made. */
export class KeptParts1764000000200 extends Migration {
  readonly statements = [
    `create table awaited_feedback (
        tenant_id uuid not null,
        run_id uuid not null,
        id uuid not null,
        data text not null,
        primary key (tenant_id, run_id, id)
      )`,
    'alter table runs add column serialized text',
    opaque('runs', ['serialized']),
  ];
}

const USAGE = ['prompt_tokens', 'completion_tokens', 'total_tokens', 'prompt_cost', 'completion_cost', 'total_cost'];

/** Tokens and costs that runs say they used, and their sums for sessions. */
export class RunUsage1764000000300 extends Migration {
  readonly statements = [
    ...['runs', 'sessions'].map((table) => {
      const added = USAGE.map((column) => `add column ${column} numeric`);
      return `alter table ${table} ${added.join(', ')}`;
    }),
    ...['session_id', 'trace_id'].map(
      (column) => `create index runs_with_usage_by_${column} on runs (${column})
         where total_tokens is not null or total_cost is not null`,
    ),
  ];
}

/** Attachments of runs, and which sessions need a payload: the second is no read model, so that a replay keeps it. */
export class RunAttachments1764000000400 extends Migration {
  readonly statements = [
    `create table run_attachments (
        tenant_id uuid not null,
        run_id uuid not null,
        name text not null,
        session_id uuid not null,
        type text not null,
        sha256 text not null,
        bytes bigint not null,
        primary key (tenant_id, run_id, name)
      )`,
    'create index run_attachments_by_session on run_attachments (session_id)',
    `create table payload_sessions (
        tenant_id uuid not null,
        sha256 text not null,
        session_id uuid not null,
        primary key (tenant_id, sha256, session_id)
      )`,
  ];
}

/** Scores as they were sent, where the number that is stored for them does not give them back. */
export class SentScores1764000016200 extends Migration {
  readonly statements = ['alter table feedback add column score_sent text'];
}

/** Feedback that waits for its run until others can be told of it; of what was sent before, nobody is told. */
export class UntoldFeedback1764000020000 extends Migration {
  readonly statements = [
    `create table untold_feedback (
        tenant_id uuid not null,
        run_id uuid not null,
        id uuid not null,
        data text not null,
        primary key (run_id, tenant_id, id)
      )`,
    `insert into checkpoints (name, "position")
      select 'awaited-feedback', "position" from checkpoints where name = 'experiments-view'
      on conflict do nothing`,
  ];
}

/**
 * Adds the changes and deletions of feedback after it was given: rows of uploads can be made again from their bodies,
 * which do not know of them. Configurations of feedback keys get the members that clients set beside them.
 */
export class ChangedFeedback1764000030000 extends Migration {
  readonly statements = [
    `create table feedback_changes (
        tenant_id uuid not null,
        id uuid not null,
        session_id uuid not null,
        change text not null,
        deleted boolean not null,
        primary key (tenant_id, id)
      )`,
    'create index feedback_changes_by_session on feedback_changes (session_id)',
    `alter table feedback_configs add column is_lower_score_better boolean,
        add column modified_at timestamptz not null default now()`,
  ];
}

/** Runs, feedback and attachments that were refused while others of their request were stored, summed by reason. */
export class RefusedItems1764700040000 extends Migration {
  readonly statements = [
    `create table refused_items (
        tenant_id uuid not null,
        id uuid not null,
        session_id uuid,
        session_name text,
        kind text not null,
        place text not null,
        reason text not null,
        count bigint not null,
        item_ids text[] not null,
        first_at timestamptz not null,
        last_at timestamptz not null,
        primary key (tenant_id, id)
      )`,
    'create index refused_items_by_time on refused_items (tenant_id, last_at)',
  ];
}

/** Runs of uploaded experiments that a further upload replaced, and the feedback on them. */
export class ReplacedRuns1764900050000 extends Migration {
  readonly statements = [
    `create table replaced_runs (
        tenant_id uuid not null,
        id uuid not null,
        session_id uuid not null,
        dataset_id uuid,
        example_id uuid,
        example_from timestamptz,
        name text not null,
        run_type text not null,
        start_time timestamptz not null,
        end_time timestamptz,
        status text not null,
        error text,
        inputs text,
        outputs text,
        extra text,
        row_number integer not null,
        replaced_by uuid not null,
        replaced_at timestamptz not null,
        primary key (tenant_id, id)
      )`,
    'create index replaced_runs_by_session on replaced_runs (session_id, replaced_at, id)',
    `create table replaced_feedback (
        tenant_id uuid not null,
        id uuid not null,
        session_id uuid not null,
        run_id uuid not null,
        key text not null,
        score double precision,
        score_sent text,
        value text,
        comment text,
        correction text,
        source_type text not null,
        source_metadata text,
        extra text,
        created_at timestamptz not null,
        modified_at timestamptz not null,
        comparative_experiment_id uuid,
        primary key (tenant_id, id)
      )`,
    'create index replaced_feedback_by_session on replaced_feedback (session_id)',
    'create index replaced_feedback_by_run on replaced_feedback (run_id)',
    'alter table persisted_experiments add column fills integer not null default 0',
  ];
}

/** Runs name the members that were sent and are not stored. */
export class LeftOutMembers1764900052000 extends Migration {
  readonly statements = ['alter table runs add column left_out text[]'];
}

/**
 * Tells the planner that a session and a dataset belong to one workspace: statements name the workspace beside them, and
 * without this it would expect as many times fewer rows as there are workspaces.
 */
export class WorkspaceStatistics1764900059000 extends Migration {
  readonly statements = [
    'create statistics runs_tenant_id_session_id_stat (dependencies) on tenant_id, session_id from runs',
    'create statistics feedback_tenant_id_session_id_stat (dependencies) on tenant_id, session_id from feedback',
    'create statistics examples_tenant_id_dataset_id_stat (dependencies) on tenant_id, dataset_id from examples',
    'analyze runs (tenant_id, session_id), feedback (tenant_id, session_id), examples (tenant_id, dataset_id)',
  ];
}

/**
 * Runs that are sent while they happen, beside the log, and those of them whose runs are in the tables. Their follower
 * begins where the view of experiments is: earlier events have their runs in themselves.
 */
export class RunBatches1764900061000 extends Migration {
  readonly statements = [
    `create table run_batches (
        tenant_id uuid not null,
        session_id uuid not null,
        sha256 text not null,
        bytes integer not null,
        kept_at timestamptz not null default now(),
        data bytea not null,
        primary key (tenant_id, session_id, sha256)
      )`,
    // It is compressed already.
    'alter table run_batches alter column data set storage external',
    'create index run_batches_by_time on run_batches (kept_at)',
    `create table stored_run_batches (
        tenant_id uuid not null,
        session_id uuid not null,
        sha256 text not null,
        primary key (tenant_id, session_id, sha256)
      )`,
    `insert into checkpoints (name, "position") select 'live-runs', "position" from checkpoints
      where name = 'experiments-view' on conflict do nothing`,
  ];
}

/** Counts of the runs of live sessions by hour and latency; those of a session are made with its next runs, or by a replay. */
export class TraceCounts1764900063000 extends Migration {
  readonly statements = [
    `create table trace_counts (
        tenant_id uuid not null,
        session_id uuid not null,
        unit text not null,
        "time" timestamptz not null,
        bucket smallint not null,
        runs bigint not null,
        errors bigint not null,
        ${USAGE.map((column) => `${column} numeric not null, ${column}_known bigint not null`).join(', ')},
        primary key (tenant_id, session_id, unit, "time", bucket)
      )`,
    'alter table sessions add column counted_as text',
  ];
}
