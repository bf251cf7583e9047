import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The chunks of payloads hold compressed blocks from now on; those of earlier ones hold the bytes as they came. */
export class FramedPayloads1764600016100 implements MigrationInterface {
  readonly name = 'FramedPayloads1764600016100';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table payloads add column framed boolean not null default false');
  }

  /** Compressed bodies could not be read without the column. */
  async down(queryRunner: QueryRunner): Promise<void> {
    const [framed] = (await queryRunner.query('select 1 from payloads where framed limit 1')) as unknown[];
    if (framed) throw new Error('There are compressed bodies, which an earlier version cannot read.');
    await queryRunner.query('alter table payloads drop column framed');
  }
}
