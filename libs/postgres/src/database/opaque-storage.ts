import type { QueryRunner } from 'typeorm';

/**
 * Sets how large opaque text columns are stored: compressed with lz4 where the server was built with it, else
 * uncompressed, because the default compression makes bulk loading two to three times slower.
 */
export async function opaqueStorage(
  queryRunner: QueryRunner,
  table: string,
  columns: readonly string[],
): Promise<void> {
  const [row] = (await queryRunner.query(
    `select 'lz4' = any(enumvals) as lz4 from pg_settings where name = 'default_toast_compression'`,
  )) as { lz4: boolean }[];
  const storage = row?.lz4 ? 'set compression lz4' : 'set storage external';
  const changes = columns.map((column) => `alter column ${column} ${storage}`).join(', ');
  await queryRunner.query(`alter table ${table} ${changes}`);
}
