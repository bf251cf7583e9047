import type { QueryRunner } from 'typeorm';

/** The tree over the events since the newest seal; null until the first seal after an upgrade. */
export class SealTrees1764500001000 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table log_hashes
        add column tree_from bigint,
        add column tree_peaks text[]`);
  }
}
