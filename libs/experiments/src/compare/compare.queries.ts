import type { Pool } from 'pg';
import { IdTable } from '../storage/id-table';
import { containing, storable } from '../sql';
import type { ScoreTable } from './compare-scores.queries';

/**
 * By row of the table, 1 for each whose example or one of whose runs holds a text: in its inputs, expected outputs, outputs
 * or error, in upper or lower case.
 */
export async function rowsWith(pool: Pool, datasetId: string, table: ScoreTable, text: string): Promise<Uint8Array> {
  const patterns = spellings(text).map((one) => containing(storable(one)));
  const { rows } = await pool.query<{ ids: Buffer | null }>(
    `select string_agg(uuid_send(id), ''::bytea) as ids from (
       select example_id as id from runs
       where session_id = any($1::uuid[]) and parent_run_id is null and example_id is not null
         and (outputs ilike any($2::text[]) or inputs ilike any($2::text[]) or error ilike any($2::text[]))
       union
       select id from examples
       where dataset_id = $3 and valid_to is null and (inputs ilike any($2::text[]) or outputs ilike any($2::text[]))
       union
       -- The row of an example that was deleted shows the inputs of the version that was run.
       select e.id from runs r
         join examples e on e.dataset_id = r.dataset_id and e.id = r.example_id and e.valid_from = r.example_from
       where r.session_id = any($1::uuid[]) and r.parent_run_id is null and r.inputs is null
         and e.valid_to is not null and e.inputs ilike any($2::text[])
         and not exists (
           select from examples n where n.dataset_id = e.dataset_id and n.id = e.id and n.valid_to is null)
     ) as found`,
    [table.experiments.map(({ id }) => id), patterns, datasetId],
  );
  const ids = rows[0]?.ids ?? Buffer.alloc(0);
  const found = new IdTable();
  for (let offset = 0; offset < ids.length; offset += 16) found.add(ids, offset);
  return Uint8Array.from({ length: table.rows }, (_, row) => Number(found.find(table.ids, row * 16) >= 0));
}

/**
 * By row of the table, the place of its example among those that were run: as they were made, those of one request in the
 * order of the request.
 */
export async function placesOfRows(pool: Pool, datasetId: string, table: ScoreTable): Promise<Uint32Array> {
  const { rows } = await pool.query<{ ids: Buffer | null }>(
    `select string_agg(uuid_send(id), ''::bytea order by created, sequence, id) as ids from (
       select id, min(created_at) as created, min(sequence) as sequence from examples
       where dataset_id = $2 and id in (
         select example_id from runs where session_id = any($1::uuid[]) and example_id is not null)
       group by id
     ) as made`,
    [table.experiments.map(({ id }) => id), datasetId],
  );
  const ids = rows[0]?.ids ?? Buffer.alloc(0);
  const ordered = new IdTable();
  for (let offset = 0; offset < ids.length; offset += 16) ordered.add(ids, offset);
  return Uint32Array.from({ length: table.rows }, (_, row) => {
    const place = ordered.find(table.ids, row * 16);
    // Last are rows whose example is not there: they stay as they are in the table.
    return place < 0 ? ordered.size + row : place;
  });
}

/**
 * Spellings of a text in JSON, which is stored as it was sent: a quotation mark behind a backslash, and other
 * characters than ASCII as `\u00e9` too, where the database does not know upper and lower case.
 */
function spellings(text: string): string[] {
  const escaped = [text, text.toLowerCase(), text.toUpperCase()].map((one) =>
    JSON.stringify(one)
      .slice(1, -1)
      .replaceAll(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
  // Letters of ASCII are the same in upper and lower case.
  const ascii = /^[\x20-\x7e]*$/.test(text) ? escaped.slice(0, 1) : escaped;
  return [...new Set([text, JSON.stringify(text).slice(1, -1), ...ascii])];
}

/** Text that changes whenever an example of a dataset does. */
export async function datasetStamp(pool: Pool, datasetId: string): Promise<string> {
  const { rows } = await pool.query<{ stamp: string }>('select xmin::text as stamp from datasets where id = $1', [
    datasetId,
  ]);
  return rows[0]?.stamp ?? '';
}
