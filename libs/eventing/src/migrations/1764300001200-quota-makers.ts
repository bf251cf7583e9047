import type { QueryRunner } from 'typeorm';

/** Whose place ends with whose; keys are counted anew, because those that ended with their maker held their places. */
export class QuotaMakers1764300001200 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table quota_places add column maker text');
    await queryRunner.query('create index quota_places_maker on quota_places (kind, maker) where maker is not null');
    await this.countAnew(queryRunner);
  }

  private async countAnew(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`delete from quota_places where kind = 'api_keys'`);
    await queryRunner.query(`delete from checkpoints where name = 'quota.api_keys'`);
  }
}
