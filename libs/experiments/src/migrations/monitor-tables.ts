import { Migration } from '@fairlead/postgres';

/** Monitors as a read model, and a queue of looks, each with what the last one found, that is not one. */
export class Monitors1764900090000 extends Migration {
  readonly statements = [
    `create table monitors (
        tenant_id uuid not null,
        id uuid not null,
        version int not null,
        project_id uuid not null,
        state text not null,
        primary key (tenant_id, id)
      )`,
    'create index monitors_by_project on monitors (tenant_id, project_id)',
    `create table monitor_looks (
        monitor_id uuid primary key,
        tenant_id uuid not null,
        edition int,
        streaks text,
        last text,
        noted bigint not null default 1,
        due_at timestamptz default now(),
        failures int not null default 0,
        holder uuid,
        leased_until timestamptz
      ) with (fillfactor = 70)`,
    'create index monitor_looks_due on monitor_looks (due_at)',
  ];
}
