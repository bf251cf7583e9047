import { opaqueStorage } from '@fairlead/postgres';
import type { QueryRunner } from 'typeorm';

/** Feedback that waits for its run, and what runs say of how they were made. */
export class KeptParts1764000000200 {
  readonly name = 'KeptParts1764000000200';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table awaited_feedback (
        tenant_id uuid not null,
        run_id uuid not null,
        id uuid not null,
        data text not null,
        primary key (tenant_id, run_id, id)
      )`);
    await queryRunner.query('alter table runs add column serialized text');
    await opaqueStorage(queryRunner, 'runs', ['serialized']);
  }
}
