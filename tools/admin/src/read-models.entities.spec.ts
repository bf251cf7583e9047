import { accessEntities, accessMigrations } from '@fairlead/access';
import { auditEntities, auditMigrations } from '@fairlead/audit';
import { authProvidersEntities, authProvidersMigrations } from '@fairlead/auth-providers';
import { deploymentsEntities, deploymentsMigrations } from '@fairlead/deployments';
import { eventingMigrations } from '@fairlead/eventing';
import { evaluationEntities } from '@fairlead/evaluation';
import { experimentsMigrations } from '@fairlead/experiments';
import { httpMigrations } from '@fairlead/edge';
import { integrationsEntities, integrationsMigrations } from '@fairlead/integrations';
import { type TestDatabase, testDatabase } from '@fairlead/postgres/testing';
import { rolloutsMigrations } from '@fairlead/rollouts';
import { webhooksEntities, webhooksMigrations } from '@fairlead/webhooks';
import type { Installation } from './installation';
import { readModels } from './read-models';

/** Tables that are not made from the log: the log itself, work that is under way, stored bodies, what followers note. */
const NO_READ_MODELS = [
  ...['events', 'checkpoints', 'inbox', 'data_keys', 'log_hashes', 'log_move', 'parked_subjects', 'migrations'],
  ...['quota_places', 'stored_bytes', 'stored_run_bytes', 'stopped_workspaces', 'workspace_removals'],
  ...['idempotency_keys', 'identity_keys', 'refused_items', 'refused_requests'],
  ...['oauth_authorizations', 'oauth_refreshes', 'push_branches'],
  ...['integration_deliveries', 'integration_pushes', 'integration_repositories'],
  ...['verdict_comments', 'verdict_reports', 'verdict_turns'],
  ...['webhook_targets', 'webhook_deliveries', 'webhook_attempts', 'rollout_duties', 'rollout_logs'],
  'deployment_metrics',
  ...['source_archives', 'source_archive_chunks', 'tracing_projects', 'payloads', 'payload_chunks', 'payload_drafts'],
  ...['payload_sessions', 'payload_datasets', 'persisted_experiments', 'session_run_bytes', 'untold_feedback'],
  ...['run_batches', 'stored_run_batches', 'trace_recounts', 'gate_looks', 'monitor_looks', 'gated_deployments'],
];

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase(
    [
      ...[...eventingMigrations, ...httpMigrations, ...accessMigrations, ...auditMigrations, ...webhooksMigrations],
      ...[...authProvidersMigrations, ...deploymentsMigrations, ...experimentsMigrations, ...integrationsMigrations],
      ...rolloutsMigrations,
    ],
    [
      ...[...accessEntities, ...auditEntities, ...authProvidersEntities, ...deploymentsEntities],
      ...[...evaluationEntities, ...integrationsEntities, ...webhooksEntities],
    ],
  );
  // TypeORM keeps the expressions of generated columns in a table of its own: here it gets those of the database.
  await database.pool.query(`
    create table typeorm_metadata as
    select 'GENERATED_COLUMN' as type, table_catalog as database, table_schema as schema, table_name as "table",
      column_name as name, generation_expression as value
    from information_schema.columns where is_generated = 'ALWAYS' and table_schema = 'public'`);
});
afterAll(() => database.drop());

const described = () => database.db.entityMetadatas.map(({ tableName }) => tableName);

/** Statements that TypeORM would run to make the tables as the entities describe them. */
async function differences(): Promise<string[]> {
  const { upQueries } = await database.db.driver.createSchemaBuilder().log();
  return upQueries.map(({ query }) => query);
}

it('finds no difference between the entities and the migrated database', async () => {
  expect(await differences()).toEqual([]);
});

it.each([
  ['alter table tenants add column more text', 'alter table tenants drop column more'],
  ['alter table runs alter column tags set not null', 'alter table runs alter column tags drop not null'],
  [
    'alter table datasets alter column data_type drop default',
    `alter table datasets alter column data_type set default 'kv'`,
  ],
  ['drop index feedback_by_run', 'create index feedback_by_run on feedback (run_id)'],
])('would find one after: %s', async (change, undo) => {
  await database.pool.query(change);
  try {
    expect(await differences()).not.toEqual([]);
  } finally {
    await database.pool.query(undo);
  }
  expect(await differences()).toEqual([]);
});

it('has an entity for every table of a read model, and every other table is no read model', async () => {
  const tables = readModels({} as Installation).flatMap(({ tables }) => tables);
  expect(described().sort()).toEqual([...tables].sort());
  const { rows } = await database.pool.query<{ tablename: string }>(
    `select tablename from pg_tables where schemaname = 'public' and tablename <> 'typeorm_metadata'`,
  );
  expect(rows.map(({ tablename }) => tablename).sort()).toEqual([...tables, ...NO_READ_MODELS].sort());
});
