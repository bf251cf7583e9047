import { Migration, WorkspaceColumns } from '@fairlead/postgres';

/** Deployments that may have something to do, and the logs of builds and deployments. */
export class RolloutTables1763600004000 extends Migration {
  readonly statements = [
    `create table rollout_duties (
        deployment_id uuid primary key,
        noted bigint not null,
        due_at timestamptz not null default now(),
        failures int not null default 0,
        holder uuid,
        leased_until timestamptz
      ) with (fillfactor = 70)`,
    `create table rollout_logs (
        id bigint generated always as identity primary key,
        deployment_id uuid not null,
        revision_id uuid,
        phase text not null,
        level text not null,
        logged_at timestamptz not null,
        message text not null
      )`,
    'create index rollout_logs_page on rollout_logs (deployment_id, phase, id)',
    'create index rollout_logs_revision on rollout_logs (revision_id, phase, id)',
  ];
}

/** Notes whose deployment a duty is, so that workspaces share the places for rollouts; unknown for earlier duties. */
export class DutyTenants1764200002000 extends Migration {
  readonly statements = ['alter table rollout_duties add column tenant_id text'];
}

/** Notes which rollouts only wait: they take none of the places of their workspace. */
export class WaitingRollouts1764700000310 extends Migration {
  readonly statements = ['alter table rollout_duties add column waits boolean not null default false'];
}

/** Has every deployment looked at that was rolled out before: what runs is watched from now on. */
export class WatchedDeployments1764700000320 extends Migration {
  readonly statements = [
    `insert into rollout_duties (deployment_id, noted)
      select distinct deployment_id, 1 from rollout_logs on conflict do nothing`,
  ];
}

/** Lines of logs name the workspace of their deployment. */
export class WorkspacesOfLogs1764900062400 extends WorkspaceColumns {
  readonly owners = { rollout_logs: ['deployment_id', 'deployments'] } as const;
}

/** Measurements of deployments, by minute for a day and by hour for a month. */
export class DeploymentMetrics1764900071000 extends Migration {
  readonly statements = [
    `create table deployment_metrics (
        tenant_id uuid not null,
        deployment_id uuid not null,
        period text not null,
        at timestamptz not null,
        requests int,
        errors int,
        latency int[],
        memory_bytes bigint,
        restarts int,
        primary key (tenant_id, deployment_id, period, at)
      )`,
    'create index deployment_metrics_age on deployment_metrics (period, at)',
  ];
}

/** Deployments with gates, as a queue of looks. */
export class GatedDeployments1764900101000 extends Migration {
  readonly statements = [
    `create table gated_deployments (
        deployment_id uuid primary key,
        tenant_id uuid not null,
        noted bigint not null default 1,
        due_at timestamptz not null default now(),
        failures int not null default 0,
        holder uuid,
        leased_until timestamptz
      ) with (fillfactor = 70)`,
  ];
}
