import type { QueryRunner } from 'typeorm';

/** Runs name the members that were sent and are not stored. */
export class LeftOutMembers1764900052000 {
  readonly name = 'LeftOutMembers1764900052000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table runs add column left_out text[]');
  }
}
