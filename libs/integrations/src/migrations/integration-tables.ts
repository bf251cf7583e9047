import { Migration } from '@fairlead/postgres';

/** The read model of integrations: their states, which hold no secret that is not sealed. */
export class IntegrationTables1763600009000 extends Migration {
  readonly statements = [
    `create table integrations (
        id uuid primary key,
        tenant_id uuid not null,
        version int not null,
        created_at timestamptz not null,
        state text not null
      )`,
    'create index integrations_page on integrations (tenant_id, created_at desc, id)',
  ];
}

/** Tables for deliveries of code hosts with their outcomes, branches to ask about, and ids of repositories. */
export class Deliveries1764500000200 extends Migration {
  readonly statements = [
    // One row for each delivery; `key` is what its repetitions share.
    `
      create table integration_deliveries (
        tenant_id uuid not null,
        integration_id uuid not null,
        id uuid not null,
        key text not null,
        host_id text,
        event text,
        received_at timestamptz not null,
        last_received_at timestamptz not null,
        times int not null default 1,
        status text not null,
        reason text,
        bytes int not null,
        primary key (tenant_id, id),
        unique (tenant_id, integration_id, key)
      )`,
    'create index integration_deliveries_page on integration_deliveries (tenant_id, integration_id, id)',
    'create index integration_deliveries_old on integration_deliveries (received_at)',
    // The branches and tags of a delivery. `branch_id` is the item of the queue that works on it.
    `
      create table integration_pushes (
        tenant_id uuid not null,
        integration_id uuid not null,
        delivery_id uuid not null,
        number int not null,
        branch_id uuid not null,
        push text not null,
        status text not null,
        reason text,
        head text,
        attempts int not null default 0,
        waits_since timestamptz,
        next_attempt_at timestamptz,
        deployments text not null default '[]',
        primary key (tenant_id, delivery_id, number),
        foreign key (tenant_id, delivery_id) references integration_deliveries (tenant_id, id) on delete cascade
      )`,
    `create index integration_pushes_waiting on integration_pushes (tenant_id, branch_id) where status = 'waiting'`,
    // Branches whose head is to be asked for. A queue: it is looked at over all workspaces.
    `
      create table push_branches (
        id uuid primary key,
        tenant_id uuid not null,
        integration_id uuid not null,
        noted bigint not null default 1,
        due_at timestamptz,
        failures int not null default 0,
        holder uuid,
        leased_until timestamptz
      ) with (fillfactor = 70)`,
    'create index push_branches_due on push_branches (due_at)',
    // The host's own ids of repositories, by their addresses in deployments.
    `
      create table integration_repositories (
        tenant_id uuid not null,
        integration_id uuid not null,
        repository text not null,
        host_id text not null,
        primary key (tenant_id, integration_id, repository)
      )`,
    `create index integration_repositories_id on integration_repositories (tenant_id, integration_id, host_id)`,
  ];
}

/** Tables for the verdicts of gates that code hosts are told, the deployments to look at, and comments on pull requests. */
export class VerdictReports1764900083000 extends Migration {
  readonly statements = [
    // One row for each revision with gates; it stays when its repository is to be told. `version` grows with its events.
    `
      create table verdict_reports (
        tenant_id uuid not null,
        revision_id uuid not null,
        deployment_id uuid not null,
        integration_id uuid,
        version bigint not null default 1,
        status text not null default 'waiting',
        reason text,
        attempts int not null default 0,
        noted_at timestamptz not null default now(),
        waits_since timestamptz not null default now(),
        next_attempt_at timestamptz,
        sent_at timestamptz,
        name text,
        repository text,
        commit text,
        standing text,
        told text,
        pulls int[] not null default '{}',
        section text,
        primary key (tenant_id, revision_id)
      )`,
    'create index verdict_reports_page on verdict_reports (tenant_id, integration_id, revision_id)',
    `create index verdict_reports_waiting on verdict_reports (tenant_id, deployment_id) where status = 'waiting'`,
    'create index verdict_reports_old on verdict_reports (noted_at)',
    // Deployments of which something is to be told. A queue: it is looked at over all workspaces.
    `
      create table verdict_turns (
        deployment_id uuid primary key,
        tenant_id uuid not null,
        noted bigint not null default 1,
        due_at timestamptz default now(),
        failures int not null default 0,
        holder uuid,
        leased_until timestamptz
      ) with (fillfactor = 70)`,
    'create index verdict_turns_due on verdict_turns (due_at)',
    // The comment on a pull request. `posting`: attempts to post it whose outcome is not known.
    `
      create table verdict_comments (
        tenant_id uuid not null,
        integration_id uuid not null,
        repository text not null,
        pull int not null,
        marker uuid not null,
        comment_id text,
        body_hash text,
        posting int not null default 0,
        holder uuid,
        held_until timestamptz,
        updated_at timestamptz not null default now(),
        primary key (tenant_id, integration_id, repository, pull)
      )`,
    'create index verdict_comments_old on verdict_comments (updated_at)',
  ];
}
