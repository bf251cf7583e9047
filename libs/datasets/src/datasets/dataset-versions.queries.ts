import { check, datetime, NotFound, Problems } from '@fairlead/schema';
import type { Pool } from 'pg';
import { array, isoTime, object, text } from '@fairlead/runs';

interface VersionRow {
  readonly time: string;
  readonly newest: boolean;
  readonly tags: readonly string[] | null;
}

/** SQL about the dataset `$1` of the workspace `$2`. Rows of before have no workspace until they are filled. */
const OWN_VERSIONS = 'dataset_versions where dataset_id = $1 and (tenant_id = $2 or tenant_id is null)';
const OWN_TAGS = 'dataset_tags t where t.dataset_id = $1 and (t.tenant_id = $2 or t.tenant_id is null)';
const TIMES = `(
  with recursive begun(time) as (
    (select valid_from from examples where tenant_id = $2 and dataset_id = $1 order by valid_from desc limit 1)
    union all
    select (
      select e.valid_from from examples e where e.tenant_id = $2 and e.dataset_id = $1 and e.valid_from < b.time
      order by e.valid_from desc limit 1)
    from begun b where b.time is not null)
  select time from begun
  where time is not null and not exists (select from ${OWN_VERSIONS})
  union all select as_of from ${OWN_VERSIONS})`;
const NEWEST = `greatest((select max(valid_from) from examples where tenant_id = $2 and dataset_id = $1),
  (select max(as_of) from ${OWN_VERSIONS}))`;
const COLUMNS = `${isoTime('time')} as time, time = ${NEWEST} as newest,
  (select array_agg(tag order by tag) from ${OWN_TAGS} and t.as_of = time) as tags`;

interface VersionPage {
  readonly example?: string;
  readonly search?: string;
  readonly offset: number;
  readonly limit: number;
}

export async function listVersions(pool: Pool, tenantId: string, id: string, page: VersionPage): Promise<string[]> {
  const ofExample = 'from examples where tenant_id = $2 and dataset_id = $1 and id = $6::uuid';
  const times = page.example
    ? `(select valid_from as time ${ofExample} union select valid_to ${ofExample} and valid_to is not null)`
    : TIMES;
  const { rows } = await pool.query<VersionRow>(
    `select ${COLUMNS} from (
       select time from ${times} as versions
       where $5::text is null or exists (
         select from ${OWN_TAGS} and t.as_of = time and position(lower($5) in lower(t.tag)) > 0)
       order by time desc limit $3 offset $4) as page
     order by page.time desc`,
    [id, tenantId, page.limit, page.offset, page.search ?? null, ...(page.example ? [page.example] : [])],
  );
  return rows.map(versionJson);
}

/** The newest version of the dataset `$1`, or the one that was current at the time `$3`; null when there was none. */
const CURRENT = `(select greatest(
  (select max(valid_from) from examples
   where tenant_id = $2 and dataset_id = $1 and ($3::timestamptz is null or valid_from <= $3)),
  (select max(as_of) from ${OWN_VERSIONS} and ($3::timestamptz is null or as_of <= $3))) as time)`;

/** The version that was current at `asOf`, or the newest; its time is ISO text with microseconds. */
export async function findVersion(
  pool: Pool,
  tenantId: string,
  id: string,
  asOf?: string,
): Promise<VersionRow | undefined> {
  const text = `select ${COLUMNS} from ${CURRENT} as v where time is not null`;
  return (await pool.query<VersionRow>(text, [id, tenantId, asOf ?? null])).rows[0];
}

async function taggedVersion(
  pool: Pool,
  tenantId: string,
  tag: string,
  of: { readonly dataset?: string; readonly example?: string },
): Promise<string | undefined> {
  const { rows } = await pool.query<{ time: string }>(
    `select ${isoTime('t.as_of')} as time from dataset_tags t join datasets d on d.id = t.dataset_id
     where d.tenant_id = $1 and (t.tenant_id = $1 or t.tenant_id is null) and t.tag = $2
       and ($3::uuid is null or d.id = $3::uuid)
       and ($4::uuid is null or exists (
         select from examples e where e.tenant_id = $1 and e.id = $4::uuid and e.dataset_id = d.id))
     limit 1`,
    [tenantId, tag, of.dataset ?? null, of.example ?? null],
  );
  return rows[0]?.time;
}

export async function diffVersions(
  pool: Pool,
  tenantId: string,
  id: string,
  from?: string,
  to?: string,
): Promise<string> {
  const at = (place: number) =>
    `(select id, valid_from from examples where tenant_id = $4 and dataset_id = $1
       and case when $${place}::timestamptz is null then valid_to is null
                else valid_from <= $${place} and (valid_to is null or valid_to > $${place}) end)`;
  const { rows } = await pool.query<{ id: string; kind: 'added' | 'removed' | 'modified' }>(
    `select coalesce(a.id, b.id) as id,
       case when a.id is null then 'added' when b.id is null then 'removed' else 'modified' end as kind
     from ${at(2)} a full join ${at(3)} b on b.id = a.id
     where a.valid_from is distinct from b.valid_from order by 1`,
    [id, from ?? null, to ?? null, tenantId],
  );
  const of = (kind: string) => array(rows.filter((row) => row.kind === kind).map((row) => text(row.id)));
  return object({
    examples_modified: of('modified'),
    examples_added: of('added'),
    examples_removed: of('removed'),
  });
}

export function versionJson({ time, newest, tags }: VersionRow): string {
  const all = [...(newest ? ['latest'] : []), ...(tags ?? [])];
  return object({ tags: all.length > 0 ? JSON.stringify(all) : 'null', as_of: text(time) });
}

/**
 * The time that `as_of` names: a time, a tag of a version, or undefined for `latest`. Where neither a dataset nor an
 * example is named, tags are not known. @throws NotFound for a tag that no version carries
 */
export async function versionAt(
  pool: Pool,
  tenantId: string,
  asOf: string,
  of: { readonly dataset?: string; readonly example?: string },
): Promise<string | undefined> {
  if (asOf === 'latest') return undefined;
  const named = of.dataset !== undefined || of.example !== undefined;
  const given = check(datetime(), asOf, [], new Problems())?.iso;
  const time = given ?? (named && !asOf.includes('\0') ? await taggedVersion(pool, tenantId, asOf, of) : undefined);
  if (time === undefined) throw new NotFound(`Dataset version '${asOf.slice(0, 100)}' not found.`);
  return time;
}
