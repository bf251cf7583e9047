import { Migration, WorkspaceColumns } from '@fairlead/postgres';

/** Webhooks, what is to be sent to whom and when, and the log of attempts. */
export class WebhookTables1763600011000 extends Migration {
  readonly statements = [
    // The read model: states, which hold no secret that is not sealed. `since`: position at which it was added.
    `
      create table webhooks (
        id uuid primary key,
        tenant_id uuid not null,
        version int not null,
        since bigint not null,
        created_at timestamptz not null,
        enabled boolean not null,
        event_types text[] not null,
        state text not null
      )`,
    'create index webhooks_page on webhooks (tenant_id, created_at desc, id)',
    // Who sends to a webhook's target, and when there is something to send again.
    `
      create table webhook_targets (
        webhook_id uuid primary key,
        noted bigint not null default 1,
        due_at timestamptz,
        holder uuid,
        leased_until timestamptz,
        failing_since timestamptz,
        removed boolean not null default false
      ) with (fillfactor = 70)`,
    'create index webhook_targets_due on webhook_targets (due_at)',
    `create table webhook_deliveries (
        id uuid primary key,
        webhook_id uuid not null,
        message_id uuid not null,
        event_type text not null,
        body text not null,
        created_at timestamptz not null,
        status text not null default 'pending',
        due_at timestamptz not null,
        tries int not null default 0,
        started_at timestamptz,
        attempts int not null default 0,
        last_status int,
        finished_at timestamptz,
        unique (webhook_id, message_id)
      )`,
    `create index webhook_deliveries_due on webhook_deliveries (webhook_id, due_at) where status = 'pending'`,
    'create index webhook_deliveries_page on webhook_deliveries (webhook_id, id)',
    'create index webhook_deliveries_old on webhook_deliveries (finished_at)',
    `create table webhook_attempts (
        delivery_id uuid not null references webhook_deliveries on delete cascade,
        number int not null,
        at timestamptz not null,
        latency_ms int not null,
        status int,
        response text,
        error text,
        primary key (delivery_id, number)
      )`,
  ];
}

/** Targets rest after failures, and are taken in turn by workspace. */
export class WebhookTargetRests1764200000900 extends Migration {
  readonly statements = [
    `alter table webhook_targets
        add column tenant_id uuid,
        add column failures int not null default 0,
        add column rests_until timestamptz`,
    'update webhook_targets set tenant_id = webhooks.tenant_id from webhooks where id = webhook_id',
    `create index webhook_targets_held on webhook_targets (tenant_id) where leased_until is not null`,
  ];
}

/** Deliveries name the workspace of their webhook. */
export class WorkspacesOfDeliveries1764900062300 extends WorkspaceColumns {
  readonly owners = { webhook_deliveries: ['webhook_id', 'webhooks'] } as const;
}
