import type { Pool } from 'pg';
import { IdTable } from '../storage/id-table';
import { containing, storable } from '../sql';
import type { ScoreTable } from './compare.scores';

/**
 * By row of the table, 1 for each whose example or one of whose runs holds a text: in its inputs, expected outputs, outputs
 * or error, in upper or lower case.
 */
export async function rowsWith(pool: Pool, datasetId: string, table: ScoreTable, text: string): Promise<Uint8Array> {
  // The texts are JSON, where a quotation mark stands behind a backslash.
  const patterns = [...new Set([text, JSON.stringify(text).slice(1, -1)])].map((one) => containing(storable(one)));
  const { rows } = await pool.query<{ ids: Buffer | null }>(
    `select string_agg(uuid_send(id), ''::bytea) as ids from (
       select example_id as id from runs
       where session_id = any($1::uuid[]) and parent_run_id is null and example_id is not null
         and (outputs ilike any($2::text[]) or inputs ilike any($2::text[]) or error ilike any($2::text[]))
       union
       select id from examples
       where dataset_id = $3 and valid_to is null and (inputs ilike any($2::text[]) or outputs ilike any($2::text[]))
     ) as found`,
    [table.experiments.map(({ id }) => id), patterns, datasetId],
  );
  const ids = rows[0]?.ids ?? Buffer.alloc(0);
  const found = new IdTable();
  for (let offset = 0; offset < ids.length; offset += 16) found.add(ids, offset);
  return Uint8Array.from({ length: table.rows }, (_, row) => Number(found.find(table.ids, row * 16) >= 0));
}

/** What changes whenever an example of a dataset does. */
export async function datasetStamp(pool: Pool, datasetId: string): Promise<string> {
  const { rows } = await pool.query<{ stamp: string }>('select xmin::text as stamp from datasets where id = $1', [
    datasetId,
  ]);
  return rows[0]?.stamp ?? '';
}
