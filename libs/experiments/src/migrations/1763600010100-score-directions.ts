import type { QueryRunner } from 'typeorm';

/** What counts as better for the scores of a dataset: JSON text, null where nothing was said. */
export class ScoreDirections1763600010100 {
  readonly name = 'ScoreDirections1763600010100';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table datasets add column score_directions text');
  }
}
