import { opaqueStorage } from '@fairlead/postgres';
import type { QueryRunner } from 'typeorm';

const STATEMENTS = [
  `create table comparative_experiments (
     id uuid primary key,
     tenant_id uuid not null,
     dataset_id uuid not null,
     name text,
     description text,
     extra text,
     experiment_ids uuid[] not null,
     created_at timestamptz not null,
     modified_at timestamptz not null
   )`,
  'create index comparative_experiments_by_dataset on comparative_experiments (dataset_id, created_at desc, id)',
  'alter table feedback add column comparative_experiment_id uuid',
  `create index feedback_by_comparison on feedback (comparative_experiment_id) where comparative_experiment_id is not null`,
  // Runs that are sent one by one may have parents; null says that a run stands alone.
  `alter table runs add column parent_run_id uuid, add column trace_id uuid, add column dotted_order text,
     add column tags text, add column events text`,
  'create index runs_by_trace on runs (trace_id) where trace_id is not null',
  'create index runs_by_parent on runs (parent_run_id) where parent_run_id is not null',
];

/** Comparative experiments, and what runs have that are sent one by one. */
export class Comparisons1763600003000 {
  readonly name = 'Comparisons1763600003000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await queryRunner.query(statement);
    await opaqueStorage(queryRunner, 'comparative_experiments', ['extra']);
    await opaqueStorage(queryRunner, 'runs', ['tags', 'events']);
  }
}
