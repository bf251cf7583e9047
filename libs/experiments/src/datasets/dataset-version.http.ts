import { check, datetime, NotFound, Problems } from '@fairlead/schema';
import type { Pool } from 'pg';
import { versionTime } from '../reading.http';
import { taggedVersion } from './dataset-versions.queries';

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
  const named = of.dataset !== undefined || of.example !== undefined;
  if (!named || asOf === 'latest' || check(datetime(), asOf, [], new Problems()) !== undefined)
    return versionTime(asOf);
  const time = asOf.includes('\0') ? undefined : await taggedVersion(pool, tenantId, asOf, of);
  if (time === undefined) throw new NotFound(`Dataset version '${asOf.slice(0, 100)}' not found.`);
  return time;
}
