import type { Gate, GateSlice } from '@fairlead/contracts';
import { Parameters, storable } from '@fairlead/runs';
import type { Pool } from 'pg';
import { idsIn } from '../compare/compare.queries';
import type { ScoreTable } from '../compare/score-table';
import { MOST_VALUE, storedMember, valuesOfExample } from '../compare/slice';
import type { SliceRows } from './gate-verdict';

/** Values of one member. */
const MOST_VALUES = 50;

interface Found {
  readonly slices: readonly SliceRows[];
  /** Sentences about members whose values make no slices. */
  readonly unread: string[];
}

/**
 * The rows of a table in each slice that a gate names, by the examples as they are now. A value of which no row was run is
 * there without rows.
 */
export async function slicesOf(pool: Pool, tenantId: string, gate: Gate, table: ScoreTable): Promise<Found> {
  const slices: SliceRows[] = [];
  const unread: string[] = [];
  const rowOf = idsIn(table.ids);
  for (const slice of gate.slices ?? []) {
    const found = await valuesOf(pool, tenantId, gate.dataset_id, slice);
    if (found.length > MOST_VALUES) unread.push(`${slice.by} has more than ${MOST_VALUES} values.`);
    else if (found.some(({ value }) => value.length > MOST_VALUE)) {
      unread.push(`${slice.by} has values of more than ${MOST_VALUE} characters.`);
    } else {
      for (const { value, ids } of found) {
        if (slices.some((one) => one.by === slice.by && one.value === value)) continue;
        slices.push({ by: slice.by, value, rows: rowsOf(ids, rowOf) });
      }
    }
  }
  return { slices, unread };
}

async function valuesOf(pool: Pool, tenantId: string, datasetId: string, { by, value }: GateSlice) {
  const parameters = new Parameters();
  const wanted = value === undefined ? 'true' : `valued.value = ${parameters.add(storable(value), 'text')}`;
  const { rows } = await pool.query<{ value: string; ids: Buffer }>(
    `select left(valued.value, ${MOST_VALUE + 1}) as value, string_agg(distinct uuid_send(e.id), ''::bytea) as ids
     from examples e, ${valuesOfExample('null::integer')}
     where e.tenant_id = ${parameters.add(tenantId, 'uuid')} and e.dataset_id = ${parameters.add(datasetId, 'uuid')}
       and e.valid_to is null and valued.member = ${parameters.add(storable(storedMember(by)), 'text')}
       and valued.value <> '' and ${wanted}
     group by 1 order by 1 limit ${MOST_VALUES + 1}`,
    parameters.values,
  );
  return rows;
}

function rowsOf(ids: Buffer, rowOf: ReturnType<typeof idsIn>): Int32Array {
  const rows: number[] = [];
  for (let offset = 0; offset < ids.length; offset += 16) {
    const row = rowOf.find(ids, offset);
    if (row >= 0) rows.push(row);
  }
  return Int32Array.from(rows).sort();
}
