import type { QueryRunner } from 'typeorm';

/** The chunks of payloads hold compressed blocks from now on; those of earlier ones hold the bytes as they came. */
export class FramedPayloads1764600016100 {
  readonly name = 'FramedPayloads1764600016100';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table payloads add column framed boolean not null default false');
  }
}
