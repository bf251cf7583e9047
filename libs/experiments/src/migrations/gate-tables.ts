import { Migration } from '@fairlead/postgres';

/** Revisions that wait for evidence, as a queue of looks at it. */
export class HeldRevisions1764900080000 extends Migration {
  readonly statements = [
    `create table held_revisions (
        revision_id uuid primary key,
        tenant_id uuid not null,
        deployment_id uuid not null,
        held text not null,
        stamp text not null default '',
        noted bigint not null default 1,
        due_at timestamptz not null default now(),
        failures int not null default 0,
        holder uuid,
        leased_until timestamptz
      ) with (fillfactor = 70)`,
    'create index held_revisions_deployment on held_revisions (tenant_id, deployment_id)',
  ];
}

/** The held revisions as a read model, and a queue of looks that is not one. */
export class HeldRevisionsView1764900082000 extends Migration {
  readonly statements = [
    'drop table held_revisions',
    `create table held_revisions (
        tenant_id uuid not null,
        id uuid not null,
        deployment_id uuid not null,
        held text not null,
        primary key (tenant_id, id)
      )`,
    'create index held_revisions_by_deployment on held_revisions (tenant_id, deployment_id)',
    `create table gate_looks (
        revision_id uuid primary key,
        tenant_id uuid not null,
        stamp text not null default '',
        noted bigint not null default 1,
        due_at timestamptz not null default now(),
        failures int not null default 0,
        holder uuid,
        leased_until timestamptz
      ) with (fillfactor = 70)`,
  ];
}
