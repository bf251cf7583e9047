import { createHash } from 'node:crypto';
import { idsIn } from '../compare/compare.queries';
import type { Comparison } from '../compare/comparisons.service';
import { MOST_VALUE, shownMember, storedMember, valuesOfExample } from '../compare/slice';
import { Parameters } from '@fairlead/runs';
import type { Pool } from 'pg';
import { type Group, LEAST_PAIRS } from './slices';

/** Slices of one member, and of all; and values that are read to find them. */
const [MOST_VALUES, MOST_GROUPS, MOST_READ] = [50, 200, 2000];
/** Rows of all slices together. */
const MOST_ROWS = 5_000_000;
/** Inputs that are larger are read only when a member of them is asked for. */
const MOST_INPUTS_BYTES = 4096;

/**
 * Groups of rows of a comparison, by the values of members of their examples, the largest first. `by` undefined stands for
 * every member. Groups with the same rows as an earlier one, with every row or with fewer than 6 are none. `most` bounds
 * their number: `leftOut` is the number of those beyond it.
 */
export async function groupsOf(
  pool: Pool,
  datasetId: string,
  { tenantId, table }: Comparison,
  by: readonly string[] | undefined,
  most: number,
): Promise<{ groups: Group[]; leftOut: number }> {
  const parameters = new Parameters();
  const tenant = parameters.add(tenantId, 'uuid');
  const dataset = parameters.add(datasetId, 'uuid');
  const sessions = parameters.add(
    table.experiments.map(({ id }) => id),
    'uuid[]',
  );
  const members = parameters.add(by?.map(storedMember) ?? null, 'text[]');
  const inputsBytes = parameters.add(by ? null : MOST_INPUTS_BYTES, 'integer');
  const { rows } = await pool.query<{ member: string; value: string; ids: Buffer; found: number }>(
    `select valued.member, valued.value, string_agg(uuid_send(e.id), ''::bytea) as ids,
       count(*) over ()::int as found
     from examples e, ${valuesOfExample(inputsBytes)}
     where e.tenant_id = ${tenant} and e.dataset_id = ${dataset} and e.valid_to is null
       and e.id in (select example_id from runs
         where tenant_id = ${tenant} and session_id = any(${sessions}) and parent_run_id is null and example_id is not null)
       and (${members} is null or valued.member = any(${members}))
       and length(valued.value) between 1 and ${MOST_VALUE}
     group by 1, 2 having count(*) >= ${LEAST_PAIRS}
     order by count(*) desc, valued.member collate "C" desc, valued.value collate "C" limit ${MOST_READ}`,
    parameters.values,
  );
  const rowOf = idsIn(table.ids);
  const groups: Group[] = [];
  const seen = new Set<string>();
  const ofMember = new Map<string, number>();
  let leftOut = (rows[0]?.found ?? 0) - rows.length;
  let taken = 0;
  for (const { member, value, ids } of rows) {
    const found = new Set<number>();
    for (let offset = 0; offset < ids.length; offset += 16) {
      const row = rowOf.find(ids, offset);
      if (row >= 0) found.add(row);
    }
    if (found.size < LEAST_PAIRS || found.size === table.rows) continue;
    const same = Int32Array.from(found).sort();
    const print = fingerprint(same);
    if (seen.has(print)) continue;
    seen.add(print);
    const count = (ofMember.get(member) ?? 0) + 1;
    if (count > MOST_VALUES || groups.length >= Math.min(most, MOST_GROUPS) || taken + same.length > MOST_ROWS) {
      leftOut++;
      continue;
    }
    taken += same.length;
    ofMember.set(member, count);
    groups.push({ by: shownMember(member), value, rows: same });
  }
  return { groups, leftOut };
}

function fingerprint(rows: Int32Array): string {
  return createHash('sha256')
    .update(new Uint8Array(rows.buffer, rows.byteOffset, rows.byteLength))
    .digest('base64');
}
