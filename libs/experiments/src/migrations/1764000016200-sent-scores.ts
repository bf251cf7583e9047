import type { QueryRunner } from 'typeorm';

/** Scores as they were sent, where the number that is stored for them does not give them back. */
export class SentScores1764000016200 {
  readonly name = 'SentScores1764000016200';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table feedback add column score_sent text');
  }
}
