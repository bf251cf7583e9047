import type { QueryRunner } from 'typeorm';

/** The experiment that the others on a dataset are compared with, null where none was chosen. */
export class DatasetBaselines1764600020000 {
  readonly name = 'DatasetBaselines1764600020000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table datasets add column baseline_experiment_id uuid');
  }
}
