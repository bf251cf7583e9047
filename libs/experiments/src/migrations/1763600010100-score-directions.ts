import type { QueryRunner } from 'typeorm';

/** Adds the directions of a dataset's scores: JSON text, null where none were set. */
export class ScoreDirections1763600010100 {
  readonly name = 'ScoreDirections1763600010100';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table datasets add column score_directions text');
  }
}
