import type { Pool, PoolClient } from 'pg';
import { exampleId } from '../common/ids';

export interface Filled {
  readonly tenant: string;
  readonly experiment: string;
  readonly dataset: string;
}

/** The version of an example that runs of a row refer to; digests are MD5 (hex). */
export interface FillExample {
  readonly id: string;
  /** Since when it is valid, microseconds since 1970. */
  readonly from: number;
  readonly inputs: string;
  readonly outputs: string | null;
}

export interface FillTarget {
  readonly example: FillExample;
  readonly runs: number;
  readonly failed: readonly { readonly id: string; readonly rowNumber: number }[];
}

interface ExampleRow {
  readonly id: string;
  readonly from: string;
  readonly inputs: string;
  readonly outputs: string | null;
}

interface RunRow extends ExampleRow {
  readonly run: string;
  readonly row_number: number;
  readonly failed: boolean;
}

const AT_ONCE = 5000;
const EXAMPLE = `e.id, (extract(epoch from e.valid_from) * 1000000)::bigint as from,
  replace(e.inputs_md5::text, '-', '') as inputs, replace(e.outputs_md5::text, '-', '') as outputs`;

/**
 * The rows with these ids as they stand, by id; those that neither the experiment nor its dataset has are left out. A row
 * whose id was in use in another dataset is found by the id that its example got.
 */
export async function findFillTargets(
  client: Pool | PoolClient,
  filled: Filled,
  ids: readonly string[],
): Promise<Map<string, FillTarget>> {
  const found = new Map<string, FillTarget>();
  const distinct = [...new Set(ids)];
  for (let at = 0; at < distinct.length; at += AT_ONCE) {
    const some = distinct.slice(at, at + AT_ONCE);
    const renamed = some.map((id) => exampleId(filled.dataset, id));
    const targets = await targetsOf(client, filled, [...some, ...renamed]);
    for (const [place, id] of some.entries()) {
      const target = targets.get(id) ?? targets.get(renamed[place]!);
      if (target) found.set(id, target);
    }
  }
  return found;
}

async function targetsOf(
  client: Pool | PoolClient,
  { tenant, experiment, dataset }: Filled,
  ids: readonly string[],
): Promise<Map<string, FillTarget>> {
  const runs = await client.query<RunRow>(
    `select ${EXAMPLE}, r.id as run, r.row_number, r.status = 'error' as failed
     from runs r join examples e on (e.dataset_id, e.id, e.valid_from) = (r.dataset_id, r.example_id, r.example_from)
       and e.tenant_id = r.tenant_id
     where r.session_id = $1 and r.tenant_id = $2 and r.example_id = any($3::uuid[]) order by r.row_number`,
    [experiment, tenant, ids],
  );
  const targets = new Map<
    string,
    { example: FillExample; runs: number; failed: { id: string; rowNumber: number }[] }
  >();
  for (const row of runs.rows) {
    const target = targets.get(row.id) ?? { example: exampleOf(row), runs: 0, failed: [] };
    target.runs++;
    if (row.failed) target.failed.push({ id: row.run, rowNumber: row.row_number });
    else target.failed = [];
    targets.set(row.id, target);
  }
  const without = ids.filter((id) => !targets.has(id));
  const examples = await client.query<ExampleRow>(
    `select ${EXAMPLE} from examples e
     where e.dataset_id = $1 and e.tenant_id = $2 and e.id = any($3::uuid[]) and e.valid_to is null`,
    [dataset, tenant, without],
  );
  for (const row of examples.rows) targets.set(row.id, { example: exampleOf(row), runs: 0, failed: [] });
  return targets;
}

function exampleOf({ id, from, inputs, outputs }: ExampleRow): FillExample {
  return { id, from: Number(from), inputs, outputs };
}

export async function exampleTexts(
  client: Pool,
  { tenant, dataset }: Filled,
  { id, from }: FillExample,
): Promise<{ readonly inputs: string; readonly outputs: string | null }> {
  const { rows } = await client.query<{ inputs: string; outputs: string | null }>(
    `select inputs, outputs from examples e where e.dataset_id = $1 and e.tenant_id = $2 and e.id = $3
       and (extract(epoch from e.valid_from) * 1000000)::bigint = $4`,
    [dataset, tenant, id, from],
  );
  return rows[0] ?? { inputs: 'null', outputs: null };
}

/** Place of a run that a fill adds: the run that it replaces, if any, and the number that it takes over. */
interface FillPlace {
  readonly example: FillExample;
  readonly replaces: string | undefined;
  readonly rowNumber: number | undefined;
}

/**
 * Where each row of a fill goes, by its place in `results`: rows with the same id replace the last failed runs of their
 * row in their order. Undefined for a row that cannot be filled.
 */
export function placesOf(
  ids: readonly string[],
  targets: ReadonlyMap<string, FillTarget>,
): readonly (FillPlace | undefined)[] {
  const wanted = new Map<string, number>();
  for (const id of ids) wanted.set(id, (wanted.get(id) ?? 0) + 1);
  const taken = new Map<string, number>();
  return ids.map((id) => {
    const target = targets.get(id);
    if (!target) return undefined;
    const { example, runs, failed } = target;
    const nth = taken.get(id) ?? 0;
    taken.set(id, nth + 1);
    if (runs === 0) return nth === 0 ? { example, replaces: undefined, rowNumber: undefined } : undefined;
    const run = failed[Math.max(failed.length - wanted.get(id)!, 0) + nth];
    return run && { example, replaces: run.id, rowNumber: run.rowNumber };
  });
}

/** Where a row of a fill goes. Without an example, that of an upload which was deleted, it gets one of its own. */
export interface NumberedPlace extends Partial<FillPlace> {
  readonly rowNumber: number;
}
