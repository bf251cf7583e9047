import type { QueryRunner } from 'typeorm';

/**
 * Examples keep the order of the request that made them. Those of earlier uploads get it from their runs; those that were
 * added one by one have it after the tables have been made again from the log.
 */
export class ExampleOrder1764800000000 {
  readonly name = 'ExampleOrder1764800000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table examples add column sequence integer not null default 0');
    await queryRunner.query('drop index examples_by_time');
    await queryRunner.query(`
      update examples e set sequence = made.place
      from (
        select r.dataset_id, r.example_id, r.example_from, min(r.row_number) as place
        from runs r join sessions s on s.id = r.session_id and s.payload_sha256 is not null
        group by r.dataset_id, r.example_id, r.example_from
      ) made
      where (e.dataset_id, e.id, e.created_at) = (made.dataset_id, made.example_id, made.example_from) and made.place > 0`);
    await queryRunner.query('create index examples_by_time on examples (dataset_id, valid_from desc, sequence)');
  }
}
